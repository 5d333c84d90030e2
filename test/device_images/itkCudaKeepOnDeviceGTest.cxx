// SPDX-License-Identifier: Apache-2.0

// Tests without a GPU which results stay on the device between two filters of host images. A filter of the test makes
// the calls of the module's filters, and keeps pixels in memory that stands for the device's. The reference is the same
// pipeline without kept results.

#include "itkCastImageFilter.h"
#include "itkCudaDetailWorkScope.h"
#include "itkCudaDetailKeepOnDevice.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFakeDeviceMemory.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaRunInThreads.h"
#include "support/itkCudaTestSeed.h"
#include "itkImageRegionIterator.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace
{
using itk::CudaDetail::CudaUpdateScope;
using namespace itk::cuda::test;
using Configuration = itk::CudaFiltersConfiguration;
using Backend = itk::CudaFiltersEnums::Backend;
using ImageType = itk::Image<float, 2>;
using RegionType = ImageType::RegionType;

constexpr int fakeDevice = FakeDeviceMemory::Device;

/** Maps each pixel x to 0.5 x + Number. It runs on the fake device unless its backend is Host. */
class FakeFilter : public itk::InPlaceImageFilter<ImageType, ImageType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FakeFilter);
  using Self = FakeFilter;
  using Superclass = itk::InPlaceImageFilter<ImageType, ImageType>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(FakeFilter, InPlaceImageFilter);

  itk::CudaDetail::CudaFilterBackend Backend;
  float                              Number{ 1.0f };
  unsigned int                       Runs{ 0 };
  unsigned int                       KeptOutputs{ 0 };
  unsigned int                       KeptInputs{ 0 };
  bool                               Throws{ false };
  std::weak_ptr<void>                Memory; // of the result that was kept last

  void
  UpdateOutputData(itk::DataObject * output) override
  {
    const CudaUpdateScope call(this, itk::CudaDetail::CudaGetKeepableInput(*this), Backend);
    Superclass::UpdateOutputData(output);
  }

  void
  AddInput(ImageType * image)
  {
    this->itk::ProcessObject::SetInput("Second", image);
  }

  void
  AddOutput()
  {
    this->itk::ProcessObject::SetOutput("Second", ImageType::New());
  }

protected:
  FakeFilter()
  {
    this->InPlaceOff();
    Backend.DeviceIndex = fakeDevice;
  }
  ~FakeFilter() override = default;

  void
  GenerateData() override
  {
    ++Runs;
    const RegionType region = this->GetOutput()->GetRequestedRegion();
    itk::CudaDetail::CudaVerifyInputPixels(*this, region);
    std::vector<float> pixels = this->ReadInput(region);
    this->UpdateProgress(0.5f);
    if (Throws)
    {
      itkExceptionMacro("as the test wants it");
    }
    if (this->GetAbortGenerateData())
    {
      throw itk::ProcessAborted(__FILE__, __LINE__);
    }
    for (float & pixel : pixels)
    {
      pixel = 0.5f * pixel + Number;
    }
    CudaUpdateScope * const consumer = itk::CudaDetail::CudaFindConsumer(*this, Backend.DeviceIndex);
    if (consumer)
    {
      ++KeptOutputs;
      consumer->Keep(this->MakeView(region, pixels), region);
      return;
    }
    this->AllocateOutputs();
    size_t i = 0;
    for (itk::ImageRegionIterator<ImageType> it(this->GetOutput(), region); !it.IsAtEnd(); ++it)
    {
      it.Set(pixels[i++]);
    }
  }

