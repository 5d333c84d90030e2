// SPDX-License-Identifier: Apache-2.0
// Gaussian filters with Streaming On in pipelines: which planes they ask for, and the pixels that they give.
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "support/itkCudaPlaneSource.h"
#include "support/itkCudaRunInThreads.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkMeanImageFilter.h"
#include "itkOutputWindow.h"
#include "itkPipelineMonitorImageFilter.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using itk::cuda::test::PlaneSource;
using Backend = itk::CudaFiltersEnums::Backend;
using BoundaryMode = itk::CudaFiltersEnums::BoundaryMode;
using Configuration = itk::CudaFiltersConfiguration;
using Report = itk::CudaSlabReport;
using Streaming = itk::CudaFiltersEnums::Streaming;

using ImageType = itk::Image<float, 3>;
using RegionType = ImageType::RegionType;
using SourceType = PlaneSource<ImageType>;
using SmootherType = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>;

// The first index is not 0: planes count from the image's first one.
const RegionType testRegion({ { 3, -2, 5 } }, { { 6, 5, 600 } });

constexpr double narrow = 4.0; // one chunk of look-ahead
constexpr double wide = 40.0;  // the whole line

/** A filter on the host whose input comes from a source. */
template <typename TFilter>
struct Pipeline
{
  using InputImageType = typename TFilter::InputImageType;

  explicit Pipeline(const typename InputImageType::RegionType & region)
  {
    Source->SetRegion(region);
    Filter->SetInput(Source->GetOutput());
    Filter->SetStreaming(Streaming::On);
    Filter->SetBackend(Backend::Host);
  }

  typename PlaneSource<InputImageType>::Pointer Source = PlaneSource<InputImageType>::New();
  typename TFilter::Pointer                     Filter = TFilter::New();
};

using Smoothing = Pipeline<SmootherType>;

/** The pixels of the image's buffered region. */
template <typename TImage>
std::vector<unsigned char>
GetBytes(const TImage * image)
{
  const auto * const begin = reinterpret_cast<const unsigned char *>(image->GetBufferPointer());
  const size_t       bytes =
    image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel() *
    itk::CudaComponentSize(
      itk::CudaDetail::CudaComponentTraits<typename itk::CudaDetail::CudaImageTraits<TImage>::ComponentType>::Type);
  return { begin, begin + bytes };
}

/** The output as it is made in `divisions` requests, one after the other. */
template <typename TFilter>
std::vector<unsigned char>
MakeInDivisions(TFilter * filter, unsigned int divisions)
{
  using OutputImageType = typename TFilter::OutputImageType;
  const auto streamer = itk::StreamingImageFilter<OutputImageType, OutputImageType>::New();
  streamer->SetInput(filter->GetOutput());
  streamer->SetNumberOfStreamDivisions(divisions);
  streamer->UpdateLargestPossibleRegion();
  return GetBytes(streamer->GetOutput());
}

/** The output of a filter with these parameters whose input is a plain image in memory, in one request. */
template <typename TFilter>
std::vector<unsigned char>
MakeInMemory(const typename TFilter::InputImageType::RegionType & region,
             const std::function<void(TFilter *)> &               setParameters,
             double                                               offset = 0.0)
{
  Pipeline<TFilter> pipeline(region);
  pipeline.Source->SetOffset(offset);
  setParameters(pipeline.Filter);
  pipeline.Source->UpdateLargestPossibleRegion();
  const auto image = pipeline.Source->GetOutput();
  image->DisconnectPipeline();
  pipeline.Filter->SetInput(image);
  pipeline.Filter->UpdateLargestPossibleRegion();
  return GetBytes(pipeline.Filter->GetOutput());
}

std::function<void(SmootherType *)>
SetSigma(double sigma)
{
  return [sigma](SmootherType * filter) { filter->SetSigma(sigma); };
}

RegionType
GetPlanes(itk::IndexValueType first, itk::SizeValueType count)
{
  RegionType region = testRegion;
  region.SetIndex(2, region.GetIndex(2) + first);
  region.SetSize(2, count);
  return region;
}

/** Asks the filter for planes, and compares them with those of `expected`. */
void
ExpectPlanes(SmootherType *                     filter,
             itk::IndexValueType                first,
             itk::SizeValueType                 count,
             const std::vector<unsigned char> & expected)
{
  filter->GetOutput()->SetRequestedRegion(GetPlanes(first, count));
  filter->Update();
  ASSERT_EQ(filter->GetOutput()->GetBufferedRegion(), GetPlanes(first, count));
  const size_t plane = expected.size() / testRegion.GetSize(2);
  const auto   bytes = GetBytes(filter->GetOutput());
  ASSERT_EQ(bytes.size(), count * plane);
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data() + first * plane, bytes.size()), 0)
    << "planes from " << first << " on, " << count;
}

