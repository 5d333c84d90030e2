// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaError.h"
#include "support/itkCudaRuntimeTestHelpers.h"

#include <cstdlib>
#include <iostream>

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
using itk::cuda::test::ExpectSamePixels;
using itk::cuda::test::MakeRoundTrip;

class CudaFault : public DeviceTest
{};
} // namespace

namespace
{
/** Returns whether a call may fail without consequence because there is an alternative. */
bool
IsOptional(const std::string & call, cudaError_t error)
{
  const bool isAllocation = call.find("cudaMallocFromPoolAsync") == 0 || call.find("cudaMalloc(") == 0;
  return call.find("cudaPointerGetAttributes") == 0 || (isAllocation && error == cudaErrorMemoryAllocation);
}

template <typename T>
struct FaultWalk
{
  HostImage<T> &    Input;
  CudaComponentType ComputeType;
  cudaError_t       Error;
  bool              Cold; // every run starts without memory kept for reuse
  unsigned long     Failures{ 0 };
  unsigned long     Successes{ 0 };

  /** Runs while the n-th call fails. Returns whether there was an n-th call. */
  bool
  RunOnce(unsigned long n)
  {
    HostImage<T> output(Input.View.Size, 1);
    if (Cold)
    {
      Configuration::ReleaseMemory();
    }
    FaultHook::FailCall(n, Error);
    bool threw = false;
    try
    {
      MakeRoundTrip(Input.View, output.View, ComputeType);
    }
    catch (const CudaError &)
    {
      threw = true;
    }
    FaultHook::Clear();
    const bool        fired = FaultHook::GetFired();
    const std::string call = FaultHook::GetCall();
    EXPECT_EQ(threw, fired && (threw || !IsOptional(call, Error))) << "call " << n << ": " << call;
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u) << "call " << n << ": " << call;
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u) << "call " << n << ": " << call;
    if (!threw)
    {
      ExpectSamePixels(output.Pixels, Input.Pixels, "call " + std::to_string(n) + ": " + call);
    }
    MakeRoundTrip(Input.View, output.View, ComputeType);
    ExpectSamePixels(output.Pixels, Input.Pixels, "the run after call " + std::to_string(n) + ": " + call);
    (threw ? Failures : Successes) += fired;
    return fired;
  }

  void
  Run()
  {
    unsigned long n = 1;
    while (this->RunOnce(n))
    {
      ++n;
      ASSERT_LT(n, 10000u);
    }
    std::cout << (Cold ? "cold" : "warm") << ", " << cudaErrorName() << ": " << Failures << " calls throw, "
              << Successes << " have another way\n";
    EXPECT_GT(Failures, 10u);
  }

  std::string
  cudaErrorName() const
  {
    return Error == cudaErrorMemoryAllocation ? "out of memory" : "unknown error";
  }
};

template <typename T>
void
WalkFaults(const Extent & size, CudaComponentType computeType)
{
  HostImage<T> input(size, 1);
  FillRandomly(input.Pixels);
  for (const cudaError_t error : { cudaErrorMemoryAllocation, cudaErrorUnknown })
  {
    for (const bool cold : { true, false })
    {
      FaultWalk<T>{ input, computeType, error, cold }.Run();
    }
  }
}
} // namespace

TEST_F(CudaFault, Faults_with_conversion_are_survived)
{
  Configuration::SetNumberOfTransferThreads(1);
  WalkFaults<short>({ 1031, 1500, 1, 1 }, CudaComponentType::Float);
}

TEST_F(CudaFault, Faults_without_conversion_are_survived)
{
  Configuration::SetNumberOfTransferThreads(1);
  WalkFaults<float>({ 1031, 1500, 1, 1 }, CudaComponentType::Float);
}

TEST_F(CudaFault, Faults_of_small_images_are_survived)
{
  Configuration::SetNumberOfTransferThreads(1);
  WalkFaults<unsigned char>({ 33, 31, 1, 1 }, CudaComponentType::Float);
}

TEST_F(CudaFault, Faults_in_several_threads_are_survived)
{
  Configuration::SetNumberOfTransferThreads(4);
  WalkFaults<short>({ 1031, 2500, 1, 1 }, CudaComponentType::Float);
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