private:
  std::vector<float>
  ReadInput(const RegionType & region)
  {
    std::vector<float>            pixels;
    const CudaUpdateScope * const call = CudaUpdateScope::Find(this);
    if (call && call->HasKeptPixels())
    {
      ++KeptInputs;
      const auto   view = itk::CudaDetail::CudaCrop(call->GetKeptPixels(), call->GetKeptRegion<2>(), region);
      const auto * first = static_cast<const float *>(view.GetPointer());
      for (size_t y = 0; y < view.Size[1]; ++y)
      {
        pixels.insert(pixels.end(), first + y * view.Stride[1], first + y * view.Stride[1] + view.Size[0]);
      }
      return pixels;
    }
    for (itk::ImageRegionConstIterator<ImageType> it(this->GetInput(), region); !it.IsAtEnd(); ++it)
    {
      pixels.push_back(it.Get());
    }
    return pixels;
  }

  itk::CudaDeviceImageView
  MakeView(const RegionType & region, const std::vector<float> & pixels)
  {
    itk::CudaDeviceImageView view;
    view.Size = { { region.GetSize(0), region.GetSize(1), 1, 1, 1 } };
    view.Stride = { { 1, region.GetSize(0), pixels.size(), pixels.size(), pixels.size() } };
    view.Memory = std::make_shared<FakeDeviceMemory>(pixels.size() * sizeof(float));
    std::copy(pixels.begin(), pixels.end(), static_cast<float *>(view.GetPointer()));
    Memory = view.Memory;
    return view;
  }
};

using CastType = itk::CastImageFilter<ImageType, ImageType>;

ImageType::Pointer
MakeImage(unsigned int side = 13)
{
  const auto          image = ImageType::New();
  RegionType          region;
  ImageType::SizeType size{ { side, side + 4 } };
  region.SetIndex({ { -3, 5 } });
  region.SetSize(size);
  image->SetRegions(region);
  ImageType::SpacingType spacing;
  spacing.Fill(0.5);
  image->SetSpacing(spacing);
  image->Allocate();
  std::mt19937 random(GetSeed());
  for (itk::ImageRegionIterator<ImageType> it(image, region); !it.IsAtEnd(); ++it)
  {
    it.Set(std::uniform_real_distribution<float>(0.0f, 100.0f)(random));
  }
  return image;
}

/** The pixels of the buffered region. */
std::vector<float>
GetPixels(const ImageType * image)
{
  const auto number = image->GetBufferedRegion().GetNumberOfPixels();
  return std::vector<float>(image->GetBufferPointer(), image->GetBufferPointer() + number);
}

/** What the image's pixels are after `count` filters whose numbers are 1, 2, ... */
std::vector<float>
GetExpected(const ImageType * image, unsigned int count)
{
  std::vector<float> pixels = GetPixels(image);
  for (unsigned int i = 0; i < count; ++i)
  {
    for (float & pixel : pixels)
    {
      pixel = 0.5f * pixel + static_cast<float>(i + 1);
    }
  }
  return pixels;
}

void
ExpectReleased(const itk::DataObject * object)
{
  const auto * const image = dynamic_cast<const ImageType *>(object);
  EXPECT_TRUE(image->GetDataReleased());
  EXPECT_EQ(image->GetBufferedRegion().GetNumberOfPixels(), 0u);
  EXPECT_EQ(image->GetBufferPointer(), nullptr);
}

/** Filters one after the other, numbered from 1, whose outputs but the last are released after use. */
struct Chain
{
  Chain(ImageType * image, unsigned int count)
    : Source(image)
  {
    for (unsigned int i = 0; i < count; ++i)
    {
      const auto filter = FakeFilter::New();
      filter->SetInput(i == 0 ? image : Filters.back()->GetOutput());
      filter->Number = static_cast<float>(i + 1);
      filter->SetReleaseDataFlag(i + 1 < count);
      Filters.push_back(filter);
    }
  }

  FakeFilter &
  operator[](size_t i)
  {
    return *Filters[i];
  }

  FakeFilter &
  GetLast()
  {
    return *Filters.back();
  }

  /** Returns the sum of a counter over all filters. */
  unsigned int
  Count(unsigned int FakeFilter::*counter) const
  {
    unsigned int count = 0;
    for (const auto & filter : Filters)
    {
      count += (*filter).*counter;
    }
    return count;
  }

