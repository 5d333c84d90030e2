// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianPipelineProperties_h
#define itkCudaGaussianPipelineProperties_h

#include "support/itkCudaGaussianTestUtilities.h"
#include "itkImageRegionSplitterBase.h"
#include "itkPipelineMonitorImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <sstream>

// Properties of both Gaussian filters in a pipeline. Each function verifies one property of a filter kind
// (RecursiveKind, SmoothingKind) on one backend.

namespace itk::cuda::test
{
/** Splits regions along a given axis, so that streaming can be tested along each axis. */
class RegionSplitterAlongAxis : public ImageRegionSplitterBase
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(RegionSplitterAlongAxis);
  using Self = RegionSplitterAlongAxis;
  using Superclass = ImageRegionSplitterBase;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(RegionSplitterAlongAxis, ImageRegionSplitterBase);
  itkSetMacro(Axis, unsigned int);

protected:
  RegionSplitterAlongAxis() = default;

  unsigned int
  GetNumberOfSplitsInternal(unsigned int,
                            const IndexValueType[],
                            const SizeValueType size[],
                            unsigned int        requested) const override
  {
    return std::min<SizeValueType>(requested, size[m_Axis]);
  }
  unsigned int
  GetSplitInternal(unsigned int   dimension,
                   unsigned int   i,
                   unsigned int   numberOfPieces,
                   IndexValueType index[],
                   SizeValueType  size[]) const override
  {
    const unsigned int  pieces = this->GetNumberOfSplitsInternal(dimension, index, size, numberOfPieces);
    const SizeValueType begin = size[m_Axis] * i / pieces;
    const SizeValueType end = size[m_Axis] * (i + 1) / pieces;
    index[m_Axis] += static_cast<IndexValueType>(begin);
    size[m_Axis] = end - begin;
    return pieces;
  }

private:
  unsigned int m_Axis{ 0 };
};

/** Streams the filter's output in pieces along an axis and returns the whole image. */
template <typename TFilter>
typename TFilter::OutputImageType::Pointer
StreamAlong(TFilter * filter, unsigned int axis, unsigned int divisions)
{
  using OutputImageType = typename TFilter::OutputImageType;
  auto splitter = RegionSplitterAlongAxis::New();
  splitter->SetAxis(axis);
  auto streamer = StreamingImageFilter<OutputImageType, OutputImageType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetRegionSplitter(splitter);
  streamer->SetNumberOfStreamDivisions(divisions);
  streamer->Update();
  typename OutputImageType::Pointer output = streamer->GetOutput();
  output->DisconnectPipeline();
  return output;
}

/** Returns a region whose index is not zero. */
template <unsigned int VDimension>
ImageRegion<VDimension>
MakeShiftedRegion(const Size<VDimension> & size)
{
  ImageRegion<VDimension> region(size);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    region.SetIndex(d, d % 2 == 0 ? 5 : -7);
  }
  return region;
}

/** Returns a new filter of the kind for the given image and backend. */
template <typename TKind, typename TInput, typename TOutput = TInput>
typename TKind::template CudaFilter<TInput, TOutput>::Pointer
MakeFilter(const TInput * input, BackendEnum backend, unsigned int variant, double sigma = 2.5)
{
  auto filter = TKind::template CudaFilter<TInput, TOutput>::New();
  TKind::SetParameters(filter.GetPointer(), variant, sigma);
  filter->SetBackend(backend);
  filter->SetInput(input);
  return filter;
}

/** Returns the output of a new filter, computed in a single update. */
template <typename TKind, typename TInput, typename TOutput = TInput>
typename TOutput::Pointer
FilterWhole(const TInput * input, BackendEnum backend, unsigned int variant, double sigma = 2.5)
{
  auto filter = MakeFilter<TKind, TInput, TOutput>(input, backend, variant, sigma);
  UpdateOn(filter.GetPointer(), backend);
  typename TOutput::Pointer output = filter->GetOutput();
  output->DisconnectPipeline();
  return output;
}

template <typename TKind, typename TImage>
void
Expect_streaming_gives_the_bits_of_the_whole(BackendEnum backend, const typename TImage::SizeType & size, double sigma)
{
  constexpr unsigned int Dimension = TImage::ImageDimension;
  const auto             input = MakeDataImage<TImage>(MakeShiftedRegion(size), DataKind::Uniform, 100.0);
  for (unsigned int variant = 0; variant < TKind::NumberOfVariants(Dimension); ++variant)
  {
    const auto whole = FilterWhole<TKind>(input.GetPointer(), backend, variant, sigma);
    for (unsigned int axis = 0; axis < Dimension; ++axis)
    {
      for (const unsigned int divisions : { 1, 3, 7 })
      {
        SCOPED_TRACE("variant " + std::to_string(variant) + ", " + std::to_string(divisions) +
                     " divisions along axis " + std::to_string(axis));
        const auto filter = MakeFilter<TKind>(input.GetPointer(), backend, variant, sigma);
        const auto streamed = StreamAlong(filter.GetPointer(), axis, divisions);
        EXPECT_TRUE(HasSameBits(streamed.GetPointer(), whole.GetPointer()));
        EXPECT_EQ(filter->GetBackendUsed(), backend);
      }
    }
  }
}

/** Regions that passed through a pipeline monitor. */
template <typename TImage>
struct RecordedRegions
{
  using RegionsType = std::vector<typename TImage::RegionType>;
  RegionsType Upstream[4];
  RegionsType Downstream[4];

