// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailWorkScope_h
#define itkCudaDetailWorkScope_h

#include "CudaFiltersExport.h"

namespace itk::CudaDetail
{
/** While an object of this class exists, filters that run in the same thread with Backend Automatic run on the host.
 *
 * A composite filter that does its own work on the host opens a scope around its internal filters. Scopes can be
 * nested. */
class CudaFilters_EXPORT CudaHostScope
{
public:
  CudaHostScope() noexcept;
  ~CudaHostScope();

  CudaHostScope(const CudaHostScope &) = delete;
  CudaHostScope &
  operator=(const CudaHostScope &) = delete;

  /** Returns whether the calling thread is inside a scope. */
  static bool
  IsActive() noexcept;
};

/** Functions of an interpreter that are called around the module's own work, so that the interpreter's other threads
 * can run meanwhile. */
struct CudaWorkHooks
{
  /** Releases the interpreter's lock. Returns the argument for `End`, or nullptr if the calling thread does not hold
   * the lock. */
  void * (*Begin)(){ nullptr };
  /** Acquires the lock again, in the same thread. */
  void (*End)(void *){ nullptr };
};

/** Sets the hooks of the process; must be called before the first run. Without hooks, a scope does nothing. */
CudaFilters_EXPORT void
CudaSetWorkHooks(const CudaWorkHooks & hooks);

/** Marks the module's own work, for as long as the object exists.
 *
 * A filter opens a scope in GenerateData(), after ITK has updated its inputs. Code in the scope must not need the
 * interpreter's lock unless it acquires it. In a pipeline, such code is what generates an input. Therefore a filter
 * inside the scope gets an image without a source, and a request for further parts of an input goes through
 * CallOthers(). Observers may be called, because observers that call an interpreter acquire its lock. */
class CudaFilters_EXPORT CudaWorkScope
{
public:
  CudaWorkScope();
  /** Acquires the lock again. An interpreter that has shut down may end the thread here, by an exception that no
   * handler may stop. */
  ~CudaWorkScope() noexcept(false);

  CudaWorkScope(const CudaWorkScope &) = delete;
  CudaWorkScope &
  operator=(const CudaWorkScope &) = delete;

  /** Calls `function` outside of the scope. */
  template <typename TFunction>
  void
  CallOthers(const TFunction & function)
  {
    this->End();
    try
    {
      function();
    }
    catch (...)
    {
      this->Begin();
      throw;
    }
    this->Begin();
  }

private:
  void
  Begin();
  void
  End();

  void * m_State{ nullptr }; // state of the interpreter's thread; nullptr: the lock was not released
};
} // end namespace itk::CudaDetail

#endif
