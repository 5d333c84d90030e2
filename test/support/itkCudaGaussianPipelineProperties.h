// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianPipelineProperties_h
#define itkCudaGaussianPipelineProperties_h

#include "itkCommand.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkImageRegionSplitterBase.h"
#include "itkPipelineMonitorImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <sstream>
#include <thread>

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

template <typename TKind>
void
Expect_a_requested_part_has_the_bits_of_the_whole(BackendEnum backend)
{
  using ImageType = Image<float, 3>;
  const auto            largest = MakeShiftedRegion<3>({ { 33, 29, 21 } });
  const auto            input = MakeDataImage<ImageType>(largest, DataKind::SmallOffset);
  ImageType::RegionType part({ { 11, -3, 9 } }, { { 13, 5, 7 } });
  for (unsigned int variant = 0; variant < TKind::NumberOfVariants(3); ++variant)
  {
    const auto whole = FilterWhole<TKind>(input.GetPointer(), backend, variant);
    auto       filter = MakeFilter<TKind>(input.GetPointer(), backend, variant);
    filter->GetOutput()->SetRequestedRegion(part);
    filter->Update();
    EXPECT_EQ(filter->GetBackendUsed(), backend);
    EXPECT_TRUE(filter->GetOutput()->GetBufferedRegion().IsInside(part));
    ImageRegionConstIteratorWithIndex<ImageType> it(filter->GetOutput(), filter->GetOutput()->GetBufferedRegion());
    size_t                                       different = 0;
    for (; !it.IsAtEnd(); ++it)
    {
      different += it.Get() != whole->GetPixel(it.GetIndex());
    }
    EXPECT_EQ(different, 0u) << "variant " << variant;
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

template <typename TKind>
void
Expect_in_place_gives_the_same_bits_in_the_inputs_memory(BackendEnum backend)
{
  using ImageType = Image<float, 3>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<3>({ { 31, 18, 11 } }), DataKind::SmallOffset);
  for (unsigned int variant = 0; variant < TKind::NumberOfVariants(3); ++variant)
  {
    const auto          expected = FilterWhole<TKind>(input.GetPointer(), backend, variant);
    const auto          consumed = Duplicate(input.GetPointer());
    const float * const memory = consumed->GetBufferPointer();
    auto                filter = MakeFilter<TKind>(consumed.GetPointer(), backend, variant);
    filter->InPlaceOn();
    UpdateOn(filter.GetPointer(), backend);
    EXPECT_TRUE(HasSameBits<ImageType>(filter->GetOutput(), expected)) << "variant " << variant;
    EXPECT_EQ(filter->GetOutput()->GetBufferPointer(), memory) << "variant " << variant;
  }
}

template <typename TKind>
void
Expect_not_in_place_leaves_the_input_alone(BackendEnum backend)
{
  using ImageType = Image<float, 2>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 65, 33 } }), DataKind::Uniform);
  const auto copy = Duplicate(input.GetPointer());
  auto       filter = MakeFilter<TKind>(input.GetPointer(), backend, 0);
  filter->InPlaceOff();
  UpdateOn(filter.GetPointer(), backend);
  EXPECT_TRUE(HasSameBits(input.GetPointer(), copy.GetPointer()));
  EXPECT_NE(filter->GetOutput()->GetBufferPointer(), input->GetBufferPointer());
}

/** Verifies that a buffer that the user gave to the output is used if it is large enough, and that nothing is written
 * behind it. */
template <typename TKind>
void
Expect_the_users_output_buffer_is_kept(BackendEnum backend)
{
  using ImageType = Image<float, 2>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 65, 33 } }), DataKind::Uniform);
  const auto expected = FilterWhole<TKind>(input.GetPointer(), backend, 0);
  auto       filter = MakeFilter<TKind>(input.GetPointer(), backend, 0);
  const PoisonedOutput<ImageType> poisoned(filter->GetOutput(), 65 * 33);
  UpdateOn(filter.GetPointer(), backend);
  EXPECT_TRUE(poisoned.IsUsed());
  EXPECT_TRUE(poisoned.IsIntact());
  EXPECT_TRUE(HasSameBits<ImageType>(filter->GetOutput(), expected));
}

/** The progress that a user observes while a filter runs. */
struct ProgressRecord
{
  std::vector<float> Values;
  bool               OnlyCallingThread{ true };
  std::thread::id    CallingThread{ std::this_thread::get_id() };
};