  /** Updates the last filter. Expects right pixels, and that `kept` outputs and as many inputs were kept. */
  void
  ExpectRightWith(unsigned int kept, const std::string & what = "")
  {
    const unsigned int       before = this->Count(&FakeFilter::KeptOutputs);
    const unsigned int       inputsBefore = this->Count(&FakeFilter::KeptInputs);
    const std::vector<float> expected = GetExpected(Source, static_cast<unsigned int>(Filters.size()));
    this->GetLast().Update();
    EXPECT_EQ(GetPixels(this->GetLast().GetOutput()), expected) << what;
    EXPECT_EQ(this->Count(&FakeFilter::KeptOutputs) - before, kept) << what;
    EXPECT_EQ(this->Count(&FakeFilter::KeptInputs) - inputsBefore, kept) << what;
  }

  ImageType *                      Source;
  std::vector<FakeFilter::Pointer> Filters;
};

void
AddObserver(itk::Object & object, const itk::EventObject & event, const std::function<void()> & action)
{
  object.AddObserver(event, [action](const itk::EventObject &) { action(); });
}

class CudaKeepOnDevice : public testing::Test
{
protected:
  void
  SetUp() override
  {
    Configuration::SetKeepOnDevice(true);
  }
  void
  TearDown() override
  {
    Configuration::SetKeepOnDevice(false);
    Configuration::SetBackend(Backend::Automatic);
    Configuration::SetDeviceIndex(0);
    itk::DataObject::SetGlobalReleaseDataFlag(false);
  }

  const ImageType::Pointer m_Image{ MakeImage() };
};
} // namespace

TEST_F(CudaKeepOnDevice, Chain_keeps_all_results_but_the_last)
{
  for (unsigned int count = 1; count <= 5; ++count)
  {
    Chain chain(m_Image, count);
    chain.ExpectRightWith(count - 1);
    for (unsigned int i = 0; i + 1 < count; ++i)
    {
      ExpectReleased(chain[i].GetOutput());
      EXPECT_EQ(chain[i].GetOutput()->GetLargestPossibleRegion(), m_Image->GetLargestPossibleRegion());
      EXPECT_EQ(chain[i].GetOutput()->GetSpacing(), m_Image->GetSpacing());
      EXPECT_TRUE(chain[i].Memory.expired());
    }
  }
}

TEST_F(CudaKeepOnDevice, Nothing_is_kept_without_the_switch)
{
  Configuration::SetKeepOnDevice(false);
  Chain(m_Image, 4).ExpectRightWith(0);
}

TEST_F(CudaKeepOnDevice, Only_images_that_are_released_after_use_are_kept)
{
  std::mt19937 random(GetSeed());
  for (unsigned int turn = 0; turn < 50; ++turn)
  {
    const auto   count = std::uniform_int_distribution<unsigned int>(2, 7)(random);
    Chain        chain(m_Image, count);
    unsigned int flags = 0;
    for (unsigned int i = 0; i + 1 < count; ++i)
    {
      const bool flag = std::bernoulli_distribution(0.5)(random);
      chain[i].SetReleaseDataFlag(flag);
      flags += flag ? 1 : 0;
    }
    chain.ExpectRightWith(flags, "turn " + std::to_string(turn));
  }
}

// ITK does not clear the global flag while a consumer runs, so it does not say that nobody else asks for the image.
TEST_F(CudaKeepOnDevice, Global_flag_alone_keeps_nothing)
{
  Chain chain(m_Image, 3);
  chain[0].ReleaseDataFlagOff();
  itk::DataObject::SetGlobalReleaseDataFlag(true);
  chain.ExpectRightWith(1);
}

