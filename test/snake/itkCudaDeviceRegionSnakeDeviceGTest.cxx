// SPDX-License-Identifier: Apache-2.0

// The region snake of device images: contour, record, statistics, labels and exceptions of images of the host, bit for
// bit and word for word; in chains and threads; what follows from failures.

#include "itkCommand.h"
#include "runtime/device/Device.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaHeldStream.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "snake/itkCudaSnakeImageTestCase.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkCudaUploadImageFilter.h"
#include "itkImage.h"

#include <chrono>
#include <memory>
#include <thread>

namespace
{
using namespace itk;
using namespace itk::cuda;
using namespace itk::cuda::test;
using BackendEnum = CudaFiltersEnums::Backend;
using Law = CudaFiltersEnums::NoiseLaw;

template <typename TPixel>
using HostOf = Image<TPixel, 2>;
template <typename TPixel>
using DeviceOf = CudaDeviceImage<TPixel, 2>;
using HostLabels = HostOf<unsigned char>;
using DeviceLabels = DeviceOf<unsigned char>;
template <typename TPixel, typename TLabels = HostLabels>
using HostFilter = CudaRegionSnakeImageFilter<HostOf<TPixel>, TLabels>;
template <typename TPixel, typename TLabels = DeviceLabels>
using DeviceFilter = CudaRegionSnakeImageFilter<DeviceOf<TPixel>, TLabels>;

/** Memory of the module that is full of what is no label, no sum and no number. */
void *
AllocatePoisoned(size_t bytes, int, void * stream, void *)
{
  void *     memory = nullptr;
  const auto order = static_cast<cudaStream_t>(stream);
  const bool isRight =
    cudaMallocAsync(&memory, bytes, order) == cudaSuccess && cudaMemsetAsync(memory, 0xff, bytes, order) == cudaSuccess;
  return isRight ? memory : nullptr;
}

void
ReleasePoisoned(void * memory, size_t, int, void * stream, void *)
{
  cudaFreeAsync(memory, static_cast<cudaStream_t>(stream));
}

enum class StartKind
{
  OfParameters,
  Region,
  Path,
  Mask
};

/** An image of the host with what a filter needs to segment it. */
template <typename TPixel>
class FilterCase
{
public:
  FilterCase(const TypedCase & typed, StartKind start)
    : Name(typed.Name + ", start " + std::to_string(static_cast<int>(start)))
    , Parameters(typed.Parameters)
    , Image(this->MakeImage<TPixel>(typed))
  {
    std::memcpy(Image->GetBufferPointer(), typed.Bytes.data(), typed.Bytes.size());
    if (!typed.Valid.empty())
    {
      ValidMask = this->MakeImage<unsigned char>(typed);
      std::copy(typed.Valid.begin(), typed.Valid.end(), ValidMask->GetBufferPointer());
    }
    this->MakeStart(start);
  }

  template <typename TFilter>
  typename TFilter::Pointer
  MakeFilter(const typename TFilter::InputImageType * input, BackendEnum backend = BackendEnum::Cuda) const
  {
    const auto filter = TFilter::New();
    filter->SetInput(input);
    filter->SetBackend(backend);
    this->SetParameters(*filter);
    return filter;
  }

  template <typename TFilter>
  void
  SetParameters(TFilter & filter) const
  {
    filter.SetNoiseLaw(*Parameters.NoiseLaw);
    filter.SetSchedule(Parameters.Schedule);
    filter.SetStart(Parameters.Start);
    filter.SetNumberOfLooks(Parameters.NumberOfLooks);
    filter.SetForegroundThreshold(Parameters.ForegroundThreshold);
    filter.SetMaximumStep(Parameters.MaximumStep);
    filter.SetMinimumEdgeLength(Parameters.MinimumEdgeLength);
    filter.SetUseDescriptionLength(Parameters.UseDescriptionLength);
    filter.SetMaximumNumberOfNodes(Parameters.MaximumNumberOfNodes);
    filter.SetInitialRegion(InitialRegion);
    filter.SetInitialPath(InitialPath);
    filter.SetInitialMask(InitialMask);
    filter.SetValidMask(ValidMask);
  }