void
ExpectRequestsInAnyOrder(Backend backend)
{
  for (const double sigma : { narrow, 20.0, wide })
  {
    const auto setParameters = [=](SmootherType * filter) {
      filter->SetSigma(sigma);
      filter->SetBackend(backend);
    };
    const auto expected = MakeInMemory<SmootherType>(testRegion, setParameters);
    Smoothing  pipeline(testRegion);
    setParameters(pipeline.Filter);
    const std::pair<itk::IndexValueType, itk::SizeValueType> requests[] = { { 590, 10 },  { 0, 3 },   { 3, 300 },
                                                                            { 256, 128 }, { 100, 1 }, { 290, 310 },
                                                                            { 0, 600 } };
    for (const auto & [first, count] : requests)
    {
      ExpectPlanes(pipeline.Filter, first, count, expected);
    }
  }
}

void
ExpectAllCounts(const std::vector<unsigned int> & counts, unsigned int expected)
{
  for (size_t plane = 0; plane < counts.size(); ++plane)
  {
    ASSERT_EQ(counts[plane], expected) << "plane " << plane;
  }
}

/** Keeps what ITK would print. */
class Window : public itk::OutputWindow
{
public:
  using Self = Window;
  using Superclass = itk::OutputWindow;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);
  itkTypeMacro(Window, OutputWindow);

  void
  DisplayText(const char * text) override
  {
    Text += text;
  }

  std::string Text;
};

class CudaSlabPipeline : public testing::Test
{
protected:
  void
  TearDown() override
  {
    Configuration::SetStreaming(Streaming::Automatic);
  }
};
} // namespace

TEST_F(CudaSlabPipeline, Divisions_change_no_bit_and_each_plane_is_made_once_or_twice)
{
  for (const double sigma : { narrow, wide })
  {
    const auto expected = MakeInMemory<SmootherType>(testRegion, SetSigma(sigma));
    for (const unsigned int divisions : { 1u, 2u, 7u, 16u, 600u })
    {
      SCOPED_TRACE(std::to_string(divisions) + " divisions, sigma " + std::to_string(sigma));
      Smoothing pipeline(testRegion);
      pipeline.Filter->SetSigma(sigma);
      EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), divisions) == expected);
      ExpectAllCounts(pipeline.Source->GetCounts(), sigma == wide ? 2 : 1); // twice where all of a line counts
      const Report & report = pipeline.Filter->GetSlabReport();
      EXPECT_EQ(report.Used, sigma == wide ? Report::TwoSweeps : Report::OneSweep);
      EXPECT_EQ(report.LookAhead, sigma == wide ? 0u : 1u);
      EXPECT_TRUE(report.OnHost);
      EXPECT_EQ(report.NumberOfSlabs, 5u);
      EXPECT_EQ(report.ChunksPerSlab, 1u);
    }
  }
}

TEST_F(CudaSlabPipeline, The_pixels_are_those_of_the_filter_of_ITK)
{
  for (const double sigma : { narrow, wide })
  {
    Smoothing pipeline(testRegion);
    pipeline.Filter->SetSigma(sigma);
    const auto bytes = MakeInDivisions(pipeline.Filter.GetPointer(), 7);
    const auto superclass = itk::SmoothingRecursiveGaussianImageFilter<ImageType>::New();
    superclass->SetInput(pipeline.Source->GetOutput());
    superclass->SetSigma(sigma);
    superclass->UpdateLargestPossibleRegion();
    std::vector<float> pixels(bytes.size() / sizeof(float));
    std::memcpy(pixels.data(), bytes.data(), bytes.size());
    // Rounding of float between the axes, and what is left out beyond the window: 1e-6 each of the largest pixel, 1023.
    double largest = 0.0;
    for (size_t i = 0; i < pixels.size(); ++i)
    {
      largest = std::max(largest, std::abs(double{ pixels[i] } - superclass->GetOutput()->GetBufferPointer()[i]));
    }
    EXPECT_LT(largest, 2e-6 * 1023.0) << "sigma " << sigma;
    EXPECT_GT(largest, 0.0) << "ITK's class is not what is compared";
  }
}

