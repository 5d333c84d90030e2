// SPDX-License-Identifier: Apache-2.0
// Threads that filter images of other sizes and types at the same time get the bits that each gets alone.
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"

#include <functional>
#include <thread>

namespace itk::cuda::test
{
namespace
{
class CudaGaussianThreadsGpuTest : public GpuTest
{};

/** Updates a filter again and again; empty, or what went wrong first. */
using Work = std::function<std::string()>;

/** `repetitions` updates of the filter, each compared with an update that was made alone. */
template <typename TFilter>
Work
MakeWork(const typename TFilter::Pointer & filter, unsigned int repetitions)
{
  using OutputImageType = typename TFilter::OutputImageType;
  filter->SetBackend(BackendEnum::Cuda);
  filter->Update();
  const typename OutputImageType::Pointer expected = filter->GetOutput();
  expected->DisconnectPipeline();
  return [filter, expected, repetitions]() -> std::string {
    try
    {
      for (unsigned int i = 0; i < repetitions; ++i)
      {
        filter->Modified();
        filter->Update();
        const auto result = HasSameBits<OutputImageType>(filter->GetOutput(), expected);
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

template <typename TPixel, unsigned int VDimension>
Work
MakeSmoothing(const Size<VDimension> &        size,
              unsigned int                    repetitions,
              CudaFiltersEnums::Approximation approximation = CudaFiltersEnums::Approximation::Deriche)
{
  using ImageType = Image<TPixel, VDimension>;
  using FilterType = CudaSmoothingRecursiveGaussianImageFilter<ImageType>;
  auto filter = FilterType::New();
  filter->SetInput(MakeDataImage<ImageType>(MakeRegion<VDimension>(size), DataKind::Uniform, 200.0));
  filter->SetSigma(2.0);
  filter->SetApproximation(approximation);
  return MakeWork<FilterType>(filter, repetitions);
}

Work
MakeHessian(const Size<3> & size, unsigned int repetitions)
{
  using ImageType = Image<float, 3>;
  using FilterType = CudaHessianRecursiveGaussianImageFilter<ImageType, Image<SymmetricSecondRankTensor<float, 3>, 3>>;
  auto filter = FilterType::New();
  filter->SetInput(MakeDataImage<ImageType>(MakeRegion<3>(size), DataKind::Uniform, 200.0));
  filter->SetSigma(2.0);
  return MakeWork<FilterType>(filter, repetitions);
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

// Lines of one kernel that differ in the shared memory of their blocks.

TEST_F(CudaGaussianThreadsGpuTest, TwoLengthsOfContiguousLines)
{
  RunAtOnce({ MakeSmoothing<float, 2>({ { 1024, 8 } }, 8000), MakeSmoothing<float, 2>({ { 16384, 8 } }, 6000) });
}

TEST_F(CudaGaussianThreadsGpuTest, TwoLengthsOfLinesSideBySide)
{
  constexpr auto accurate = CudaFiltersEnums::Approximation::Accurate;
  RunAtOnce({ MakeSmoothing<float, 2>({ { 32, 40 } }, 3000, accurate),
              MakeSmoothing<float, 2>({ { 32, 900 } }, 3000, accurate),
              MakeSmoothing<double, 2>({ { 32, 40 } }, 3000),
              MakeSmoothing<double, 2>({ { 32, 250 } }, 3000) });
}

TEST_F(CudaGaussianThreadsGpuTest, SeveralTypesAndFilters)
{
  RunAtOnce({ MakeSmoothing<unsigned char, 2>({ { 60, 1024 } }, 1000),
              MakeSmoothing<short, 2>({ { 4096, 33 } }, 1000),
              MakeSmoothing<double, 2>({ { 8000, 5 } }, 1000),
              MakeSmoothing<float, 3>({ { 100, 30, 70 } }, 1000),
              MakeHessian({ { 24, 24, 24 } }, 600),
              MakeHessian({ { 40, 60, 110 } }, 300) });
}
} // namespace
} // namespace itk::cuda::test
