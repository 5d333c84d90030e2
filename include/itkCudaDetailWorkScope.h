// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailWorkScope_h
#define itkCudaDetailWorkScope_h

#include "CudaFiltersExport.h"

namespace itk::CudaDetail
{
/** While one lives, filters that run in the same thread with Backend Automatic run on the host.
 *
 * A composite filter whose own work is on the host opens one around its inner filters. Scopes nest. */
class CudaFilters_EXPORT CudaHostScope
{
public:
  CudaHostScope() noexcept;
  ~CudaHostScope();

  CudaHostScope(const CudaHostScope &) = delete;
  CudaHostScope &
  operator=(const CudaHostScope &) = delete;

  /** Whether the calling thread is inside a scope. */
  static bool
  IsActive() noexcept;
};

/** What an interpreter does around the module's own work, so that its other threads run meanwhile. */
struct CudaWorkHooks
{
  /** Gives up the interpreter's lock. Returns what `End` needs, or nullptr if the calling thread does not hold the
   * lock. */
  void * (*Begin)(){ nullptr };
  /** Takes the lock again, in the same thread. */
  void (*End)(void *){ nullptr };
};

/** Sets the hooks of the process, before the first run. Without hooks a scope does nothing. */
CudaFilters_EXPORT void
CudaSetWorkHooks(const CudaWorkHooks & hooks);

/** The module's own work, for as long as the object lives.
 *
 * A filter opens one in GenerateData(), when ITK has brought its inputs up to date. Nothing in the scope may run code
 * that needs the interpreter's lock and does not take it. In a pipeline that is what makes an input. So a filter inside
 * the scope gets an image without a source, and a request for further parts of an input goes through CallOthers().
 * Observers may be called: those that call an interpreter take its lock. */
class CudaFilters_EXPORT CudaWorkScope
{
public:
  CudaWorkScope();
  /** An interpreter that has ended may end the thread here, by an exception that no handler may stop. */
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

  void * m_State{ nullptr }; // of the interpreter's thread; nullptr: the lock was not given up
};
} // end namespace itk::CudaDetail

#endif
