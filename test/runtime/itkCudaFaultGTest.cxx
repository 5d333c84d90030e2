// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaError.h"
#include "support/itkCudaRuntimeTestHelpers.h"

#include <cstdlib>
#include <string>

namespace
{
using namespace itk;
using namespace itk::cuda;
using namespace itk::cuda::test;

class CudaFault : public DeviceTest
{};
} // namespace

// A kernel's failure is reported by the next call, whichever it is. With the environment variable it is reported by the
// shell's own call, which names the filter.
TEST_F(CudaFault, Synchronous_filters_name_themselves)
{
  constexpr unsigned long mostCalls = 5000;
  HostImage<float>        input(Extent{ { 40, 30, 1, 1 } }, 1);
  HostImage<float>        output(Extent{ { 40, 30, 1, 1 } }, 1);
  FillRandomly(input.Pixels);
  CudaDetail::CudaGaussianParameters parameters;
  parameters.Sigma.assign(2, 2.0);
  parameters.Spacing.assign(2, 1.0);
  const CudaDetail::CudaGaussianPlan plan = CudaDetail::MakeSmoothingPlan(parameters);
  const auto                         findName = [&] {
    for (unsigned long n = 1; n < mostCalls; ++n)
    {
      FaultHook::FailCall(n, cudaErrorLaunchFailure);
      std::string failure;
      try
      {
        CudaDetail::CudaRunOnDevice(plan, input.View, output.View, 0, nullptr);
      }
      catch (const CudaError & error)
      {
        failure = error.GetDescription();
      }
      FaultHook::Clear();
      if (failure.find("The work of a recursive Gaussian filter failed: cudaErrorLaunchFailure") == 0)
      {
        return true;
      }
      if (!FaultHook::GetFired())
      {
        return false;
      }
    }
    return false;
  };
  EXPECT_FALSE(findName());
  ASSERT_EQ(setenv("ITK_CUDAFILTERS_SYNCHRONOUS", "1", 1), 0);
  EXPECT_TRUE(findName());
  unsetenv("ITK_CUDAFILTERS_SYNCHRONOUS");
}