TEST_F(CudaSlabPipeline, Requests_are_chunks_of_planes_along_the_last_axis)
{
  Smoothing  pipeline(testRegion);
  const auto monitor = itk::PipelineMonitorImageFilter<ImageType>::New();
  monitor->SetInput(pipeline.Source->GetOutput());
  pipeline.Filter->SetInput(monitor->GetOutput());
  pipeline.Filter->SetSigma(narrow);
  MakeInDivisions(pipeline.Filter.GetPointer(), 7);
  const auto regions = monitor->GetUpdatedRequestedRegions();
  ASSERT_EQ(regions.size(), 5u);
  for (size_t i = 0; i < regions.size(); ++i)
  {
    EXPECT_EQ(regions[i], GetPlanes(static_cast<itk::IndexValueType>(i * 128), i < 4 ? 128 : 600 - 4 * 128));
  }
  EXPECT_EQ(monitor->GetNumberOfUpdates(), 5u);
  EXPECT_TRUE(monitor->VerifyInputFilterBufferedRequestedRegions());
}

TEST_F(CudaSlabPipeline, Requests_in_any_order_give_the_same_pixels)
{
  ExpectRequestsInAnyOrder(Backend::Host);
}

TEST_F(CudaSlabPipeline, Requests_that_overlap_ask_for_each_plane_once)
{
  const auto expected = MakeInMemory<SmootherType>(testRegion, SetSigma(narrow));
  Smoothing  pipeline(testRegion);
  pipeline.Filter->SetSigma(narrow);
  for (itk::IndexValueType first = 0; first < 600; first += 50)
  {
    // As a neighbourhood of two planes asks.
    const auto begin = std::max<itk::IndexValueType>(first - 2, 0);
    const auto end = std::min<itk::IndexValueType>(first + 52, 600);
    ExpectPlanes(pipeline.Filter, begin, end - begin, expected);
  }
  ExpectAllCounts(pipeline.Source->GetCounts(), 1);
}

TEST_F(CudaSlabPipeline, A_part_of_a_plane_is_enlarged_to_whole_planes)
{
  Smoothing pipeline(testRegion);
  pipeline.Filter->SetSigma(narrow);
  pipeline.Filter->UpdateOutputInformation();
  pipeline.Filter->GetOutput()->SetRequestedRegion(RegionType({ { 4, -1, 105 } }, { { 2, 1, 30 } }));
  pipeline.Filter->GetOutput()->PropagateRequestedRegion();
  EXPECT_EQ(pipeline.Filter->GetOutput()->GetRequestedRegion(), GetPlanes(100, 30));
}

TEST_F(CudaSlabPipeline, An_input_that_is_released_is_made_once_too)
{
  const auto expected = MakeInMemory<SmootherType>(testRegion, SetSigma(narrow));
  Smoothing  pipeline(testRegion);
  pipeline.Source->GetOutput()->ReleaseDataFlagOn();
  pipeline.Filter->SetSigma(narrow);
  EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 30) == expected);
  ExpectAllCounts(pipeline.Source->GetCounts(), 1);
  EXPECT_EQ(pipeline.Source->GetOutput()->GetBufferedRegion().GetNumberOfPixels(), 0u);
}

TEST_F(CudaSlabPipeline, No_planes_of_the_input_are_held_that_the_filter_has)
{
  const auto expected = MakeInMemory<SmootherType>(testRegion, SetSigma(narrow));
  Smoothing  pipeline(testRegion);
  pipeline.Filter->SetSigma(narrow);
  const auto isEmpty = [&] { return pipeline.Source->GetOutput()->GetBufferedRegion().GetNumberOfPixels() == 0; };
  ExpectPlanes(pipeline.Filter, 0, 200, expected);
  EXPECT_TRUE(isEmpty());
  ExpectPlanes(pipeline.Filter, 200, 50, expected);
  EXPECT_TRUE(isEmpty());
  EXPECT_EQ(pipeline.Source->GetCounts()[384], 0u) << "nobody needs this chunk yet";
  ExpectPlanes(pipeline.Filter, 250, 250, expected);
  EXPECT_TRUE(isEmpty());
  ExpectAllCounts(pipeline.Source->GetCounts(), 1);
  ExpectPlanes(pipeline.Filter, 500, 50, expected);
  ExpectPlanes(pipeline.Filter, 540, 60, expected);
  ExpectAllCounts(pipeline.Source->GetCounts(), 1);
}