  const std::string                           Name;
  const CudaDetail::CudaRegionSnakeParameters Parameters;
  const typename HostOf<TPixel>::Pointer      Image;
  HostLabels::Pointer                         ValidMask;
  HostLabels::Pointer                         InitialMask;
  PolyLineParametricPath<2>::Pointer          InitialPath;
  ImageRegion<2>                              InitialRegion;

private:
  template <typename TImagePixel>
  static typename HostOf<TImagePixel>::Pointer
  MakeImage(const TypedCase & typed)
  {
    const auto image = HostOf<TImagePixel>::New();
    image->SetRegions(
      ImageRegion<2>({ { typed.FirstIndex[0], typed.FirstIndex[1] } }, { { typed.Width, typed.Height } }));
    const double spacing[] = { 0.75, 2.0 };
    image->SetSpacing(spacing);
    const double origin[] = { -3.0, 17.5 };
    image->SetOrigin(origin);
    image->Allocate(true);
    return image;
  }

  void
  MakeStart(StartKind start)
  {
    const auto region = Image->GetBufferedRegion();
    auto       middle = region;
    for (unsigned int d = 0; d < 2; ++d)
    {
      middle.SetIndex(d, region.GetIndex(d) + static_cast<IndexValueType>(region.GetSize(d) / 5));
      middle.SetSize(d, region.GetSize(d) / 2);
    }
    if (start == StartKind::Region)
    {
      InitialRegion = middle;
    }
    else if (start == StartKind::Path)
    {
      InitialPath = PolyLineParametricPath<2>::New();
      const auto add = [this](double x, double y) {
        PolyLineParametricPath<2>::ContinuousIndexType vertex;
        vertex[0] = x;
        vertex[1] = y;
        InitialPath->AddVertex(vertex);
      };
      const auto x = static_cast<double>(middle.GetIndex(0));
      const auto y = static_cast<double>(middle.GetIndex(1));
      add(x, y);
      add(x + static_cast<double>(middle.GetSize(0)), y);
      add(x, y + static_cast<double>(middle.GetSize(1)));
    }
    else if (start == StartKind::Mask)
    {
      InitialMask = HostLabels::New();
      InitialMask->CopyInformation(Image);
      InitialMask->SetRegions(region);
      InitialMask->Allocate(true);
      for (IndexValueType y = middle.GetIndex(1); y < middle.GetUpperIndex()[1]; ++y)
      {
        for (IndexValueType x = middle.GetIndex(0); x < middle.GetUpperIndex()[0]; ++x)
        {
          InitialMask->SetPixel({ { x, y } }, 200);
        }
      }
    }
  }
};

template <typename TPixel>
std::vector<TPixel>
GetPixels(const HostOf<TPixel> * image)
{
  return { image->GetBufferPointer(), image->GetBufferPointer() + image->GetBufferedRegion().GetNumberOfPixels() };
}

template <typename TPixel>
std::vector<TPixel>
GetPixels(const DeviceOf<TPixel> * image)
{
  return GetPixels<TPixel>(CudaDownload(image).GetPointer());
}

/** What an update comes to. */
template <typename TLabel>
struct Answer
{
  std::string                   Message; // empty: no exception
  CudaRegionSnakeResult         Result;
  std::vector<Point<double, 2>> Contour;
  std::vector<TLabel>           Labels;
  ImageRegion<2>                Region;
  ImageBase<2>::SpacingType     Spacing{};
  ImageBase<2>::PointType       Origin{};
};

template <typename TFilter>
auto
GetAnswer(TFilter & filter)
{
  using LabelType = typename TFilter::OutputPixelType;
  Answer<LabelType> answer;
  answer.Message = WithoutAddresses(GetException([&filter] { filter.Update(); }));
  if (answer.Message.empty())
  {
    answer.Result = filter.GetResult();
    for (SizeValueType i = 0; i < filter.GetNumberOfContourPoints(); ++i)
    {
      answer.Contour.push_back(filter.GetContourPoint(i));
    }
    const auto * const output = filter.GetOutput();
    answer.Labels = GetPixels<LabelType>(output);
    answer.Region = output->GetBufferedRegion();
    answer.Spacing = output->GetSpacing();
    answer.Origin = output->GetOrigin();
  }
  return answer;
}

template <typename TLabel>
void
ExpectSame(const Answer<TLabel> & expected, const Answer<TLabel> & answer, const std::string & name)
{
  ASSERT_EQ(expected.Message, answer.Message) << name;
  ExpectSameResults(expected.Result, answer.Result, name);
  EXPECT_TRUE(expected.Contour == answer.Contour) << name << ": contours differ";
  EXPECT_TRUE(expected.Labels == answer.Labels) << name << ": labels differ";
  EXPECT_EQ(expected.Region, answer.Region) << name;
  EXPECT_EQ(expected.Spacing, answer.Spacing) << name;
  EXPECT_EQ(expected.Origin, answer.Origin) << name;
}

class CudaDeviceRegionSnakeGpu : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    DeviceTest::SetUp();
    if (!this->IsSkipped())
    {
      m_Guard = std::make_unique<DeviceGuard>(device);
      Configuration::SetDeviceMemoryResource(AllocatePoisoned, ReleasePoisoned);
    }
  }

  void
  TearDown() override
  {
    Configuration::SetDeviceMemoryResource(nullptr, nullptr);
    DeviceTest::TearDown();
  }

  /** The image of the host by `expectedBackend`, and the three pairs with a device image. Returns the message. */
  template <typename TPixel>
  static std::string
  Compare(const FilterCase<TPixel> & example, BackendEnum expectedBackend)
  {
    const auto expected = GetAnswer(*example.template MakeFilter<HostFilter<TPixel>>(example.Image, expectedBackend));
    const auto uploaded = CudaUpload(example.Image, device);
    const auto resident = example.template MakeFilter<DeviceFilter<TPixel>>(uploaded, BackendEnum::Automatic);
    ExpectSame(expected, GetAnswer(*resident), example.Name + ", both on the device");
    const auto down = example.template MakeFilter<DeviceFilter<TPixel, HostLabels>>(uploaded);
    ExpectSame(expected, GetAnswer(*down), example.Name + ", labels on the host");
    const auto up = example.template MakeFilter<HostFilter<TPixel, DeviceLabels>>(example.Image);
    ExpectSame(expected, GetAnswer(*up), example.Name + ", labels on the device");
    EXPECT_EQ(GetPixels<TPixel>(uploaded.GetPointer()).size(), example.Image->GetBufferedRegion().GetNumberOfPixels());
    EXPECT_EQ(std::memcmp(GetPixels<TPixel>(uploaded.GetPointer()).data(),
                          example.Image->GetBufferPointer(),
                          example.Image->GetBufferedRegion().GetNumberOfPixels() * sizeof(TPixel)),
              0)
      << example.Name << ": the input changed";
    return expected.Message;
  }

  static std::string
  CompareTyped(const TypedCase & typed, StartKind start, BackendEnum expectedBackend)
  {
    return VisitPixelType(
      typed.Type, [&](auto zero) { return Compare(FilterCase<decltype(zero)>(typed, start), expectedBackend); });
  }

  /** A scene of unsigned short with a boundary. */
  static FilterCase<unsigned short>
  MakeExample(uint64_t seed, bool masked, int32_t side = 200)
  {
    TypedCase typed = RandomTypedCase(seed, Law::Gaussian, CudaComponentType::UShort, masked, side);
    return FilterCase<unsigned short>(typed, StartKind::OfParameters);
  }

