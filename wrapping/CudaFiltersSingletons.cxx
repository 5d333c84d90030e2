// SPDX-License-Identifier: Apache-2.0
// Lets the library share ITK's global objects with the package itk: the clock of modified times, the settings of
// threads, the list of factories, and others. ITK finds them by the index of singletons, and then keeps pointers to
// them. If _core runs first, the library makes objects of its own. When the wrapped classes are imported, its pointers
// are set to the shared objects. The pointers are private, so that this file is compiled without access control.
#include "core/Interpreter.h"

#include "CudaFiltersSingletons.h"
#include "itkDataObject.h"
#include "itkMultiThreaderBase.h"
#include "itkObjectFactoryBase.h"
#include "itkOutputWindow.h"
#include "itkPyITKCommonCAPI.h"
#include "itkSingleton.h"
#include "itkThreadPool.h"
#include "itkTimeStamp.h"

#include <mutex>

namespace
{
// ITK deletes its own index at the end of the process, and the objects by the library's pointers to them, which may be
// those of the package itk by then. This index takes its place and is never deleted. It is set before all other
// initialisers of the library, one of which may register the factory (src/factory/Override.cxx).
struct OwnIndex
{
  OwnIndex() { itk::SingletonIndex::SetInstance(m_Index); }

  itk::SingletonIndex * const m_Index = new itk::SingletonIndex;
};

[[gnu::init_priority(101)]] OwnIndex ownIndex;

/** Sets a pointer of the library to the shared object of this name, or shares the library's object if there is none
 * yet.
 */
template <typename T>
void
Share(itk::SingletonIndex & index, const char * name, T *& pointer)
{
  if (!pointer)
  {
    return; // it is looked up when it is first used
  }
  if (auto * const shared = index.GetGlobalInstance<T>(name))
  {
    pointer = shared;
  }
  else
  {
    index.SetGlobalInstance<T>(name, pointer, [] {});
  }
}
} // namespace

namespace cudafilters
{
bool
ShareSingletons()
{
  if (import__ITKCommonPython() < 0)
  {
    return false;
  }
  // Wait for the runs of other threads without the interpreter's lock, which their progress functions may need.
  PyThreadState * const               state = PyEval_SaveThread();
  const std::lock_guard<LibraryMutex> alone(libraryMutex);
  PyEval_RestoreThread(state);

  itk::SingletonIndex & index = *_ITKCommonPython_GetGlobalSingletonIndex();
  itk::SingletonIndex::SetInstance(&index);
  Share(index, "GlobalTimeStamp", itk::TimeStamp::m_GlobalTimeStamp);
  Share(index, "GlobalWarningDisplay", itk::Object::m_GlobalWarningDisplay);
  Share(index, "GlobalReleaseDataFlag", itk::DataObject::m_GlobalReleaseDataFlag);
  Share(index, "OutputWindow", itk::OutputWindow::m_PimplGlobals);
  Share(index, "MultiThreaderBase", itk::MultiThreaderBase::m_PimplGlobals);
  Share(index, "ThreadPool", itk::ThreadPool::m_PimplGlobals);
  if (auto * const factories = ownIndex.m_Index->GetGlobalInstance<itk::LightObject>("ObjectFactoryBase"))
  {
    // The factories move to the shared list. Keep the library's list, because the end of a list removes its factories
    // from the list in use.
    factories->Register();
    itk::ObjectFactoryBase::SynchronizeObjectFactoryBase(index.GetGlobalInstance<void>("ObjectFactoryBase"));
  }
  return true;
}
} // namespace cudafilters