TEST_F(CudaSlabPipeline, Filters_in_a_chain_ask_for_each_plane_once)
{
  Smoothing  pipeline(testRegion);
  const auto second = SmootherType::New();
  second->SetInput(pipeline.Filter->GetOutput());
  second->SetStreaming(Streaming::On);
  second->SetBackend(Backend::Host);
  second->SetSigma(20.0);
  pipeline.Filter->SetSigma(narrow);
  const auto expected = MakeInDivisions(second.GetPointer(), 1);
  pipeline.Source->Modified();
  pipeline.Source->ResetCounts();
  EXPECT_TRUE(MakeInDivisions(second.GetPointer(), 9) == expected);
  ExpectAllCounts(pipeline.Source->GetCounts(), 1);
}

/** It is asked for no planes where the request needs none at first. */
TEST_F(CudaSlabPipeline, A_filter_with_a_neighbourhood_makes_the_input)
{
  for (const itk::SizeValueType radius : { 0, 2 })
  {
    Smoothing  pipeline(testRegion);
    const auto mean = itk::MeanImageFilter<ImageType, ImageType>::New();
    mean->SetInput(pipeline.Source->GetOutput());
    mean->SetRadius({ { 1, 1, radius } });
    pipeline.Filter->SetInput(mean->GetOutput());
    pipeline.Filter->SetSigma(narrow);
    const auto expected = MakeInDivisions(pipeline.Filter.GetPointer(), 1);
    mean->Modified();
    pipeline.Source->ResetCounts();
    EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 16) == expected) << "radius " << radius;
    const auto & counts = pipeline.Source->GetCounts();
    EXPECT_EQ(counts[64], 1u);
    EXPECT_EQ(counts[127], radius == 0 ? 1u : 2u) << "a plane at a seam of two requests";
    EXPECT_EQ(counts.back(), 1u);
  }
}

TEST_F(CudaSlabPipeline, What_is_changed_between_two_requests_counts)
{
  Smoothing pipeline(testRegion);
  pipeline.Filter->SetSigma(narrow);
  ExpectPlanes(pipeline.Filter, 0, 200, MakeInMemory<SmootherType>(testRegion, SetSigma(narrow)));
  pipeline.Filter->SetSigma(5.0);
  ExpectPlanes(pipeline.Filter, 200, 200, MakeInMemory<SmootherType>(testRegion, SetSigma(5.0)));
  pipeline.Source->SetOffset(1000.0);
  ExpectPlanes(pipeline.Filter, 400, 200, MakeInMemory<SmootherType>(testRegion, SetSigma(5.0), 1000.0));
}

TEST_F(CudaSlabPipeline, An_exception_of_the_source_goes_on_and_the_next_run_is_right)
{
  for (const double sigma : { narrow, wide })
  {
    const auto expected = MakeInMemory<SmootherType>(testRegion, SetSigma(sigma));
    Smoothing  pipeline(testRegion);
    pipeline.Filter->SetSigma(sigma);
    pipeline.Source->SetBadPlane(300);
    ExpectContains(GetException([&] { MakeInDivisions(pipeline.Filter.GetPointer(), 7); }), "plane 300 cannot be read");
    pipeline.Source->SetBadPlane(-1);
    EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 7) == expected) << "sigma " << sigma;
  }
}

TEST_F(CudaSlabPipeline, A_run_is_aborted_at_any_chunk_and_the_next_one_is_right)
{
  for (const double sigma : { narrow, wide })
  {
    const auto   expected = MakeInMemory<SmootherType>(testRegion, SetSigma(sigma));
    bool         wasAborted = true;
    unsigned int n = 0;
    for (; wasAborted && n < 200; ++n)
    {
      Smoothing pipeline(testRegion);
      pipeline.Filter->SetSigma(sigma);
      unsigned int left = n; // reports before the one that aborts
      const auto   tag = pipeline.Filter->AddObserver(itk::ProgressEvent(), [&](const itk::EventObject &) {
        left-- == 0 ? pipeline.Filter->AbortGenerateDataOn() : void();
      });
      wasAborted = false;
      try
      {
        EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 3) == expected);
      }
      catch (const itk::ProcessAborted &)
      {
        wasAborted = true;
      }
      pipeline.Filter->RemoveObserver(tag);
      EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 3) == expected)
        << "sigma " << sigma << ", report " << n;
    }
    EXPECT_GT(n, 10u) << "a report for each of five chunks that came, and one for each that was filtered";
    EXPECT_LT(n, 200u);
  }
}