private:
  std::unique_ptr<DeviceGuard> m_Guard;
};
} // namespace

TEST_F(CudaDeviceRegionSnakeGpu, Random_scenes_have_the_bits_of_host_images)
{
  constexpr uint64_t firstSeed = 80000;
  constexpr uint64_t number = 200;
  std::cout << "seeds from " << firstSeed << std::endl;
  uint64_t refused = 0;
  for (uint64_t i = 0; i < number; ++i)
  {
    const Law       law = itk::cuda::region::AllLaws[i % std::size(itk::cuda::region::AllLaws)];
    const auto      type = SnakePixelTypes[i / 7 % std::size(SnakePixelTypes)];
    const bool      masked = i % 3 == 0;
    const TypedCase typed = RandomTypedCase(firstSeed + i, law, type, masked, i % 10 == 0 ? 700 : 150);
    const auto      start = static_cast<StartKind>(i / 2 % 4);
    refused +=
      CompareTyped(typed, start, i % 2 == 0 ? BackendEnum::Host : BackendEnum::Cuda).empty() ? uint64_t{ 0 } : 1;
    if (HasFatalFailure())
    {
      return;
    }
  }
  std::cout << refused << " were refused" << std::endl;
  EXPECT_LT(refused, number / 4);
}

TEST_F(CudaDeviceRegionSnakeGpu, Labels_have_the_values_that_are_set_the_geometry_and_the_device)
{
  using ShortLabels = HostOf<unsigned short>;
  const auto example = MakeExample(83304, false);
  const auto uploaded = CudaUpload(example.Image, device);
  const auto host = example.MakeFilter<HostFilter<unsigned short, ShortLabels>>(example.Image);
  const auto resident = example.MakeFilter<DeviceFilter<unsigned short, DeviceOf<unsigned short>>>(uploaded);
  host->SetInsideValue(60000);
  host->SetOutsideValue(7);
  resident->SetInsideValue(60000);
  resident->SetOutsideValue(7);
  ExpectSame(GetAnswer(*host), GetAnswer(*resident), example.Name);
  EXPECT_TRUE(host->GetSignificantBoundary()) << "there are labels of both values";
  EXPECT_EQ(resident->GetOutput()->GetDeviceIndex(), device);
  EXPECT_EQ(resident->GetOutput()->GetDirection(), example.Image->GetDirection());
  EXPECT_EQ(resident->GetOutput()->GetLargestPossibleRegion(), example.Image->GetLargestPossibleRegion());
  EXPECT_EQ(resident->GetBackendUsed(), BackendEnum::Cuda);

  const auto up = example.MakeFilter<HostFilter<unsigned short, DeviceLabels>>(example.Image, BackendEnum::Automatic);
  up->SetDeviceIndex(device);
  up->Update();
  EXPECT_EQ(up->GetOutput()->GetDeviceIndex(), device);
  EXPECT_EQ(up->GetBackendUsed(), BackendEnum::Cuda);
}