  bool
  operator==(const RecordedRegions & other) const
  {
    return std::equal(std::begin(Upstream), std::end(Upstream), std::begin(other.Upstream)) &&
           std::equal(std::begin(Downstream), std::end(Downstream), std::begin(other.Downstream));
  }
};

template <typename TImage>
void
GetRegions(const PipelineMonitorImageFilter<TImage> * monitor, std::vector<typename TImage::RegionType> (&regions)[4])
{
  regions[0] = monitor->GetOutputRequestedRegions();
  regions[1] = monitor->GetInputRequestedRegions();
  regions[2] = monitor->GetUpdatedBufferedRegions();
  regions[3] = monitor->GetUpdatedRequestedRegions();
}

/** Streams with pipeline monitors before and after the filter. */
template <typename TFilter>
RecordedRegions<typename TFilter::InputImageType>
RecordRegions(TFilter * filter, const typename TFilter::InputImageType * input, unsigned int axis)
{
  using ImageType = typename TFilter::InputImageType;
  auto before = PipelineMonitorImageFilter<ImageType>::New();
  auto behind = PipelineMonitorImageFilter<ImageType>::New();
  before->SetInput(Duplicate(input)); // the monitor releases its input
  filter->SetInput(before->GetOutput());
  behind->SetInput(filter->GetOutput());
  StreamAlong(behind.GetPointer(), axis, 3);
  RecordedRegions<ImageType> recorded;
  GetRegions(before.GetPointer(), recorded.Upstream);
  GetRegions(behind.GetPointer(), recorded.Downstream);
  return recorded;
}

template <typename TKind>
void
Expect_requested_regions_are_those_of_ITKs_class(BackendEnum backend)
{
  using ImageType = Image<float, 3>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<3>({ { 19, 17, 23 } }), DataKind::Uniform);
  for (unsigned int variant = 0; variant < TKind::NumberOfVariants(3); ++variant)
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      auto itkFilter = TKind::template ITKFilter<ImageType>::New();
      TKind::SetParameters(itkFilter.GetPointer(), variant);
      auto       filter = MakeFilter<TKind>(input.GetPointer(), backend, variant);
      const auto expected = RecordRegions(itkFilter.GetPointer(), input, axis);
      EXPECT_TRUE(RecordRegions(filter.GetPointer(), input, axis) == expected)
        << "variant " << variant << ", streamed along axis " << axis;
      EXPECT_FALSE(expected.Upstream[0].empty());
    }
  }
}

/** Verifies that an input suffices if only a part of it is in memory, as after a reader that streams. */
template <typename TKind>
void
Expect_an_input_buffered_in_part_suffices(BackendEnum backend)
{
  using ImageType = Image<float, 2>;
  const auto            largest = MakeShiftedRegion<2>({ { 40, 36 } });
  const auto            whole = MakeDataImage<ImageType>(largest, DataKind::SmallOffset);
  ImageType::RegionType buffered = largest; // all lines along axis 0, but few of them
  buffered.SetIndex(1, 2);
  buffered.SetSize(1, 9);
  auto input = MakeImage<ImageType>(buffered);
  input->SetLargestPossibleRegion(largest);
  ImageRegionIteratorWithIndex<ImageType> it(input, buffered);
  for (; !it.IsAtEnd(); ++it)
  {
    it.Set(whole->GetPixel(it.GetIndex()));
  }
  const auto expected = FilterWhole<TKind>(whole.GetPointer(), backend, 0);
  auto       filter = MakeFilter<TKind>(input.GetPointer(), backend, 0);
  filter->GetOutput()->SetRequestedRegion(buffered);
  filter->Update();
  for (it.GoToBegin(); !it.IsAtEnd(); ++it)
  {
    ASSERT_EQ(filter->GetOutput()->GetPixel(it.GetIndex()), expected->GetPixel(it.GetIndex())) << it.GetIndex();
  }
}

/** Calls the setter and verifies that it modifies the filter only if the value changes. */
template <typename TFilter, typename TSetter>
void
Expect_setter_modifies_only_on_change(TFilter * filter, TSetter setter)
{
  const auto before = filter->GetMTime();
  setter();
  const auto changed = filter->GetMTime();
  EXPECT_GT(changed, before);
  setter();
  EXPECT_EQ(filter->GetMTime(), changed);
}

template <typename TKind>
void
Expect_names_and_printing_are_its_own()
{
  using ImageType = Image<float, 2>;
  using FilterType = typename TKind::template CudaFilter<ImageType>;
  auto filter = FilterType::New();
  EXPECT_STREQ(filter->GetNameOfClass(), TKind::Name);
  filter->SetBackend(BackendEnum::Host);
  filter->SetDeviceIndex(6);
  std::ostringstream printed;
  filter->Print(printed);
  for (const char * const expected : { "Backend", "Host", "DeviceIndex", "6", "Sigma", "NormalizeAcrossScale" })
  {
    EXPECT_NE(printed.str().find(expected), std::string::npos) << expected << " is missing in\n" << printed.str();
  }
  using ITKFilterType = typename TKind::template ITKFilter<ImageType>;
  EXPECT_NE(dynamic_cast<ITKFilterType *>(filter.GetPointer()), nullptr);
  const LightObject::Pointer another = filter->CreateAnother();
  EXPECT_NE(dynamic_cast<FilterType *>(another.GetPointer()), nullptr);
}

} // namespace itk::cuda::test

#endif