TEST_F(CudaSlabPipeline, A_session_that_nobody_finishes_ends_with_its_filter)
{
  Smoothing pipeline(testRegion);
  pipeline.Filter->SetSigma(narrow);
  pipeline.Filter->UpdateOutputInformation();
  pipeline.Filter->GetOutput()->SetRequestedRegion(GetPlanes(0, 10));
  pipeline.Filter->Update();
  EXPECT_LT(pipeline.Source->GetCounts().back(), 1u);
}

TEST_F(CudaSlabPipeline, A_source_that_gives_all_at_once_is_told)
{
  const auto window = Window::New();
  const auto former = itk::OutputWindow::GetInstance();
  itk::OutputWindow::SetInstance(window);
  const auto expected = MakeInMemory<SmootherType>(testRegion, SetSigma(narrow));
  Smoothing  pipeline(testRegion);
  pipeline.Source->SetWhole(true);
  pipeline.Filter->SetSigma(narrow);
  EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 7) == expected);
  itk::OutputWindow::SetInstance(former);
  ExpectAllCounts(pipeline.Source->GetCounts(), 1);
  ExpectContains(window->Text, "PlaneSource gives the whole image, 72000 bytes, where 128 planes are asked for");
  EXPECT_EQ(window->Text.find("whole image"), window->Text.rfind("whole image")) << "once";
}

namespace
{
/** Divisions of a filter of another kind, or other images. */
template <typename TFilter>
void
ExpectSameInDivisions(const typename TFilter::InputImageType::RegionType & region,
                      const std::function<void(TFilter *)> &               setParameters,
                      unsigned int                                         times = 1)
{
  const auto        expected = MakeInMemory<TFilter>(region, setParameters);
  Pipeline<TFilter> pipeline(region);
  setParameters(pipeline.Filter);
  EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 7) == expected) << pipeline.Filter->GetNameOfClass();
  ExpectAllCounts(pipeline.Source->GetCounts(), times);
}

template <template <typename, typename> class TFilter, typename TInput, typename TOutput = TInput>
void
ExpectSameForSigma(const typename TInput::RegionType & region, double sigma, unsigned int times)
{
  using FilterType = TFilter<TInput, TOutput>;
  ExpectSameInDivisions<FilterType>(
    region, [sigma](FilterType * filter) { filter->SetSigma(sigma); }, times);
}
} // namespace

/** The contract suite cuts the images of all filters, and itkCudaSlabRunsGTest.cxx their plans. Here is how often
 * planes are made, with a converted input and with several components. */
TEST_F(CudaSlabPipeline, Other_types_stream)
{
  using ShortType = itk::Image<short, 3>;
  using GradientType = itk::Image<itk::CovariantVector<float, 3>, 3>;
  for (const auto & [sigma, times] : { std::pair(2.0, 1u), std::pair(wide, 2u) })
  {
    ExpectSameForSigma<itk::CudaSmoothingRecursiveGaussianImageFilter, ShortType>(testRegion, sigma, times);
    ExpectSameForSigma<itk::CudaGradientRecursiveGaussianImageFilter, ImageType, GradientType>(
      testRegion, sigma, times);
  }
}

TEST_F(CudaSlabPipeline, Passes_along_one_axis_stream)
{
  using FilterType = itk::CudaRecursiveGaussianImageFilter<ImageType>;
  for (unsigned int direction = 0; direction < 3; ++direction)
  {
    ExpectSameInDivisions<FilterType>(testRegion, [direction](FilterType * filter) {
      filter->SetDirection(direction);
      filter->SetSigma(2.5);
      filter->SetFirstOrder();
    });
  }
}

TEST_F(CudaSlabPipeline, Images_of_two_dimensions_stream_in_rows)
{
  using PlaneType = itk::Image<float, 2>;
  ExpectSameForSigma<itk::CudaSmoothingRecursiveGaussianImageFilter, PlaneType>(
    { { { 0, 0 } }, { { 37, 700 } } }, narrow, 1);
  ExpectSameForSigma<itk::CudaSmoothingRecursiveGaussianImageFilter, ImageType>(
    { { { 0, 0, 7 } }, { { 37, 700, 4 } } }, 1.0, 1);
}

