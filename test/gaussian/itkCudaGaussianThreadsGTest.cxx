// SPDX-License-Identifier: Apache-2.0
// Threads that run one kernel at the same time, with lines that differ in the shared memory of their blocks, get the
// bits that each gets alone.
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

#include <functional>
#include <thread>
#include <vector>

namespace itk::cuda::test
{
namespace
{
class CudaGaussianThreadsGpuTest : public GpuTest
{};

/** Updates a filter again and again; empty, or what went wrong first. */
using Work = std::function<std::string()>;

/** `repetitions` updates of a filter, each compared with an update that was made alone. */
template <typename TPixel>
Work
MakeSmoothing(const Size<2> &                 size,
              unsigned int                    repetitions,
              CudaFiltersEnums::Approximation approximation = CudaFiltersEnums::Approximation::Deriche)
{
  using ImageType = Image<TPixel, 2>;
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(MakeDataImage<ImageType>(MakeRegion<2>(size), DataKind::Uniform, 200.0));
  filter->SetSigma(2.0);
  filter->SetApproximation(approximation);
  filter->SetBackend(BackendEnum::Cuda);
  filter->Update();
  const typename ImageType::Pointer expected = filter->GetOutput();
  expected->DisconnectPipeline();
  return [filter, expected, repetitions]() -> std::string {
    try
    {
      for (unsigned int i = 0; i < repetitions; ++i)
      {
        filter->Modified();
        filter->Update();
        const auto result = HasSameBits<ImageType>(filter->GetOutput(), expected);
        if (!result)
        {
          return "update " + std::to_string(i) + ": " + result.message();
        }
      }
    }
    catch (const std::exception & error)
    {
      return error.what();
    }
    return {};
  };
}

void
RunAtOnce(const std::vector<Work> & works)
{
  std::vector<std::string> failures(works.size());
  std::vector<std::thread> threads;
  for (size_t t = 0; t < works.size(); ++t)
  {
    threads.emplace_back([&, t] { failures[t] = works[t](); });
  }
  for (size_t t = 0; t < works.size(); ++t)
  {
    threads[t].join();
    EXPECT_EQ(failures[t], "") << "thread " << t;
  }
}

TEST_F(CudaGaussianThreadsGpuTest, TwoLengthsOfContiguousLines)
{
  RunAtOnce({ MakeSmoothing<float>({ { 1024, 8 } }, 8000), MakeSmoothing<float>({ { 16384, 8 } }, 6000) });
}

TEST_F(CudaGaussianThreadsGpuTest, TwoLengthsOfLinesSideBySide)
{
  constexpr auto accurate = CudaFiltersEnums::Approximation::Accurate;
  RunAtOnce({ MakeSmoothing<float>({ { 32, 40 } }, 3000, accurate),
              MakeSmoothing<float>({ { 32, 900 } }, 3000, accurate),
              MakeSmoothing<double>({ { 32, 40 } }, 3000),
              MakeSmoothing<double>({ { 32, 250 } }, 3000) });
}
} // namespace
} // namespace itk::cuda::test
