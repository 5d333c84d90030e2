// SPDX-License-Identifier: Apache-2.0
// Releases the interpreter's lock while filters work, so that other Python threads can run. ITK's generated wrapping
// keeps the lock in every method, because Python code in a pipeline, such as itk.PyImageFilter, needs it. Therefore the
// filters release it only for their own work.
#include <Python.h>

#include "itkCudaDetailWorkScope.h"

// All versions of Python have this function, but it is not part of the limited API.
extern "C" __attribute__((weak)) int
PyGILState_Check();

namespace
{
/** Releases the lock and returns the thread state, or returns nullptr if the thread does not hold the lock: Python does
 * not know the thread, or it has released the lock already. */
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
  // In a process that has had a second interpreter, PyGILState_Check() returns 1 for every thread, so that it is
  // unknown whether this thread held the lock. Undo the release.
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