TEST_F(CudaSlabPipeline, Other_boundary_modes_stream)
{
  for (const char * const mode : { "reflect", "mirror", "constant" })
  {
    for (const double sigma : { narrow, wide })
    {
      const auto setParameters = [mode, sigma](SmootherType * filter) {
        filter->SetSigma(sigma);
        filter->SetBoundaryMode(mode);
        filter->SetBoundaryValue(500.0);
      };
      const auto expected = MakeInMemory<SmootherType>(testRegion, setParameters);
      const auto inPlace = MakeInMemory<SmootherType>(testRegion, [&](SmootherType * filter) {
        setParameters(filter);
        filter->InPlaceOn();
      });
      EXPECT_TRUE(inPlace == expected) << mode << " in place";
      Smoothing pipeline(testRegion);
      setParameters(pipeline.Filter);
      EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), 7) == expected) << mode;
      // Once in a sweep at most; planes that continue the image may need both sweeps of it.
      for (const unsigned int count : pipeline.Source->GetCounts())
      {
        ASSERT_TRUE(count == 1 || (count == 2 && sigma == wide)) << mode << ", sigma " << sigma;
      }
    }
  }
}

namespace
{
/** The same on the device. */
class CudaSlabPipelineGpu : public itk::cuda::test::GpuTest
{
protected:
  void
  TearDown() override
  {
    Configuration::SetDeviceMemoryLimit(0);
  }
};

constexpr size_t mebibyte = size_t{ 1 } << 20;

/** Larger than the images of the host's tests: limits of memory leave room for chunks. */
const RegionType deviceRegion({ { 3, -2, 5 } }, { { 64, 40, 1500 } }); // 14.6 MiB
} // namespace

TEST_F(CudaSlabPipelineGpu, Divisions_give_the_bits_of_the_whole_image)
{
  for (const double sigma : { narrow, 30.0, wide })
  {
    Smoothing whole(deviceRegion);
    whole.Filter->SetSigma(sigma);
    whole.Filter->SetStreaming(Streaming::Off);
    whole.Filter->SetBackend(Backend::Cuda);
    whole.Filter->UpdateLargestPossibleRegion();
    const auto expected = GetBytes(whole.Filter->GetOutput());
    for (const unsigned int divisions : { 1u, 2u, 7u, 16u })
    {
      Smoothing pipeline(deviceRegion);
      pipeline.Filter->SetSigma(sigma);
      pipeline.Filter->SetBackend(Backend::Cuda);
      EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), divisions) == expected)
        << divisions << " divisions, sigma " << sigma;
      ExpectAllCounts(pipeline.Source->GetCounts(), sigma == wide ? 2 : 1);
      EXPECT_EQ(pipeline.Filter->GetSlabReport().Used, sigma == wide ? Report::TwoSweeps : Report::OneSweep);
      EXPECT_FALSE(pipeline.Filter->GetSlabReport().OnHost);
    }
  }
}

// The engine takes 16 MiB at a time: 81 planes of a chunk of 128. It takes them before it filters them.
TEST_F(CudaSlabPipelineGpu, Planes_of_which_a_chunk_comes_in_pieces_are_made_once)
{
  const RegionType region({ { 0, 0, 0 } }, { { 256, 200, 640 } });
  for (const unsigned int divisions : { 1u, 3u, 5u, 20u })
  {
    Smoothing pipeline(region);
    pipeline.Filter->SetSigma(narrow);
    pipeline.Filter->SetBackend(Backend::Cuda);
    MakeInDivisions(pipeline.Filter.GetPointer(), divisions);
    SCOPED_TRACE(std::to_string(divisions) + " divisions");
    ExpectAllCounts(pipeline.Source->GetCounts(), 1);
  }
}

TEST_F(CudaSlabPipelineGpu, Requests_in_any_order_give_the_same_pixels)
{
  ExpectRequestsInAnyOrder(Backend::Cuda);
}

TEST_F(CudaSlabPipelineGpu, An_image_that_does_not_fit_runs_in_slabs)
{
  Smoothing whole(deviceRegion);
  whole.Filter->SetSigma(narrow);
  whole.Filter->SetStreaming(Streaming::Off);
  whole.Filter->SetBackend(Backend::Cuda);
  whole.Filter->UpdateLargestPossibleRegion();
  Smoothing limited(deviceRegion);
  limited.Filter->SetSigma(narrow);
  limited.Filter->SetStreaming(Streaming::Automatic);
  limited.Filter->SetBackend(Backend::Cuda);
  limited.Filter->SetDeviceMemoryLimit(12 * mebibyte);
  limited.Filter->UpdateLargestPossibleRegion();
  EXPECT_TRUE(GetBytes(limited.Filter->GetOutput()) == GetBytes(whole.Filter->GetOutput()));
  const Report & report = limited.Filter->GetSlabReport();
  EXPECT_EQ(report.Used, Report::OneSweep) << report;
  EXPECT_LE(report.PeakDeviceBytes, 12 * mebibyte) << report;
  EXPECT_EQ(report.BytesDown, GetBytes(whole.Filter->GetOutput()).size()) << report;
  limited.Filter->SetStreaming(Streaming::Off);
  EXPECT_THROW(limited.Filter->UpdateLargestPossibleRegion(), itk::CudaError);
  limited.Filter->SetBackend(Backend::Automatic);
  limited.Filter->UpdateLargestPossibleRegion();
  EXPECT_EQ(limited.Filter->GetBackendUsed(), Backend::Host);
}

