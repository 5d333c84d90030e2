// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Launch.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaError.h"
#include "support/itkCudaRuntimeTestHelpers.h"

namespace
{
using namespace itk::cuda;
using itk::CudaError;

class CudaLaunchGpu : public test::DeviceTest
{};

/** A call that is made to fail is not executed, so the test needs no kernel. */
constexpr void (*noKernel)(int) = nullptr;
} // namespace

TEST_F(CudaLaunchGpu, Shared_memory_that_was_not_granted_is_asked_for_again)
{
  SharedMemoryOptIn grant;
  for (unsigned int attempt = 0; attempt < 3; ++attempt)
  {
    FaultHook::FailCall(1, cudaErrorUnknown);
    EXPECT_THROW(grant.Raise(noKernel, test::device), CudaError);
    FaultHook::Clear();
    EXPECT_TRUE(FaultHook::GetFired()) << "attempt " << attempt;
  }
}

TEST(CudaLaunch, Grids_have_as_many_blocks_as_launches_may_have)
{
  EXPECT_EQ(MakeGrid(1).x, 1u);
  EXPECT_EQ(MakeGrid(MaximumGridSize).x, 2147483647u);
  EXPECT_EQ(MakeGrid(5).y * MakeGrid(5).z, 1u);
  for (const size_t blocks : { MaximumGridSize + 1, size_t{ 1 } << 32, (size_t{ 1 } << 32) + 5 })
  {
    try
    {
      MakeGrid(blocks);
      ADD_FAILURE() << blocks;
    }
    catch (const CudaError & error)
    {
      const std::string text = error.GetDescription();
      EXPECT_NE(text.find(std::to_string(blocks)), std::string::npos) << text;
      EXPECT_NE(text.find("2147483647"), std::string::npos) << text;
    }
  }
}
