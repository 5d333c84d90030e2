// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaInterpreterLock_h
#define itkCudaInterpreterLock_h

#include "itkCudaDetailWorkScope.h"

#include <gtest/gtest.h>

#include <utility>

namespace itk::cuda::test
{
/** Stands for the lock of an interpreter. The calling thread holds it during the lifetime of the object, except where a
 * filter of the module works. */
class InterpreterLock
{
public:
  InterpreterLock()
  {
    m_IsHeld = true;
    m_TimesReleased = 0;
    CudaDetail::CudaSetWorkHooks({ [] {
                                    ++m_TimesReleased;
                                    return std::exchange(m_IsHeld, false) ? static_cast<void *>(&m_IsHeld) : nullptr;
                                  },
                                   [](void * state) {
                                     EXPECT_EQ(state, &m_IsHeld);
                                     EXPECT_FALSE(m_IsHeld) << "acquired twice";
                                     m_IsHeld = true;
                                   } });
  }
  ~InterpreterLock()
  {
    CudaDetail::CudaSetWorkHooks({});
    m_IsHeld = true;
  }
  InterpreterLock(const InterpreterLock &) = delete;
  InterpreterLock &
  operator=(const InterpreterLock &) = delete;

  /** Returns whether the calling thread holds the lock, as it does where there is no interpreter. */
  static bool
  IsHeld()
  {
    return m_IsHeld;
  }
  static int
  GetTimesReleased()
  {
    return m_TimesReleased;
  }

private:
  static inline thread_local bool m_IsHeld{ true };
  static inline thread_local int  m_TimesReleased{ 0 };
};
} // namespace itk::cuda::test

#endif
