// SPDX-License-Identifier: Apache-2.0
// Inputs whose buffer does not hold the region that a filter needs: an exception on every backend, as ITK's iterators
// throw, and the same object filters good images afterwards.
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "support/itkCudaITKClass.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkImageSource.h"

#include <set>

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;
using ImageType = Image<float, 2>;

class CudaGaussianInputPixelsTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianInputPixelsTest);

/** A filter of any output type. */
class AnyFilter
{
public:
  virtual ~AnyFilter() = default;
  virtual std::string
  GetName() const = 0;
  virtual void
  SetInput(const ImageType * image) = 0;
  virtual void
  Update() = 0;
  /** Another parameter, so that the next update runs. */
  virtual void
  SetSigma(double sigma) = 0;
  /** Returns whether there is such a switch. */
  virtual bool
  TurnInPlaceOn() = 0;
  virtual std::vector<unsigned char>
  GetOutputBytes() const = 0;
};

template <typename TFilter, typename = void>
struct HasInPlace : std::false_type
{};
template <typename TFilter>
struct HasInPlace<TFilter, std::void_t<decltype(std::declval<TFilter &>().InPlaceOn())>> : std::true_type
{};

template <typename TFilter, typename = void>
struct HasVariance : std::false_type
{};
template <typename TFilter>
struct HasVariance<TFilter, std::void_t<decltype(std::declval<TFilter &>().SetVariance(1.0))>> : std::true_type
{};

template <typename TFilter>
class FilterOf : public AnyFilter
{
public:
  explicit FilterOf(typename TFilter::Pointer filter)
    : m_Filter(std::move(filter))
  {
    this->SetSigma(2.0);
  }
  std::string
  GetName() const override
  {
    std::ostringstream name;
    name << m_Filter->GetNameOfClass();
    return name.str();
  }
  void
  SetInput(const ImageType * image) override
  {
    m_Filter->SetInput(image);
  }
  void
  Update() override
  {
    m_Filter->Update();
  }
  void
  SetSigma(double sigma) override
  {
    if constexpr (HasVariance<TFilter>::value)
    {
      m_Filter->SetVariance(sigma * sigma);
    }
    else
    {
      m_Filter->SetSigma(sigma);
    }
  }
  bool
  TurnInPlaceOn() override
  {
    if constexpr (HasInPlace<TFilter>::value)
    {
      m_Filter->InPlaceOn();
    }
    return HasInPlace<TFilter>::value;
  }
  std::vector<unsigned char>
  GetOutputBytes() const override
  {
    const auto * const output = m_Filter->GetOutput();
    const auto * const bytes = reinterpret_cast<const unsigned char *>(output->GetBufferPointer());
    return std::vector<unsigned char>(
      bytes, bytes + output->GetPixelContainer()->Size() * sizeof(*output->GetBufferPointer()));
  }

private:
  typename TFilter::Pointer m_Filter;
};

using FilterList = std::vector<std::unique_ptr<AnyFilter>>;

using RecursiveFilter = CudaRecursiveGaussianImageFilter<ImageType>;
using SmoothingFilter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>;
using GradientFilter = CudaGradientRecursiveGaussianImageFilter<ImageType>;
using MagnitudeFilter = CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>;
using LaplacianFilter = CudaLaplacianRecursiveGaussianImageFilter<ImageType>;
using HessianFilter = CudaHessianRecursiveGaussianImageFilter<ImageType>;
using DiscreteFilter = CudaDiscreteGaussianImageFilter<ImageType>;
using PartitionedFilter = CudaPartitionedRecursiveGaussianImageFilter<ImageType>;

template <typename TFilter>
void
AddFilter(FilterList & list, BackendEnum backend)
{
  auto filter = TFilter::New();
  filter->SetBackend(backend);
  list.push_back(std::make_unique<FilterOf<TFilter>>(filter));
}

template <typename... TFilters>
void
AddFilters(FilterList & list, BackendEnum backend, Approximation approximation)
{
  const auto add = [&](auto filter) {
    filter->SetBackend(backend);
    filter->SetApproximation(approximation);
    list.push_back(std::make_unique<FilterOf<typename decltype(filter)::ObjectType>>(filter));
  };
  (add(TFilters::New()), ...);
}

