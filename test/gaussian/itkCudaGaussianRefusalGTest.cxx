// SPDX-License-Identifier: Apache-2.0
// What a filter knows from its parameters and its input's information ends an update before the input's source runs;
// and which part of its input it asks that source for.
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "support/itkCudaITKClass.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImageSource.h"

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;
using ImageType = Image<float, 2>;

class CudaGaussianRefusalTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianRefusalTest);

/** Zeros, of any size and spacing; counts how often it is asked for pixels. */
class CountingSource : public ImageSource<ImageType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CountingSource);
  using Self = CountingSource;
  using Superclass = ImageSource<ImageType>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(CountingSource, ImageSource);
  itkSetMacro(Size, ImageType::SizeType);
  itkSetMacro(Spacing, double);

  unsigned int NumberOfRuns{ 0 };

protected:
  CountingSource() = default;

  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->SetLargestPossibleRegion(MakeRegion<2>(m_Size));
    test::SetSpacing(this->GetOutput(), { { m_Spacing, 1.0 } });
  }
  void
  GenerateData() override
  {
    ++NumberOfRuns;
    this->GetOutput()->SetBufferedRegion(this->GetOutput()->GetRequestedRegion());
    this->GetOutput()->Allocate(true);
  }

private:
  ImageType::SizeType m_Size{ { 40, 30 } };
  double              m_Spacing{ 1.0 };
};

/** A filter and the source of its input; both are good at first. */
template <typename TFilter>
struct Pipeline
{
  CountingSource::Pointer   Source{ CountingSource::New() };
  typename TFilter::Pointer Filter{ TFilter::New() };

  Pipeline(BackendEnum backend, Approximation approximation)
  {
    Filter->SetInput(Source->GetOutput());
    Filter->SetBackend(backend);
    Filter->SetApproximation(approximation);
    Filter->SetSigma(2.0);
  }

  /** An update throws with that text, and has not run the source; after `repair()` it does. */
  template <typename TRepair>
  void
  Expect_refusal(const std::string & text, TRepair repair)
  {
    SCOPED_TRACE(Filter->GetNameOfClass());
    ExpectContains(GetException([this] { Filter->Update(); }), text);
    EXPECT_EQ(Source->NumberOfRuns, 0u);
    EXPECT_EQ(Filter->GetBackendReason(), "not run yet");

    repair();
    EXPECT_NO_THROW(Filter->Update());
    EXPECT_EQ(Source->NumberOfRuns, 1u);
    EXPECT_EQ(Filter->GetOutput()->GetBufferedRegion(), MakeRegion<2>({ { 40, 30 } }));
  }

  /** The parts of the input that are requested for parts of the output are those of ITK's class. */
  void
  Expect_requested_regions_of_ITKs_class()
  {
    SCOPED_TRACE(Filter->GetNameOfClass());
    const auto itkFilter = ITKClassOf<TFilter>::New();
    const auto itkSource = CountingSource::New();
    itkFilter->SetInput(itkSource->GetOutput());
    const auto request = [](auto * filter, CountingSource * source, const ImageType::RegionType & part) {
      filter->UpdateOutputInformation();
      filter->GetOutput()->SetRequestedRegion(part);
      filter->GetOutput()->PropagateRequestedRegion();
      return source->GetOutput()->GetRequestedRegion();
    };
    for (const auto & part : { MakeRegion<2>({ { 2, 2 } }), ImageType::RegionType({ { 7, 11 } }, { { 20, 5 } }) })
    {
      EXPECT_EQ(request(Filter.GetPointer(), Source, part), request(itkFilter.GetPointer(), itkSource, part));
    }
  }

  /** An update of no pixels ends as that of ITK's class. */
  void
  Expect_outcome_of_ITKs_class_for_empty_requests()
  {
    for (const ImageType::SizeType & size : { ImageType::SizeType{ { 0, 0 } }, { { 8, 0 } }, { { 0, 8 } } })
    {
      SCOPED_TRACE(testing::Message() << Filter->GetNameOfClass() << ", " << size);
      const auto itkFilter = ITKClassOf<TFilter>::New();
      const auto itkSource = CountingSource::New();
      itkFilter->SetInput(itkSource->GetOutput());
      const auto isRefused = [&size](auto * filter) {
        filter->UpdateOutputInformation();
        filter->GetOutput()->SetRequestedRegion(MakeRegion<2>(size));
        return !GetException([filter] { filter->Update(); }).empty();
      };
      EXPECT_EQ(isRefused(Filter.GetPointer()), isRefused(itkFilter.GetPointer()));
    }
  }

  void
  Expect_short_lines_are_refused(const std::string & text)
  {
    Source->SetSize({ { 3, 30 } });
    this->Expect_refusal(text, [this] { Source->SetSize({ { 40, 30 } }); });
  }

  void
  Expect_spacing_is_refused()
  {
    Source->SetSpacing(1e-9);
    this->Expect_refusal("Spacing is 1e-09; its magnitude must be finite and at least 1e-08",
                         [this] { Source->SetSpacing(1.0); });
  }