TEST_F(CudaDeviceRegionSnakeGpu, Without_a_label_image_the_rest_is_the_same)
{
  const auto example = MakeExample(83301, true);
  const auto uploaded = CudaUpload(example.Image, device);
  const auto expected = GetAnswer(*example.MakeFilter<DeviceFilter<unsigned short>>(uploaded));
  const auto filter = example.MakeFilter<DeviceFilter<unsigned short>>(uploaded);
  const auto bytes = Configuration::GetDeviceBytesInUse();
  for (const bool make : { false, true, false })
  {
    filter->SetMakeLabelImage(make);
    filter->Update();
    ExpectSameResults(expected.Result, filter->GetResult(), example.Name);
    EXPECT_EQ(filter->GetOutput()->IsAllocated(), make);
    EXPECT_EQ(filter->GetOutput()->GetBufferedRegion().GetNumberOfPixels() > 0, make);
    EXPECT_EQ(filter->GetOutput()->GetLargestPossibleRegion(), expected.Region);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse() > bytes, make) << "nothing but labels stays on the device";
    const auto time = filter->GetContour()->GetUpdateMTime();
    filter->Update();
    EXPECT_EQ(filter->GetContour()->GetUpdateMTime(), time) << "nothing has changed";
  }
}

TEST_F(CudaDeviceRegionSnakeGpu, Repeated_updates_reuse_nothing)
{
  const auto            filter = DeviceFilter<unsigned short>::New();
  const auto            kept = DeviceLabels::New();
  Answer<unsigned char> first;
  for (uint64_t turn = 0; turn < 12; ++turn)
  {
    const FilterCase<unsigned short> example(
      RandomTypedCase(82200 + turn, Law::Gaussian, CudaComponentType::UShort, turn % 3 == 0, 200),
      static_cast<StartKind>(turn % 4));
    const auto uploaded = CudaUpload(example.Image, device);
    filter->SetInput(uploaded);
    example.SetParameters(*filter);
    const auto host = example.MakeFilter<HostFilter<unsigned short>>(example.Image);
    ExpectSame(GetAnswer(*host), GetAnswer(*filter), example.Name);
    filter->SetInsideValue(9);
    host->SetInsideValue(9);
    ExpectSame(GetAnswer(*host), GetAnswer(*filter), example.Name + ", inside 9");
    filter->SetInsideValue(1);
    if (turn == 0)
    {
      first = GetAnswer(*filter);
      kept->Graft(filter->GetOutput());
    }
  }
  EXPECT_TRUE(GetPixels<unsigned char>(kept.GetPointer()) == first.Labels) << "another image's labels were overwritten";
}