TEST_F(CudaKeepOnDevice, Later_updates_run_what_changed_and_what_was_released)
{
  std::vector<unsigned int> runs[2];
  for (const bool keep : { false, true })
  {
    Configuration::SetKeepOnDevice(keep);
    Chain      chain(m_Image, 4);
    const auto note = [&] {
      for (const auto & filter : chain.Filters)
      {
        runs[keep].push_back(filter->Runs);
      }
    };
    chain.GetLast().Update();
    note();
    chain.GetLast().Update(); // nothing
    note();
    chain[2].Modified(); // its input was released
    chain.ExpectRightWith(keep ? 3 : 0);
    note();
    chain[0].Modified();
    chain.ExpectRightWith(keep ? 3 : 0);
    note();
    chain.GetLast().GetOutput()->ReleaseData();
    chain.ExpectRightWith(keep ? 3 : 0);
    note();
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST_F(CudaKeepOnDevice, Second_consumer_makes_the_source_run_again)
{
  unsigned int runs[2];
  for (const bool keep : { false, true })
  {
    Configuration::SetKeepOnDevice(keep);
    Chain      chain(m_Image, 2);
    const auto second = FakeFilter::New();
    second->SetInput(chain[0].GetOutput());
    second->Number = 7.0f;
    chain.ExpectRightWith(keep ? 1 : 0);
    second->Update();
    std::vector<float> expected = GetExpected(m_Image, 1);
    for (float & pixel : expected)
    {
      pixel = 0.5f * pixel + 7.0f;
    }
    EXPECT_EQ(GetPixels(second->GetOutput()), expected);
    EXPECT_EQ(second->KeptInputs, keep ? 1u : 0u);
    runs[keep] = chain[0].Runs;
  }
  EXPECT_EQ(runs[0], 2u);
  EXPECT_EQ(runs[1], 2u);
}

TEST_F(CudaKeepOnDevice, Consumer_on_the_host_gets_pixels_before_and_after)
{
  Chain      chain(m_Image, 2);
  const auto cast = CastType::New();
  cast->SetInput(chain[0].GetOutput());
  cast->InPlaceOff();
  for (unsigned int turn = 0; turn < 3; ++turn)
  {
    cast->Modified();
    cast->Update();
    EXPECT_EQ(GetPixels(cast->GetOutput()), GetExpected(m_Image, 1));
    EXPECT_EQ(chain[0].KeptOutputs, turn);
    chain[1].Modified();
    chain.ExpectRightWith(1);
  }
}

TEST_F(CudaKeepOnDevice, Update_of_the_image_itself_gives_it_pixels)
{
  Chain chain(m_Image, 2);
  chain[0].GetOutput()->Update();
  EXPECT_EQ(GetPixels(chain[0].GetOutput()), GetExpected(m_Image, 1));
  chain.ExpectRightWith(0); // the pixels are there
  chain[1].Modified();
  chain.ExpectRightWith(1);
  chain[0].GetOutput()->Update();
  EXPECT_EQ(GetPixels(chain[0].GetOutput()), GetExpected(m_Image, 1));
  EXPECT_EQ(chain[0].KeptOutputs, 1u);
}

TEST_F(CudaKeepOnDevice, Observers_of_the_source_see_pixels)
{
  const itk::StartEvent     start;
  const itk::ProgressEvent  progress;
  const itk::IterationEvent iteration;
  const itk::EndEvent       end;
  const itk::AbortEvent     abort;
  const itk::ModifiedEvent  modified;
  const itk::AnyEvent       any;
  for (const itk::EventObject * event :
       std::initializer_list<const itk::EventObject *>{ &start, &progress, &iteration, &end, &abort, &modified, &any })
  {
    Chain              chain(m_Image, 3);
    std::vector<float> seen;
    AddObserver(chain[1], *event, [&] { seen = GetPixels(chain[1].GetOutput()); });
    chain.ExpectRightWith(1, event->GetEventName());
    if (event == &end || event == &any)
    {
      EXPECT_EQ(seen, GetExpected(m_Image, 2)) << event->GetEventName();
    }
    chain[1].RemoveAllObservers();
    chain[0].Modified();
    chain.ExpectRightWith(2, event->GetEventName());
  }
}

TEST_F(CudaKeepOnDevice, Observers_of_the_image_see_pixels_and_those_of_deletion_do_not_matter)
{
  for (const bool modified : { false, true })
  {
    Chain chain(m_Image, 2);
    if (modified)
    {
      AddObserver(*chain[0].GetOutput(), itk::ModifiedEvent(), [] {});
    }
    AddObserver(*chain[0].GetOutput(), itk::DeleteEvent(), [] {});
    AddObserver(chain[0], itk::DeleteEvent(), [] {});
    chain.ExpectRightWith(modified ? 0 : 1);
  }
}

TEST_F(CudaKeepOnDevice, Observers_of_the_consumer_meet_a_released_image_and_may_update_it)
{
  Chain              chain(m_Image, 2);
  const auto         cast = CastType::New();
  std::vector<float> seen;
  cast->SetInput(chain[0].GetOutput());
  cast->InPlaceOff();
  AddObserver(chain[1], itk::StartEvent(), [&] {
    EXPECT_EQ(chain[0].GetOutput()->GetBufferedRegion().GetNumberOfPixels(), 0u);
    EXPECT_EQ(chain[0].GetOutput()->GetBufferPointer(), nullptr);
  });
  AddObserver(chain[1], itk::ProgressEvent(), [&] {
    cast->Modified();
    cast->Update();
    seen = GetPixels(cast->GetOutput());
  });
  chain.ExpectRightWith(1);
  EXPECT_EQ(seen, GetExpected(m_Image, 1));
  chain[0].Modified();
  ExpectReleased(chain[0].GetOutput());
  chain.ExpectRightWith(1);
}

TEST_F(CudaKeepOnDevice, Another_device_and_the_host_take_nothing)
{
  const auto expect = [this](unsigned int kept, const std::string & what, const std::function<void(Chain &)> & set) {
    Chain chain(m_Image, 2);
    set(chain);
    chain.ExpectRightWith(kept, what);
  };
  expect(0, "another device", [](Chain & chain) { chain[1].Backend.DeviceIndex = fakeDevice + 1; });
  expect(0, "a source on another device", [](Chain & chain) { chain[0].Backend.DeviceIndex = fakeDevice + 1; });
  expect(0, "host", [](Chain & chain) { chain[1].Backend.Requested = Backend::Host; });
  expect(1, "cuda", [](Chain & chain) { chain[1].Backend.Requested = Backend::Cuda; });
  Configuration::SetDeviceIndex(fakeDevice);
  expect(1, "the configuration's device", [](Chain & chain) { chain[1].Backend.DeviceIndex = -1; });
  Configuration::SetBackend(Backend::Host);
  expect(0, "the configuration's host", [](Chain &) {});
  expect(1, "cuda above the configuration", [](Chain & chain) { chain[1].Backend.Requested = Backend::Cuda; });
  Configuration::SetBackend(Backend::Automatic);
  const itk::CudaDetail::CudaHostScope scope;
  expect(0, "inside a filter of the host", [](Chain &) {});
}

TEST_F(CudaKeepOnDevice, Exceptions_leave_nothing_behind_and_the_next_run_is_right)
{
  for (unsigned int thrower = 0; thrower < 4; ++thrower)
  {
    for (const bool keep : { false, true })
    {
      Configuration::SetKeepOnDevice(keep);
      Chain chain(m_Image, 4);
      chain[thrower].Throws = true;
      ExpectContains(GetException([&] { chain.GetLast().Update(); }), "as the test wants it");
      for (const auto & filter : chain.Filters)
      {
        EXPECT_TRUE(filter->Memory.expired());
      }
      EXPECT_EQ(CudaUpdateScope::Find(&chain.GetLast()), nullptr);
      if (keep && thrower > 0)
      {
        ExpectReleased(chain[thrower - 1].GetOutput());
      }
      chain[thrower].Throws = false;
      chain.GetLast().ResetPipeline();
      chain.GetLast().Modified();
      chain.ExpectRightWith(keep ? 3 : 0, "filter " + std::to_string(thrower));
    }
  }
}

TEST_F(CudaKeepOnDevice, Abort_leaves_nothing_behind_and_the_next_run_is_right)
{
  Chain chain(m_Image, 3);
  bool  aborts = true;
  AddObserver(chain[2], itk::ProgressEvent(), [&] { chain[2].SetAbortGenerateData(aborts); });
  EXPECT_THROW(chain.GetLast().Update(), itk::ProcessAborted);
  ExpectReleased(chain[1].GetOutput());
  EXPECT_TRUE(chain[1].Memory.expired());
  aborts = false;
  chain.GetLast().Modified();
  chain.ExpectRightWith(2);
}

TEST_F(CudaKeepOnDevice, Source_in_place_destroys_its_input_and_keeps_nothing)
{
  for (const bool keep : { false, true })
  {
    Configuration::SetKeepOnDevice(keep);
    const auto image = MakeImage();
    const auto expected = GetExpected(image, 2);
    Chain      chain(image, 2);
    chain[0].InPlaceOn();
    chain.GetLast().Update();
    EXPECT_EQ(GetPixels(chain.GetLast().GetOutput()), expected);
    EXPECT_EQ(chain.Count(&FakeFilter::KeptOutputs), 0u);
    ExpectReleased(image);
  }
}

TEST_F(CudaKeepOnDevice, Filter_in_place_whose_input_is_on_the_device_keeps_its_result)
{
  Chain chain(m_Image, 3);
  chain[1].InPlaceOn();
  chain[2].InPlaceOn();
  chain.ExpectRightWith(2);
  chain[0].Backend.Requested = Backend::Host; // the second filter's input is in host memory
  chain[0].Backend.DeviceIndex = fakeDevice + 1;
  chain[0].Modified();
  chain.ExpectRightWith(0);
}

TEST_F(CudaKeepOnDevice, Memory_of_the_user_gets_the_pixels)
{
  Chain              chain(m_Image, 2);
  const auto         container = ImageType::PixelContainer::New();
  const auto         number = m_Image->GetBufferedRegion().GetNumberOfPixels();
  std::vector<float> memory(number);
  container->SetImportPointer(memory.data(), number);
  chain[0].GetOutput()->SetPixelContainer(container);
  chain.ExpectRightWith(0);
  EXPECT_EQ(memory, GetExpected(m_Image, 1));
}

TEST_F(CudaKeepOnDevice, Filters_of_several_inputs_or_outputs_are_left_alone)
{
  Chain inputs(m_Image, 3);
  inputs[1].AddInput(m_Image);
  inputs.ExpectRightWith(1);
  Chain twice(m_Image, 2);
  twice[1].AddInput(twice[0].GetOutput());
  twice.ExpectRightWith(0);
  Chain outputs(m_Image, 3);
  outputs[1].AddOutput();
  outputs.ExpectRightWith(1);
}

TEST_F(CudaKeepOnDevice, Regions_of_a_stream_are_kept_one_by_one)
{
  for (const unsigned int divisions : { 1u, 2u, 5u, 17u })
  {
    Chain      chain(m_Image, 3);
    const auto stream = itk::StreamingImageFilter<ImageType, ImageType>::New();
    stream->SetInput(chain.GetLast().GetOutput());
    stream->SetNumberOfStreamDivisions(divisions);
    stream->Update();
    EXPECT_EQ(GetPixels(stream->GetOutput()), GetExpected(m_Image, 3));
    EXPECT_EQ(chain.Count(&FakeFilter::KeptOutputs), 2 * divisions);
    EXPECT_EQ(chain.Count(&FakeFilter::KeptInputs), 2 * divisions);
  }
}

TEST_F(CudaKeepOnDevice, Threads_do_not_meet)
{
  RunInThreads(4, [](unsigned int i) -> std::string {
    const auto image = MakeImage(5 + i);
    Chain      chain(image, 5);
    for (unsigned int turn = 0; turn < 50; ++turn)
    {
      chain[0].Modified();
      chain.ExpectRightWith(4);
    }
    return {};
  });
}

TEST_F(CudaKeepOnDevice, Classes_derived_from_Image_are_not_plain)
{
  class DerivedImage : public ImageType
  {
  public:
    using Self = DerivedImage;
    using Pointer = itk::SmartPointer<Self>;
    itkFactorylessNewMacro(Self);
  };
  const ImageType::Pointer derived = DerivedImage::New().GetPointer();
  EXPECT_FALSE(itk::CudaDetail::CudaIsPlainImage(*derived));
  EXPECT_TRUE(itk::CudaDetail::CudaIsPlainImage(*ImageType::New()));
  EXPECT_TRUE((itk::CudaDetail::CudaIsPlainImage(*itk::VectorImage<short, 3>::New())));
}