/** Records progress. When it exceeds `abortAt`, the observer asks the filter to abort. */
inline unsigned long
ObserveProgress(ProcessObject * filter, ProgressRecord & record, float abortAt = 2.0F)
{
  auto command = CStyleCommand::New();
  struct Context
  {
    ProgressRecord * Record;
    float            AbortAt;
  };
  auto * const context = new Context{ &record, abortAt };
  command->SetClientData(context);
  command->SetClientDataDeleteCallback([](void * data) { delete static_cast<Context *>(data); });
  command->SetCallback([](Object * caller, const EventObject &, void * data) {
    auto * const process = static_cast<ProcessObject *>(caller);
    auto * const seen = static_cast<Context *>(data);
    seen->Record->Values.push_back(process->GetProgress());
    seen->Record->OnlyCallingThread &= std::this_thread::get_id() == seen->Record->CallingThread;
    if (process->GetProgress() > seen->AbortAt)
    {
      process->AbortGenerateDataOn();
    }
  });
  return filter->AddObserver(ProgressEvent(), command);
}

template <typename TKind>
void
Expect_progress_rises_to_one_in_the_calling_thread(BackendEnum backend)
{
  using ImageType = Image<float, 3>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<3>({ { 65, 33, 31 } }), DataKind::Uniform);
  for (unsigned int variant = 0; variant < TKind::NumberOfVariants(3); ++variant)
  {
    auto           filter = MakeFilter<TKind>(input.GetPointer(), backend, variant);
    ProgressRecord record;
    ObserveProgress(filter, record);
    UpdateOn(filter.GetPointer(), backend);
    ASSERT_GE(record.Values.size(), 2u);
    EXPECT_TRUE(record.OnlyCallingThread);
    EXPECT_TRUE(std::is_sorted(record.Values.begin(), record.Values.end()));
    EXPECT_GE(record.Values.front(), 0.0F);
    EXPECT_EQ(record.Values.back(), 1.0F);
    EXPECT_EQ(filter->GetProgress(), 1.0F);
  }
}

template <typename TKind>
void
Expect_an_aborted_filter_throws_and_runs_again(BackendEnum backend)
{
  using ImageType = Image<float, 3>;
  const auto     input = MakeDataImage<ImageType>(MakeShiftedRegion<3>({ { 65, 33, 31 } }), DataKind::Uniform);
  const auto     expected = FilterWhole<TKind>(input.GetPointer(), backend, 0);
  auto           filter = MakeFilter<TKind>(input.GetPointer(), backend, 0);
  ProgressRecord record;
  const auto     observer = ObserveProgress(filter, record, -1.0F);
  EXPECT_THROW(filter->Update(), ProcessAborted);
  ASSERT_FALSE(record.Values.empty());
  filter->RemoveObserver(observer);
  ASSERT_NO_THROW(filter->UpdateLargestPossibleRegion());
  EXPECT_TRUE(HasSameBits<ImageType>(filter->GetOutput(), expected));
}

template <typename TKind>
void
Expect_threads_get_the_bits_of_one_thread(BackendEnum backend, unsigned int numberOfThreads)
{
  using ImageType = Image<float, 2>;
  constexpr unsigned int                       Repetitions = 4;
  std::vector<ImageType::Pointer>              inputs(numberOfThreads);
  std::vector<ImageType::Pointer>              expected(numberOfThreads);
  std::vector<std::vector<ImageType::Pointer>> outputs(numberOfThreads);
  std::vector<std::string>                     failures(numberOfThreads);
  for (unsigned int t = 0; t < numberOfThreads; ++t)
  {
    inputs[t] = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 257 + t, 129 } }), DataKind::SmallOffset, 1.0 + t);
    expected[t] = FilterWhole<TKind>(inputs[t].GetPointer(), backend, t % TKind::NumberOfVariants(2), 3.0 + t);
  }
  std::vector<std::thread> threads;
  for (unsigned int t = 0; t < numberOfThreads; ++t)
  {
    threads.emplace_back([&, t] {
      try
      {
        for (unsigned int i = 0; i < Repetitions; ++i)
        {
          auto filter = MakeFilter<TKind>(inputs[t].GetPointer(), backend, t % TKind::NumberOfVariants(2), 3.0 + t);
          filter->Update();
          outputs[t].push_back(filter->GetOutput());
          outputs[t].back()->DisconnectPipeline();
        }
      }
      catch (const std::exception & error)
      {
        failures[t] = error.what();
      }
    });
  }
  for (unsigned int t = 0; t < numberOfThreads; ++t)
  {
    threads[t].join();
    EXPECT_EQ(failures[t], "");
    EXPECT_EQ(outputs[t].size(), Repetitions);
    for (const auto & output : outputs[t])
    {
      EXPECT_TRUE(HasSameBits(output.GetPointer(), expected[t].GetPointer())) << "thread " << t;
    }
  }
}