TEST_F(CudaSlabPipelineGpu, Convolution_runs_in_slabs)
{
  using FilterType = itk::CudaDiscreteGaussianImageFilter<ImageType>;
  Pipeline<FilterType> whole(deviceRegion);
  Pipeline<FilterType> limited(deviceRegion);
  for (Pipeline<FilterType> * const pipeline : { &whole, &limited })
  {
    pipeline->Filter->SetVariance(9.0);
    pipeline->Filter->SetStreaming(pipeline == &whole ? Streaming::Off : Streaming::Automatic);
    pipeline->Filter->SetBackend(Backend::Cuda);
    pipeline->Filter->SetDeviceMemoryLimit(pipeline == &whole ? 0 : 6 * mebibyte);
    pipeline->Filter->UpdateLargestPossibleRegion();
  }
  EXPECT_TRUE(GetBytes(limited.Filter->GetOutput()) == GetBytes(whole.Filter->GetOutput()));
  EXPECT_EQ(limited.Filter->GetSlabReport().Used, Report::OneSweep) << limited.Filter->GetSlabReport();
  EXPECT_GT(limited.Filter->GetSlabReport().NumberOfSlabs, 4u) << limited.Filter->GetSlabReport();
  EXPECT_EQ(whole.Filter->GetSlabReport().Used, Report::Whole) << whole.Filter->GetSlabReport();
}

/** Slabs are dealt to the devices of the filter, with the bits of the whole: those of requests, of an image that does
 * not fit, and parts of a convolution. A filter that does not cut its image runs on the first one. */
TEST_F(CudaSlabPipelineGpu, Filters_deal_slabs_to_their_devices)
{
  using ConvolutionType = itk::CudaDiscreteGaussianImageFilter<ImageType>;
  Smoothing                 smoothed(deviceRegion);
  Pipeline<ConvolutionType> convolved(deviceRegion);
  smoothed.Filter->SetSigma(narrow);
  convolved.Filter->SetVariance(9.0);
  const auto runWhole = [](auto & pipeline, const std::vector<int> & devices) {
    pipeline.Filter->SetStreaming(Streaming::Off);
    pipeline.Filter->SetBackend(Backend::Cuda);
    pipeline.Filter->SetDevices(devices);
    pipeline.Filter->UpdateLargestPossibleRegion();
    EXPECT_EQ(pipeline.Filter->GetSlabReport().Devices, std::vector<int>{ 0 });
    return GetBytes(pipeline.Filter->GetOutput());
  };
  const auto smoothedBytes = runWhole(smoothed, { 0, 0 });
  const auto convolvedBytes = runWhole(convolved, { 0, 0 });
  for (const std::vector<int> & devices : { std::vector<int>{ 0, 0 }, { 0, 0, 0 } })
  {
    for (const unsigned int divisions : { 1u, 7u })
    {
      Smoothing pipeline(deviceRegion);
      pipeline.Filter->SetSigma(narrow);
      pipeline.Filter->SetBackend(Backend::Cuda);
      pipeline.Filter->SetDevices(devices);
      EXPECT_TRUE(MakeInDivisions(pipeline.Filter.GetPointer(), divisions) == smoothedBytes);
      ExpectAllCounts(pipeline.Source->GetCounts(), 1);
      EXPECT_EQ(pipeline.Filter->GetSlabReport().Devices, devices);
      EXPECT_GT(pipeline.Filter->GetSlabReport().BytesBetween, 0u);
    }
    const auto runLimited = [&devices](auto & pipeline, const auto & expected) {
      pipeline.Filter->SetStreaming(Streaming::Automatic);
      pipeline.Filter->SetDeviceMemoryLimit(13 * mebibyte);
      pipeline.Filter->SetDevices(devices);
      pipeline.Filter->UpdateLargestPossibleRegion();
      const Report & report = pipeline.Filter->GetSlabReport();
      EXPECT_TRUE(GetBytes(pipeline.Filter->GetOutput()) == expected) << report;
      EXPECT_EQ(report.Devices, devices) << report;
      EXPECT_LE(report.PeakDeviceBytes, 13 * mebibyte) << report;
    };
    runLimited(smoothed, smoothedBytes);
    runLimited(convolved, convolvedBytes);
  }
}

