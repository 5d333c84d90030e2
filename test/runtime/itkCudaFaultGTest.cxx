// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaError.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaRuntimeTestHelpers.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace
{
using itk::CudaComponentType;
using itk::CudaError;
using itk::cuda::FaultHook;
using itk::cuda::test::Extent;
using itk::cuda::test::Configuration;
using itk::cuda::test::HostImage;
using itk::cuda::test::DeviceTest;
using itk::cuda::test::FillRandomly;
using itk::cuda::test::MakeRoundTrip;

class CudaFault : public DeviceTest
{};
} // namespace

/** Images that are converted, those of the device's type, and small ones; and several threads, whose calls come in any
 * order. */
TEST_F(CudaFault, Faults_of_transfers_are_survived)
{
  const auto walk = [](auto zero, const Extent & size, unsigned int threads, const std::string & what) {
    using T = decltype(zero);
    HostImage<T> input(size, 1);
    FillRandomly(input.Pixels);
    itk::cuda::test::WalkFaults<T>(
      what,
      [&input] {
        HostImage<T> output(input.View.Size, 1);
        MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
        return output.Pixels;
      },
      threads);
  };
  walk(short{}, { 1031, 1500, 1, 1 }, 1, "with conversion");
  walk(float{}, { 1031, 1500, 1, 1 }, 1, "without conversion");
  using Byte = unsigned char;
  walk(Byte{}, { 33, 31, 1, 1 }, 1, "a small image");
  walk(short{}, { 1031, 2500, 1, 1 }, 4, "four threads");
}

TEST_F(CudaFault, One_thread_makes_the_same_calls_every_time)
{
  Configuration::SetNumberOfTransferThreads(1);
  HostImage<short> input({ 1031, 2500, 1, 1 }, 1);
  HostImage<short> output({ 1031, 2500, 1, 1 }, 1);
  MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
  std::vector<unsigned long> numbers;
  for (unsigned int turn = 0; turn < 5; ++turn)
  {
    FaultHook::FailCall(0, cudaErrorUnknown);
    MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
    FaultHook::Clear();
    numbers.push_back(FaultHook::GetNumberOfCalls());
  }
  EXPECT_GT(numbers.front(), 10u);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), numbers.front()), 5);
}

// A kernel's failure is reported by the next call, whichever it is. With the environment variable it is reported by the
// shell's own call, which names the filter.
TEST_F(CudaFault, Synchronous_filters_name_themselves)
{
  constexpr unsigned long mostCalls = 5000;
  HostImage<float>        input(Extent{ { 40, 30, 1, 1 } }, 1);
  HostImage<float>        output(Extent{ { 40, 30, 1, 1 } }, 1);
  FillRandomly(input.Pixels);
  itk::CudaDetail::CudaGaussianParameters parameters;
  parameters.Sigma.assign(2, 2.0);
  parameters.Spacing.assign(2, 1.0);
  const itk::CudaDetail::CudaGaussianPlan plan = itk::CudaDetail::MakeSmoothingPlan(parameters);
  const auto                              findName = [&] {
    for (unsigned long n = 1; n < mostCalls; ++n)
    {
      FaultHook::FailCall(n, cudaErrorLaunchFailure);
      std::string failure;
      try
      {
        itk::CudaDetail::CudaRunOnDevice(plan, input.View, output.View, 0, nullptr);
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
