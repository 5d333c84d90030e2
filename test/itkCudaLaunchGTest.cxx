// SPDX-License-Identifier: Apache-2.0
#include "itkCudaLaunch.h"
#include "itkCudaDevice.h"
#include "itkCudaError.h"
#include "itkCudaRuntimeTestHelpers.h"

namespace
{
using namespace itk::cuda;
using itk::CudaError;

class CudaLaunchGpu : public test::DeviceTest
{};

/** A call that is made to fail is not executed, so no kernel is needed. */
constexpr void (*noKernel)(int) = nullptr;
} // namespace

TEST_F(CudaLaunchGpu, Shared_memory_that_was_not_granted_is_asked_for_again)
{
  SharedMemoryGrant grant;
  for (unsigned int attempt = 0; attempt < 3; ++attempt)
  {
    FaultHook::FailCall(1, cudaErrorUnknown);
    EXPECT_THROW(grant.Raise(noKernel, test::device), CudaError);
    FaultHook::Clear();
    EXPECT_TRUE(FaultHook::GetFired()) << "attempt " << attempt;
  }
}