/** Gives an image a rotated direction, an anisotropic spacing and an origin other than zero. */
template <typename TImage>
void
SetUnusualGeometry(TImage * image)
{
  typename TImage::SpacingType   spacing;
  typename TImage::PointType     origin;
  typename TImage::DirectionType direction;
  direction.SetIdentity();
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    spacing[d] = 0.4 + 0.7 * d;
    origin[d] = -12.5 + 100.25 * d;
  }
  direction[0][0] = direction[1][1] = 0.8;
  direction[0][1] = -0.6;
  direction[1][0] = 0.6;
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(direction);
}

template <typename TKind>
void
Expect_geometry_is_kept_and_sigma_is_in_physical_units(BackendEnum backend)
{
  using ImageType = Image<float, 3>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<3>({ { 33, 31, 29 } }), DataKind::SmallOffset);
  SetUnusualGeometry(input.GetPointer());
  for (unsigned int variant = 0; variant < TKind::NumberOfVariants(3); ++variant)
  {
    const auto output = FilterWhole<TKind>(input.GetPointer(), backend, variant);
    EXPECT_EQ(output->GetSpacing(), input->GetSpacing());
    EXPECT_EQ(output->GetOrigin(), input->GetOrigin());
    EXPECT_EQ(output->GetDirection(), input->GetDirection());
    EXPECT_EQ(output->GetLargestPossibleRegion(), input->GetLargestPossibleRegion());
    EXPECT_TRUE(IsAccurate(output.GetPointer(), input.GetPointer(), TKind::Passes(input.GetPointer(), variant)));
  }
}

/** Verifies that the next Update() sees changes of the input, of the input's values only, and of the parameters. */
template <typename TKind>
void
Expect_the_next_update_sees_what_changed(BackendEnum backend)
{
  using ImageType = Image<float, 2>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 33, 31 } }), DataKind::SmallOffset);
  auto       filter = MakeFilter<TKind>(input.GetPointer(), backend, 0);
  UpdateOn(filter.GetPointer(), backend);
  input->FillBuffer(0.0F);
  input->SetPixel({ { 11, 3 } }, 100.0F);
  input->Modified();
  UpdateOn(filter.GetPointer(), backend);
  EXPECT_TRUE(IsAccurate(filter->GetOutput(), input.GetPointer(), TKind::Passes(input.GetPointer(), 0)));
  TKind::SetParameters(filter.GetPointer(), 0, 4.0);
  UpdateOn(filter.GetPointer(), backend);
  EXPECT_TRUE(IsAccurate(filter->GetOutput(), input.GetPointer(), TKind::Passes(input.GetPointer(), 0, 4.0)));
  const auto other = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 40, 9 } }), DataKind::Ramp);
  filter->SetInput(other);
  UpdateOn(filter.GetPointer(), backend);
  EXPECT_EQ(filter->GetOutput()->GetBufferedRegion(), other->GetBufferedRegion());
  EXPECT_TRUE(IsAccurate(filter->GetOutput(), other.GetPointer(), TKind::Passes(other.GetPointer(), 0, 4.0)));
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
Expect_backend_and_device_setters_work()
{
  using FilterType = typename TKind::template CudaFilter<Image<float, 2>>;
  auto filter = FilterType::New();
  EXPECT_EQ(filter->GetBackend(), BackendEnum::Automatic);
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Automatic);
  EXPECT_EQ(filter->GetDeviceIndex(), -1);
  Expect_setter_modifies_only_on_change(filter.GetPointer(), [&] { filter->SetBackend(BackendEnum::Cuda); });
  EXPECT_EQ(filter->GetBackend(), BackendEnum::Cuda);
  Expect_setter_modifies_only_on_change(filter.GetPointer(), [&] { filter->SetBackend("hOsT"); });
  EXPECT_EQ(filter->GetBackend(), BackendEnum::Host);
  Expect_setter_modifies_only_on_change(filter.GetPointer(), [&] { filter->SetDeviceIndex(3); });
  EXPECT_EQ(filter->GetDeviceIndex(), 3);
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

/** Verifies what the filter reports about where it ran. */
template <typename TKind>
void
Expect_the_backend_used_and_its_reason_are_told()
{
  using ImageType = Image<float, 2>;
  const auto input = MakeDataImage<ImageType>(MakeShiftedRegion<2>({ { 33, 31 } }), DataKind::Uniform);
  auto       filter = MakeFilter<TKind>(input.GetPointer(), BackendEnum::Host, 0);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  EXPECT_NE(filter->GetBackendReason(), "");
  std::string reason;
  const bool  usable = CudaFiltersConfiguration::IsDeviceUsable(-1, reason);
  filter->SetBackend(BackendEnum::Automatic);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), usable ? BackendEnum::Cuda : BackendEnum::Host) << filter->GetBackendReason();
  EXPECT_NE(filter->GetBackendReason(), "");
  EXPECT_NE(filter->GetBackendReason(), "not run yet");
}
} // namespace itk::cuda::test

#endif
