// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFaultWalk_h
#define itkCudaFaultWalk_h

#include "runtime/device/Call.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"

#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace itk::cuda::test
{
/** Makes every CUDA call of `run` fail in turn, with cold and warm memory pools and with two errors. Each failure must
 * be reported as a CudaError or be survived through an alternative, release all memory, and leave the next run correct.
 * `run` updates a filter on the GPU and returns its pixels. With one thread of transfers, the order of its calls is
 * deterministic. */
template <typename TPixel>
void
WalkFaults(const std::string & name, const std::function<std::vector<TPixel>()> & run, unsigned int transferThreads = 1)
{
  constexpr unsigned long mostCalls = 5000; // far more than the calls of one update
  // These calls have an alternative: an allocation is repeated, and memory of unknown kind is treated as ordinary
  // memory.
  const auto isOptional = [](const std::string & call) {
    return call.find("cudaMallocFromPoolAsync") != std::string::npos ||
           call.find("cudaPointerGetAttributes") != std::string::npos;
  };
  const auto getBytes = [] {
    return CudaFiltersConfiguration::GetDeviceBytesInUse() + CudaFiltersConfiguration::GetPinnedBytesInUse();
  };
  CudaFiltersConfiguration::SetNumberOfTransferThreads(transferThreads);
  const std::vector<TPixel> expected = run();
  const size_t              bytes = getBytes();
  for (const bool cold : { true, false })
  {
    for (const cudaError_t error : { cudaErrorMemoryAllocation, cudaErrorUnknown })
    {
      unsigned long n = 1;
      for (bool fired = true; fired && n < mostCalls; ++n)
      {
        if (cold)
        {
          CudaFiltersConfiguration::ReleaseMemory();
        }
        std::string         failure;
        std::vector<TPixel> pixels;
        FaultHook::FailCall(n, error);
        try
        {
          pixels = run();
        }
        catch (const CudaError & caught)
        {
          failure = caught.GetDescription();
        }
        FaultHook::Clear();
        fired = FaultHook::GetFired();
        const std::string where = name + ", call " + std::to_string(n) + ": " + FaultHook::GetCall();
        if (failure.empty())
        {
          EXPECT_TRUE(!fired || isOptional(FaultHook::GetCall())) << where << " failed unnoticed";
          EXPECT_TRUE(pixels == expected) << where;
        }
        EXPECT_TRUE(fired || failure.empty()) << where << ": " << failure;
        EXPECT_EQ(getBytes(), bytes) << where;
        EXPECT_TRUE(run() == expected) << "the run after " << where;
      }
      EXPECT_LT(n, mostCalls);
      EXPECT_GT(n, 6u) << "fewer calls than an upload, a pass and a download need";
      std::cout << name << (cold ? ", cold, " : ", warm, ") << cudaGetErrorName(error) << ": " << n - 2 << " calls"
                << std::endl;
    }
  }
  CudaFiltersConfiguration::SetNumberOfTransferThreads(0);
}
} // namespace itk::cuda::test

#endif
