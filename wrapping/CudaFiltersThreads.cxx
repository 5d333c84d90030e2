// SPDX-License-Identifier: Apache-2.0
// Lets other Python threads run while filters work. ITK's generated wrapping keeps the interpreter's lock in every
// method, so that what runs Python in a pipeline has it, as itk.PyImageFilter needs. The filters give it up for their
// own work alone.
#include <Python.h>

#include "itkCudaDetailWorkScope.h"

// All versions of Python have it, but it is not in the limited interface.
extern "C" __attribute__((weak)) int
PyGILState_Check();

namespace
{
/** A thread that Python does not know has no lock, and neither has one that gave it up before. */
void *
GiveUpLock()
{
  if (!PyGILState_Check || !PyGILState_GetThisThreadState() || PyGILState_Check() == 0)
  {
    return nullptr;
  }
  PyThreadState * const state = PyEval_SaveThread();
  if (PyGILState_Check() == 0)
  {
    return state;
  }
  // In a process that has had a second interpreter, Python says so of every thread. Then nothing tells who has the
  // lock.
  PyEval_RestoreThread(state);
  return nullptr;
}

void
TakeLock(void * state)
{
  PyEval_RestoreThread(static_cast<PyThreadState *>(state));
}

[[maybe_unused]] const bool areHooksSet = [] {
  itk::CudaDetail::CudaSetWorkHooks({ GiveUpLock, TakeLock });
  return true;
}();
} // namespace