TEST_F(CudaDeviceRegionSnakeGpu, Integers_are_read_where_they_lie)
{
  TypedCase  typed = RandomTypedCase(82400, Law::Gaussian, CudaComponentType::UShort, false, 60);
  SnakeScene scene;
  scene.Width = 3000;
  scene.Height = 2000;
  scene.Contrast = 2.0;
  typed.Width = 3000;
  typed.Height = 2000;
  FillPixels<uint16_t>(typed, scene.MakePixels(2));
  const FilterCase<unsigned short> example(typed, StartKind::OfParameters);
  const auto                       expected = GetAnswer(*example.MakeFilter<HostFilter<unsigned short>>(example.Image));
  const auto                       uploaded = CudaUpload(example.Image, device);
  const auto                       filter = example.MakeFilter<DeviceFilter<unsigned short>>(uploaded);
  const size_t                     bytes = typed.WithInput([&typed](const CudaDetail::CudaRegionSnakeInput & input) {
    return CudaDetail::CudaRegionSnakeWorkingSet(input, typed.Parameters);
  });
  ASSERT_GT(bytes, typed.Bytes.size());
  Configuration::SetDeviceMemoryLimit(Configuration::GetDeviceBytesInUse() + bytes - typed.Bytes.size());
  const std::string message = GetException([&filter] { filter->Update(); });
  Configuration::SetDeviceMemoryLimit(0);
  ASSERT_EQ(message, "") << "the run without a copy of the image has room";
  ExpectSame(expected, GetAnswer(*filter), example.Name);
}

TEST_F(CudaDeviceRegionSnakeGpu, Chain_crosses_the_link_once_each_way)
{
  using Smoothing = CudaSmoothingRecursiveGaussianImageFilter<HostOf<float>>;
  using DeviceSmoothing = CudaSmoothingRecursiveGaussianImageFilter<DeviceOf<float>>;
  const FilterCase<float> example(RandomTypedCase(83000, Law::Gaussian, CudaComponentType::Float, false, 300),
                                  StartKind::OfParameters);
  const auto              smoothing = Smoothing::New();
  smoothing->SetInput(example.Image);
  smoothing->SetSigma(1.5);
  smoothing->SetBackend("cuda");
  smoothing->Update();
  const auto expected = GetAnswer(*example.MakeFilter<HostFilter<float>>(smoothing->GetOutput()));

  const auto upload = CudaUploadImageFilter<HostOf<float>>::New();
  upload->SetInput(example.Image);
  upload->SetDeviceIndex(device);
  const auto deviceSmoothing = DeviceSmoothing::New();
  deviceSmoothing->SetInput(upload->GetOutput());
  deviceSmoothing->SetSigma(1.5);
  const auto snake = example.MakeFilter<DeviceFilter<float>>(deviceSmoothing->GetOutput());
  const auto download = CudaDownloadImageFilter<DeviceLabels>::New();
  download->SetInput(snake->GetOutput());
  for (const bool release : { false, true })
  {
    upload->GetOutput()->SetReleaseDataFlag(release);
    deviceSmoothing->GetOutput()->SetReleaseDataFlag(release);
    snake->GetOutput()->SetReleaseDataFlag(release);
    upload->Modified();
    const auto before = GetTransferCounts();
    download->Update();
    EXPECT_EQ(GetTransferCounts().Uploads - before.Uploads, 1u);
    EXPECT_EQ(GetTransferCounts().Downloads - before.Downloads, 1u);
    ExpectSameResults(expected.Result, snake->GetResult(), example.Name);
    EXPECT_TRUE(GetPixels<unsigned char>(download->GetOutput()) == expected.Labels);
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u) << "all was released";
}

TEST_F(CudaDeviceRegionSnakeGpu, Labels_may_be_queued_when_the_filter_ends)
{
  const auto example = MakeExample(83300, false);
  const auto expected = GetAnswer(*example.MakeFilter<HostFilter<unsigned short, DeviceLabels>>(example.Image));
  EXPECT_TRUE(expected.Result.SignificantBoundary) << "there are labels of both values";
  for (const bool dropLabels : { false, true })
  {
    DeviceLabels::Pointer labels;
    {
      HeldStream        held(GetThreadContext(device));
      std::thread       letGo([&held] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        held.LetGo();
      });
      auto              filter = example.MakeFilter<HostFilter<unsigned short, DeviceLabels>>(example.Image);
      const std::string message = GetException([&filter] { filter->Update(); });
      EXPECT_EQ(message, "");
      labels = filter->GetOutput();
      labels->DisconnectPipeline();
      filter = nullptr;
      labels = dropLabels ? nullptr : labels;
      letGo.join();
    }
    if (labels)
    {
      EXPECT_TRUE(GetPixels<unsigned char>(labels.GetPointer()) == expected.Labels);
    }
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceRegionSnakeGpu, Image_that_another_thread_still_writes_is_waited_for)
{
  using DeviceSmoothing = CudaSmoothingRecursiveGaussianImageFilter<DeviceOf<float>>;
  const FilterCase<float> example(RandomTypedCase(83200, Law::Gaussian, CudaComponentType::Float, true, 250),
                                  StartKind::OfParameters);
  const auto              uploaded = CudaUpload(example.Image, device);
  const auto              smooth = [&uploaded] {
    const auto smoothing = DeviceSmoothing::New();
    smoothing->SetInput(uploaded);
    smoothing->SetSigma(1.0);
    smoothing->Update();
    DeviceOf<float>::Pointer output = smoothing->GetOutput();
    output->DisconnectPipeline();
    return output;
  };
  const auto               expected = GetAnswer(*example.MakeFilter<DeviceFilter<float>>(smooth()));
  Answer<unsigned char>    answer;
  HeldStream               held(GetThreadContext(device));
  DeviceOf<float>::Pointer image = smooth();
  const auto               filter = example.MakeFilter<DeviceFilter<float>>(image);
  std::thread              thread([&] { answer = GetAnswer(*filter); });
  image = nullptr;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  held.LetGo();
  thread.join();
  ExpectSame(expected, answer, example.Name);
}