/** All Gaussian filters on a backend, those with an Approximation once with each. */
FilterList
MakeFilters(BackendEnum backend)
{
  FilterList list;
  for (const Approximation approximation : { Approximation::Deriche, Approximation::Accurate })
  {
    AddFilters<RecursiveFilter, SmoothingFilter, GradientFilter, MagnitudeFilter, LaplacianFilter, HessianFilter>(
      list, backend, approximation);
  }
  AddFilter<DiscreteFilter>(list, backend);
  AddFilter<PartitionedFilter>(list, backend);
  return list;
}

ImageType::Pointer
MakeGoodImage()
{
  return MakeDataImage<ImageType>(MakeRegion<2>({ { 65, 33 } }), DataKind::SmallOffset);
}

/** The message of the exception that the update ends with; empty: none. Other exceptions go on. */
std::string
GetFailure(AnyFilter & filter)
{
  try
  {
    filter.Update();
  }
  catch (const ExceptionObject & exception)
  {
    return exception.GetDescription();
  }
  return {};
}

/** The update throws and names what is missing; a good image is filtered afterwards as by the filter `fresh`. */
void
Expect_missing_pixels_are_told(AnyFilter & filter, AnyFilter & fresh)
{
  const std::string failure = GetFailure(filter);
  EXPECT_NE(failure.find("buffered region"), std::string::npos) << '"' << failure << '"';
  EXPECT_NE(failure.find("Region"), std::string::npos) << '"' << failure << '"';
  for (AnyFilter * const either : { &filter, &fresh })
  {
    either->SetSigma(3.0);
    either->SetInput(MakeGoodImage());
    ASSERT_EQ(GetFailure(*either), "");
  }
  EXPECT_TRUE(filter.GetOutputBytes() == fresh.GetOutputBytes());
}

/** For all filters: after `spoil(filter)` an update throws. */
template <typename TSpoil>
void
Expect_all_filters_tell_missing_pixels(BackendEnum backend, const TSpoil & spoil)
{
  const FilterList filters = MakeFilters(backend);
  const FilterList fresh = MakeFilters(backend);
  for (size_t i = 0; i < filters.size(); ++i)
  {
    SCOPED_TRACE(filters[i]->GetName() + ", number " + std::to_string(i));
    if (spoil(*filters[i]))
    {
      Expect_missing_pixels_are_told(*filters[i], *fresh[i]);
    }
  }
}

TEST_P(CudaGaussianInputPixelsTest, InPlaceTwiceOnAnImageWithoutSource)
{
  std::set<std::string> consumers;
  Expect_all_filters_tell_missing_pixels(GetParam(), [&](AnyFilter & filter) {
    const auto image = MakeGoodImage();
    const bool hasInPlace = filter.TurnInPlaceOn();
    filter.SetInput(image);
    EXPECT_EQ(GetFailure(filter), "");
    filter.SetSigma(1.5);
    if (image->GetBufferedRegion().GetNumberOfPixels() > 0)
    {
      EXPECT_EQ(GetFailure(filter), "") << "the image has its pixels still";
      return false;
    }
    EXPECT_TRUE(hasInPlace);
    consumers.insert(filter.GetName());
    return true;
  });
  EXPECT_EQ(consumers.count("CudaRecursiveGaussianImageFilter"), 1u);
  EXPECT_EQ(consumers.count("CudaSmoothingRecursiveGaussianImageFilter"), 1u);
}

TEST_P(CudaGaussianInputPixelsTest, ReleasedInput)
{
  Expect_all_filters_tell_missing_pixels(GetParam(), [](AnyFilter & filter) {
    const auto image = MakeGoodImage();
    image->ReleaseDataFlagOn();
    filter.SetInput(image);
    EXPECT_EQ(GetFailure(filter), "") << "the first update has its pixels";
    filter.SetSigma(1.5);
    return true;
  });
}

TEST_P(CudaGaussianInputPixelsTest, InitializedInput)
{
  Expect_all_filters_tell_missing_pixels(GetParam(), [](AnyFilter & filter) {
    const auto image = MakeGoodImage();
    image->Initialize();
    filter.SetInput(image);
    return true;
  });
}

