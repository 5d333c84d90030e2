// SPDX-License-Identifier: Apache-2.0
// Lets the library share ITK's global objects with the package itk, which are the clock of modified times, the settings
// of threads, and the list of factories. They are found by the index of singletons. If _core runs first, the library
// makes objects of its own in an index of its own, and gives them up when the wrapped classes are imported.
#include "core/Interpreter.h"

#include "CudaFiltersSingletons.h"
#include "itkObjectFactoryBase.h"
#include "itkPyITKCommonCAPI.h"
#include "itkSingleton.h"

#include <mutex>

namespace
{
// ITK deletes its own index at the end of the process, and the objects by the library's pointers to them, which may be
// those of the package itk by then. This index takes its place, and only ShareSingletons() deletes it. It is set before
// all other initialisers of the library, one of which may register the factory (src/factory/Override.cxx).
struct OwnIndex
{
  OwnIndex() { itk::SingletonIndex::SetInstance(m_Index); }

  itk::SingletonIndex * m_Index = new itk::SingletonIndex;
};

[[gnu::init_priority(101)]] OwnIndex ownIndex;
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
  PyThreadState * const                     state = PyEval_SaveThread();
  const std::unique_lock<std::shared_mutex> alone(libraryMutex);
  PyEval_RestoreThread(state);

  itk::SingletonIndex::SetInstance(_ITKCommonPython_GetGlobalSingletonIndex());
  // Moves the registered factories to the shared list, and the pointer to that list with them.
  itk::ObjectFactoryBase::Initialize();
  // Sets all other pointers to null, so that the shared objects are looked up when they are next used.
  delete ownIndex.m_Index;
  ownIndex.m_Index = nullptr;
  return true;
}
} // namespace cudafilters