  void
  Expect_sigma_is_refused(double sigma, const std::string & text)
  {
    Filter->SetSigma(sigma);
    this->Expect_refusal(text, [this] { Filter->SetSigma(2.0); });
  }
};

using RecursiveFilter = CudaRecursiveGaussianImageFilter<ImageType>;

/** Calls check(pipeline) for all filters that work along all axes, with both approximations. */
template <typename TCheck>
void
ForEachComposite(BackendEnum backend, TCheck check)
{
  for (const Approximation approximation : { Approximation::Deriche, Approximation::Accurate })
  {
    check(Pipeline<CudaSmoothingRecursiveGaussianImageFilter<ImageType>>(backend, approximation));
    check(Pipeline<CudaGradientRecursiveGaussianImageFilter<ImageType>>(backend, approximation));
    check(Pipeline<CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>>(backend, approximation));
    check(Pipeline<CudaLaplacianRecursiveGaussianImageFilter<ImageType>>(backend, approximation));
    check(Pipeline<CudaHessianRecursiveGaussianImageFilter<ImageType>>(backend, approximation));
  }
}

template <typename TCheck>
void
ForEachFilter(BackendEnum backend, TCheck check)
{
  ForEachComposite(backend, check);
  check(Pipeline<RecursiveFilter>(backend, Approximation::Deriche));
  check(Pipeline<RecursiveFilter>(backend, Approximation::Accurate));
}

TEST_P(CudaGaussianRefusalTest, ShortLines)
{
  ForEachComposite(GetParam(), [](auto pipeline) {
    pipeline.Expect_short_lines_are_refused(
      "the number of pixels along dimension 0 is 3; this filter requires at least four");
  });
  Pipeline<RecursiveFilter>(GetParam(), Approximation::Deriche)
    .Expect_short_lines_are_refused("The number of pixels along direction 0 is less than 4.");
}

TEST_P(CudaGaussianRefusalTest, ShortLinesAlongOtherAxesAreFiltered)
{
  const Pipeline<RecursiveFilter> pipeline(GetParam(), Approximation::Deriche);
  pipeline.Source->SetSize({ { 40, 1 } });
  EXPECT_NO_THROW(pipeline.Filter->Update());
  EXPECT_EQ(pipeline.Source->NumberOfRuns, 1u);
}

TEST_P(CudaGaussianRefusalTest, RequestedRegionsMayBeNarrow)
{
  const Pipeline<RecursiveFilter> pipeline(GetParam(), Approximation::Deriche);
  pipeline.Filter->GetOutput()->SetRequestedRegion(MakeRegion<2>({ { 2, 2 } }));
  EXPECT_NO_THROW(pipeline.Filter->Update());
  EXPECT_EQ(pipeline.Filter->GetOutput()->GetBufferedRegion(), MakeRegion<2>({ { 40, 2 } }));
}

TEST_P(CudaGaussianRefusalTest, InputsAreRequestedAsByITKsClass)
{
  ForEachFilter(GetParam(), [](auto pipeline) { pipeline.Expect_requested_regions_of_ITKs_class(); });
}

TEST_P(CudaGaussianRefusalTest, EmptyRequestedRegionsEndAsWithITKsClass)
{
  Pipeline<RecursiveFilter>(GetParam(), Approximation::Deriche).Expect_outcome_of_ITKs_class_for_empty_requests();
  Pipeline<CudaSmoothingRecursiveGaussianImageFilter<ImageType>>(GetParam(), Approximation::Deriche)
    .Expect_outcome_of_ITKs_class_for_empty_requests();
}

TEST_P(CudaGaussianRefusalTest, SpacingNearZero)
{
  ForEachFilter(GetParam(), [](auto pipeline) { pipeline.Expect_spacing_is_refused(); });
}

TEST_P(CudaGaussianRefusalTest, SigmaOutOfRange)
{
  ForEachComposite(GetParam(), [](auto pipeline) {
    pipeline.Expect_sigma_is_refused(0.0, "Sigma is 0; it must be greater than zero and finite");
  });
  Pipeline<RecursiveFilter>(GetParam(), Approximation::Deriche)
    .Expect_sigma_is_refused(0.0, "Sigma must be greater than zero.");
  ForEachFilter(GetParam(), [](auto pipeline) {
    pipeline.Expect_sigma_is_refused(std::numeric_limits<double>::infinity(),
                                     "Sigma is inf; it must be greater than zero and finite");
  });
}

TEST_P(CudaGaussianRefusalTest, DirectionBeyondTheAxes)
{
  Pipeline<RecursiveFilter> pipeline(GetParam(), Approximation::Deriche);
  pipeline.Filter->SetDirection(2);
  pipeline.Expect_refusal("Direction selected for filtering is greater than ImageDimension",
                          [&] { pipeline.Filter->SetDirection(1); });
}
} // namespace
} // namespace itk::cuda::test