TEST_P(CudaGaussianInputPixelsTest, InputThatWasNotAllocated)
{
  Expect_all_filters_tell_missing_pixels(GetParam(), [](AnyFilter & filter) {
    const auto image = ImageType::New();
    image->SetRegions(ImageType::SizeType{ { 65, 33 } });
    filter.SetInput(image);
    return true;
  });
}

TEST_P(CudaGaussianInputPixelsTest, ContainersThatHoldLessThanTheySay)
{
  Expect_all_filters_tell_missing_pixels(GetParam(), [](AnyFilter & filter) {
    const auto image = ImageType::New();
    image->SetRegions(ImageType::SizeType{ { 65, 33 } });
    image->GetPixelContainer()->SetImportPointer(nullptr, 65 * 33, false);
    filter.SetInput(image);
    return true;
  });
  Expect_all_filters_tell_missing_pixels(GetParam(), [](AnyFilter & filter) {
    const auto image = MakeConstantImage<ImageType>(ImageType::SizeType{ { 65, 16 } }, 1.0f);
    image->SetRegions(ImageType::SizeType{ { 65, 33 } }); // without another Allocate()
    filter.SetInput(image);
    return true;
  });
}

/** Makes the upper half of what is asked for. */
class HalfSource : public ImageSource<ImageType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(HalfSource);
  using Self = HalfSource;
  using Superclass = ImageSource<ImageType>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(HalfSource, ImageSource);

protected:
  HalfSource() = default;

  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->SetLargestPossibleRegion(MakeRegion<2>({ { 65, 33 } }));
  }
  void
  GenerateData() override
  {
    auto region = this->GetOutput()->GetRequestedRegion();
    region.SetSize(1, region.GetSize(1) / 2);
    this->GetOutput()->SetBufferedRegion(region);
    this->GetOutput()->Allocate(true);
  }
};

TEST_P(CudaGaussianInputPixelsTest, SourceThatMakesLessThanRequested)
{
  std::vector<HalfSource::Pointer> sources; // longer than the images
  Expect_all_filters_tell_missing_pixels(GetParam(), [&](AnyFilter & filter) {
    sources.push_back(HalfSource::New());
    filter.SetInput(sources.back()->GetOutput());
    return true;
  });
}

template <typename TFilter>
std::unique_ptr<AnyFilter>
MakeITKFilter()
{
  return std::make_unique<FilterOf<ITKClassOf<TFilter>>>(ITKClassOf<TFilter>::New());
}

template <typename TFilter>
void
Expect_empty_image_as_ITKs(BackendEnum backend, const Size<2> & size)
{
  const auto itkFilter = MakeITKFilter<TFilter>();
  FilterList filters;
  AddFilter<TFilter>(filters, backend);
  SCOPED_TRACE(filters[0]->GetName());
  const auto empty = MakeImage<ImageType>(MakeRegion<2>(size));
  itkFilter->SetInput(empty);
  filters[0]->SetInput(empty);
  const bool        throws = !GetFailure(*itkFilter).empty();
  const std::string failure = GetFailure(*filters[0]);
  EXPECT_EQ(!failure.empty(), throws) << '"' << failure << '"';
  if (!throws)
  {
    EXPECT_TRUE(filters[0]->GetOutputBytes().empty());
  }
}

TEST_P(CudaGaussianInputPixelsTest, EmptyImagesEndAsInITKsClasses)
{
  for (const Size<2> & size : { Size<2>{ { 0, 0 } }, Size<2>{ { 8, 0 } }, Size<2>{ { 0, 8 } } })
  {
    SCOPED_TRACE(size);
    Expect_empty_image_as_ITKs<RecursiveFilter>(GetParam(), size);
    Expect_empty_image_as_ITKs<SmoothingFilter>(GetParam(), size);
    Expect_empty_image_as_ITKs<GradientFilter>(GetParam(), size);
    Expect_empty_image_as_ITKs<MagnitudeFilter>(GetParam(), size);
    Expect_empty_image_as_ITKs<LaplacianFilter>(GetParam(), size);
    Expect_empty_image_as_ITKs<HessianFilter>(GetParam(), size);
    Expect_empty_image_as_ITKs<DiscreteFilter>(GetParam(), size);
  }
}
} // namespace
} // namespace itk::cuda::test