TEST_F(CudaSlabPipelineGpu, Threads_whose_images_fit_one_at_a_time_all_finish)
{
  constexpr unsigned int numberOfThreads = 4;
  const RegionType       region({ { 0, 0, 0 } }, { { 256, 256, 256 } }); // two images: 128 MiB
  Configuration::SetDeviceMemoryLimit(220 * mebibyte);
  const auto                              expected = MakeInMemory<SmootherType>(region, [](SmootherType * filter) {
    filter->SetSigma(narrow);
    filter->SetStreaming(Streaming::Off);
    filter->SetBackend(Backend::Cuda);
  });
  std::vector<std::unique_ptr<Smoothing>> pipelines;
  for (unsigned int t = 0; t < numberOfThreads; ++t)
  {
    pipelines.push_back(std::make_unique<Smoothing>(region));
    pipelines.back()->Filter->SetSigma(narrow);
    pipelines.back()->Filter->SetStreaming(Streaming::Off);
    pipelines.back()->Filter->SetBackend(Backend::Cuda);
    pipelines.back()->Source->UpdateLargestPossibleRegion();
  }
  itk::cuda::test::RunInThreads(numberOfThreads, [&](unsigned int t) -> std::string {
    for (unsigned int run = 0; run < 3; ++run)
    {
      pipelines[t]->Filter->Modified();
      pipelines[t]->Filter->UpdateLargestPossibleRegion();
    }
    return GetBytes(pipelines[t]->Filter->GetOutput()) == expected ? "" : "other bits than alone";
  });
}

TEST_F(CudaSlabPipeline, Off_and_automatic_take_the_whole_image)
{
  for (const Streaming streaming : { Streaming::Off, Streaming::Automatic })
  {
    Smoothing pipeline(testRegion);
    pipeline.Filter->SetStreaming(streaming);
    MakeInDivisions(pipeline.Filter.GetPointer(), 7);
    ExpectAllCounts(pipeline.Source->GetCounts(), 1);
    EXPECT_EQ(pipeline.Source->GetOutput()->GetBufferedRegion(), testRegion);
    EXPECT_EQ(pipeline.Filter->GetOutput()->GetBufferedRegion(), testRegion);
    EXPECT_EQ(pipeline.Filter->GetSlabReport().Used, Report::Whole);
  }
}

TEST_F(CudaSlabPipeline, Streaming_of_the_configuration_holds_for_filters_without_their_own)
{
  Configuration::SetStreaming("on");
  Smoothing pipeline(testRegion);
  pipeline.Filter->SetStreaming(Streaming::Automatic);
  MakeInDivisions(pipeline.Filter.GetPointer(), 7);
  EXPECT_LT(pipeline.Source->GetOutput()->GetBufferedRegion().GetSize(2), 600u);
  pipeline.Filter->SetStreaming("off");
  MakeInDivisions(pipeline.Filter.GetPointer(), 7);
  EXPECT_EQ(pipeline.Source->GetOutput()->GetBufferedRegion().GetSize(2), 600u);
}

TEST_F(CudaSlabPipeline, What_cannot_be_cut_is_refused_unless_the_configuration_asks_for_it)
{
  Smoothing  pipeline(testRegion);
  const auto mask = SmootherType::MaskImageType::New();
  mask->SetRegions(testRegion);
  mask->Allocate();
  mask->FillBuffer(1);
  pipeline.Filter->SetValidMask(mask);
  ExpectContains(GetException([&] { pipeline.Filter->Update(); }),
                 "Streaming is On, but the image cannot be cut into slabs: a mask needs the whole image; it must be "
                 "Automatic or Off");
  pipeline.Filter->SetValidMask(nullptr);
  pipeline.Filter->SetBoundaryMode(BoundaryMode::Wrap);
  ExpectContains(GetException([&] { pipeline.Filter->Update(); }), "Streaming is On, but");
  Configuration::SetStreaming(Streaming::On);
  pipeline.Filter->SetStreaming(Streaming::Automatic);
  EXPECT_NO_THROW(pipeline.Filter->Update());
  EXPECT_EQ(pipeline.Filter->GetSlabReport().Used, Report::Whole);
}