TEST_F(CudaDeviceRegionSnakeGpu, Abort_throws_leaves_no_labels_and_the_filter_runs_again)
{
  const auto example = MakeExample(84100, false, 400);
  const auto uploaded = CudaUpload(example.Image, device);
  const auto filter = example.MakeFilter<DeviceFilter<unsigned short>>(uploaded);
  const auto expected = GetAnswer(*filter);
  ASSERT_EQ(expected.Message, "");
  const size_t bytes = Configuration::GetDeviceBytesInUse();
  const auto   tag = filter->AddObserver(ProgressEvent(), [&](const EventObject &) { filter->AbortGenerateDataOn(); });
  filter->Modified();
  EXPECT_THROW(filter->Update(), ProcessAborted);
  EXPECT_FALSE(filter->GetOutput()->IsAllocated());
  EXPECT_LT(Configuration::GetDeviceBytesInUse(), bytes);
  filter->RemoveObserver(tag);
  ExpectSame(expected, GetAnswer(*filter), example.Name);
}

TEST_F(CudaDeviceRegionSnakeGpu, Faults_are_exceptions_and_the_next_run_is_right)
{
  Configuration::SetDeviceMemoryResource(nullptr, nullptr);
  const auto example = MakeExample(85000, true);
  {
    const auto uploaded = CudaUpload(example.Image, device);
    WalkFaults<unsigned char>("snake of a device image", [&] {
      const auto filter = example.MakeFilter<DeviceFilter<unsigned short>>(uploaded);
      filter->Update();
      return GetPixels<unsigned char>(filter->GetOutput());
    });
  }
  WalkFaults<unsigned char>("snake with labels on the device", [&] {
    const auto filter = example.MakeFilter<HostFilter<unsigned short, DeviceLabels>>(example.Image);
    filter->Update();
    return GetPixels<unsigned char>(filter->GetOutput());
  });
}

TEST_F(CudaDeviceRegionSnakeGpu, Memory_that_runs_out_is_an_exception_and_no_run_on_the_host)
{
  const auto   example = MakeExample(85100, true);
  const auto   uploaded = CudaUpload(example.Image, device);
  const auto   expected = GetAnswer(*example.MakeFilter<HostFilter<unsigned short>>(example.Image));
  const size_t inUse = Configuration::GetDeviceBytesInUse();
  const auto   walk = [&](const auto & makeFilter) {
    unsigned int failures = 0;
    for (size_t room = 1024;; room += room / 4)
    {
      const auto filter = makeFilter();
      Configuration::SetDeviceMemoryLimit(inUse + room);
      bool failed = false;
      try
      {
        filter->Update();
      }
      catch (const CudaError & error)
      {
        failed = true;
        EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory) << error;
        EXPECT_EQ(Configuration::GetDeviceBytesInUse(), inUse);
      }
      Configuration::SetDeviceMemoryLimit(0);
      filter->Modified();
      ExpectSame(expected, GetAnswer(*filter), "after room for " + std::to_string(room));
      if (!failed)
      {
        break;
      }
      ++failures;
    }
    EXPECT_GT(failures, 5u);
  };
  walk([&] { return example.MakeFilter<DeviceFilter<unsigned short>>(uploaded, BackendEnum::Automatic); });
  walk([&] {
    return example.MakeFilter<HostFilter<unsigned short, DeviceLabels>>(example.Image, BackendEnum::Automatic);
  });
}
