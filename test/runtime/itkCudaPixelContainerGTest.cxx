// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailHostMemoryPool.h"
#include "itkCudaDetailPixelContainer.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkImage.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageSource.h"
#include "itkRGBPixel.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVectorImage.h"
#include "runtime/memory/MemoryUsage.h"
#include "support/itkCudaRunInThreads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#ifdef __linux__
#  include <sys/resource.h>
#  include <unistd.h>
#endif

namespace
{
using Configuration = itk::CudaFiltersConfiguration;
using Pool = itk::CudaDetail::CudaHostMemoryPool;
using ImageType = itk::Image<float, 2>;
using ContainerType = itk::CudaDetail::CudaPixelContainer<itk::SizeValueType, float>;
using BaseContainerType = ContainerType::Superclass;

constexpr size_t mebibyte = size_t{ 1 } << 20;
constexpr size_t blockSize = 2 * mebibyte;
#ifdef __linux__
constexpr bool hasPool = true;
#else
constexpr bool hasPool = false;
#endif

/** Returns a square region whose float image has 4 MiB, which is the size of two blocks. */
ImageType::RegionType
GetLargeRegion()
{
  return { { { 0, 0 } }, { { 1024, 1024 } } };
}

ImageType::RegionType
GetSmallRegion()
{
  return { { { 0, 0 } }, { { 16, 16 } } };
}

/** A source that allocates its output as the module's filters do. */
class PooledSource : public itk::ImageSource<ImageType>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(PooledSource);
  using Self = PooledSource;
  using Superclass = itk::ImageSource<ImageType>;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);
  itkTypeMacro(PooledSource, ImageSource);

protected:
  PooledSource() = default;
  ~PooledSource() override = default;

  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->SetLargestPossibleRegion(GetLargeRegion());
  }

  void
  GenerateData() override
  {
    ImageType * const output = this->GetOutput();
    itk::CudaDetail::CudaUsePooledPixelContainer(output, output->GetRequestedRegion());
    this->AllocateOutputs();
    output->FillBuffer(7.0f);
  }
};

ImageType::Pointer
MakePooledImage(const ImageType::RegionType & region)
{
  const auto image = ImageType::New();
  image->SetRegions(region);
  itk::CudaDetail::CudaUsePooledPixelContainer(image.GetPointer(), region);
  image->Allocate();
  return image;
}

template <typename TImage>
bool
IsPooled(TImage * image)
{
  using BaseType = typename TImage::PixelContainer;
  using PooledType =
    itk::CudaDetail::CudaPixelContainer<typename BaseType::ElementIdentifier, typename BaseType::Element>;
  return dynamic_cast<PooledType *>(image->GetPixelContainer()) != nullptr;
}

void
ExpectAllPixelsAre(const ImageType * image, float value)
{
  size_t different = 0;
  for (itk::ImageRegionConstIterator<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    different += it.Get() != value;
  }
  EXPECT_EQ(different, 0u) << "of " << image->GetBufferedRegion().GetNumberOfPixels() << " pixels, expected " << value;
}

/** Fixture that starts without free blocks and verifies that no block stays in use. */
class CudaPixelContainer : public testing::Test
{
protected:
  void
  SetUp() override
  {
    Pool::ReleaseUnused();
    ASSERT_EQ(Pool::GetBytesInUse(), 0u);
    m_Limit = Configuration::GetHostCacheLimit();
    Configuration::SetHostCacheLimit(1024 * mebibyte);
  }

  void
  TearDown() override
  {
    Configuration::SetHostCacheLimit(m_Limit);
    EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  }

private:
  size_t m_Limit{ 0 };
};

/** Fixture that skips where the system has no pool. */
class CudaPooledPixelContainer : public CudaPixelContainer
{
protected:
  void
  SetUp() override
  {
    CudaPixelContainer::SetUp();
    if (!hasPool)
    {
      GTEST_SKIP() << "no pool on this system";
    }
  }
};
} // namespace

TEST_F(CudaPixelContainer, Large_image_lies_in_an_aligned_block_and_a_small_one_in_ordinary_memory)
{
  const ImageType::Pointer small = MakePooledImage(GetSmallRegion());
  EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  small->FillBuffer(3.0f);
  ExpectAllPixelsAre(small, 3.0f);
  const ImageType::Pointer image = MakePooledImage(GetLargeRegion());
  EXPECT_TRUE(IsPooled(image.GetPointer()));
  if (hasPool)
  {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(image->GetBufferPointer()) % blockSize, 0u);
    EXPECT_EQ(Pool::GetBytesInUse(), 4 * mebibyte);
  }
  image->FillBuffer(3.0f);
  ExpectAllPixelsAre(image, 3.0f);
}

TEST_F(CudaPooledPixelContainer, Released_block_is_used_again)
{
  const float * first = MakePooledImage(GetLargeRegion())->GetBufferPointer();
  EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  EXPECT_EQ(Pool::GetBytesCached(), 4 * mebibyte);
  const ImageType::Pointer again = MakePooledImage(GetLargeRegion());
  EXPECT_EQ(again->GetBufferPointer(), first);
  EXPECT_EQ(Pool::GetBytesCached(), 0u);
}

TEST_F(CudaPooledPixelContainer, Much_larger_free_block_is_left_alone)
{
  void * const large = Pool::Allocate(64 * mebibyte);
  ASSERT_NE(large, nullptr);
  EXPECT_TRUE(Pool::Release(large));
  void * const small = Pool::Allocate(4 * mebibyte);
  EXPECT_NE(small, large);
  EXPECT_EQ(Pool::GetBytesCached(), 64 * mebibyte);
  EXPECT_TRUE(Pool::Release(small));
}

TEST_F(CudaPooledPixelContainer, Constructors_of_tensors_do_not_write_what_a_filter_overwrites)
{
  using TensorImageType = itk::Image<itk::SymmetricSecondRankTensor<float, 3>, 2>;
  const TensorImageType::RegionType region{ { { 0, 0 } }, { { 1024, 512 } } };
  const size_t                      bytes = region.GetNumberOfPixels() * sizeof(TensorImageType::PixelType);
  void * const                      used = Pool::Allocate(bytes);
  std::memset(used, 0x5a, bytes);
  EXPECT_TRUE(Pool::Release(used));
  for (const bool initialize : { false, true })
  {
    const auto image = TensorImageType::New();
    image->SetRegions(region);
    itk::CudaDetail::CudaUsePooledPixelContainer(image.GetPointer(), region);
    image->Allocate(initialize);
    const auto * const first = reinterpret_cast<const unsigned char *>(image->GetBufferPointer());
    ASSERT_EQ(static_cast<const void *>(first), used);
    EXPECT_EQ(std::count(first, first + bytes, initialize ? 0 : 0x5a), static_cast<ptrdiff_t>(bytes));
  }
}

namespace
{
/** An element that is not just bytes, because its constructions are counted. */
struct CountedElement
{
  CountedElement() { ++Constructions; }
  CountedElement(const CountedElement &) { ++Constructions; }
  CountedElement &
  operator=(const CountedElement &) = default;

  static size_t Constructions;
  char          Bytes[64];
};
size_t CountedElement::Constructions = 0;
} // namespace

TEST_F(CudaPixelContainer, Elements_that_are_more_than_bytes_are_constructed)
{
  const auto container = itk::CudaDetail::CudaPixelContainer<itk::SizeValueType, CountedElement>::New();
  container->Reserve(mebibyte / 8);
  EXPECT_EQ(CountedElement::Constructions, mebibyte / 8);
}

TEST_F(CudaPixelContainer, Image_outlives_its_filter_and_the_pools_free_blocks)
{
  ImageType::Pointer image;
  {
    const auto source = PooledSource::New();
    source->Update();
    image = source->GetOutput();
    image->DisconnectPipeline();
  }
  EXPECT_TRUE(IsPooled(image.GetPointer()));
  Configuration::SetHostCacheLimit(0);
  Configuration::ReleaseMemory();
  ExpectAllPixelsAre(image, 7.0f);
  image = nullptr;
  EXPECT_EQ(Pool::GetBytesCached(), 0u);
}

TEST_F(CudaPixelContainer, Second_update_keeps_the_buffer)
{
  const auto source = PooledSource::New();
  source->Update();
  const float * const buffer = source->GetOutput()->GetBufferPointer();
  source->Modified();
  source->Update();
  EXPECT_EQ(source->GetOutput()->GetBufferPointer(), buffer);
}

TEST_F(CudaPixelContainer, Reserve_keeps_contents_when_it_grows)
{
  const auto container = ContainerType::New();
  container->Reserve(mebibyte);
  std::iota(container->GetBufferPointer(), container->GetBufferPointer() + mebibyte, 0.0f);
  container->Reserve(3 * mebibyte);
  EXPECT_EQ(container->Capacity(), 3 * mebibyte);
  for (const size_t index : { size_t{ 0 }, size_t{ 1000 }, mebibyte - 1 })
  {
    EXPECT_EQ((*container)[index], static_cast<float>(index));
  }
  if (hasPool)
  {
    EXPECT_EQ(Pool::GetBytesInUse(), 12 * mebibyte);
  }
}

TEST_F(CudaPixelContainer, Squeeze_keeps_contents_and_gives_back_the_rest)
{
  const auto container = ContainerType::New();
  container->Reserve(4 * mebibyte);
  std::iota(container->GetBufferPointer(), container->GetBufferPointer() + mebibyte, 0.0f);
  container->Reserve(mebibyte);
  EXPECT_EQ(container->Capacity(), 4 * mebibyte);
  container->Squeeze();
  EXPECT_EQ(container->Capacity(), mebibyte);
  EXPECT_EQ((*container)[12345], 12345.0f);
  if (hasPool)
  {
    EXPECT_EQ(Pool::GetBytesInUse(), 4 * mebibyte);
  }
  container->Reserve(16);
  container->Squeeze(); // from the pool to ordinary memory
  EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  EXPECT_EQ((*container)[15], 15.0f);
}

TEST_F(CudaPixelContainer, Initialize_gives_back_the_block)
{
  const auto container = ContainerType::New();
  container->Reserve(mebibyte);
  container->Initialize();
  EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  EXPECT_EQ(container->Capacity(), 0u);
  EXPECT_EQ(container->GetBufferPointer(), nullptr);
  container->Reserve(mebibyte);
  EXPECT_NE(container->GetBufferPointer(), nullptr);
}

TEST_F(CudaPixelContainer, Import_gives_back_the_block_and_leaves_foreign_memory_alone)
{
  std::vector<float> foreign(100, 4.0f);
  {
    const auto container = ContainerType::New();
    container->Reserve(mebibyte);
    container->SetImportPointer(foreign.data(), foreign.size(), false);
    EXPECT_EQ(Pool::GetBytesInUse(), 0u);
    EXPECT_EQ(container->GetBufferPointer(), foreign.data());
  }
  EXPECT_EQ(foreign[99], 4.0f);
}

TEST_F(CudaPixelContainer, Import_of_an_array_to_manage_is_deleted_as_one)
{
  const auto container = ContainerType::New();
  container->SetImportPointer(new float[100], 100, true); // a leak or a mismatch is found by the address sanitizer
  container->Reserve(mebibyte);
  EXPECT_EQ(container->Size(), mebibyte);
}

TEST_F(CudaPixelContainer, Memory_taken_over_goes_back_by_the_pool)
{
  float * memory = nullptr;
  {
    const auto container = ContainerType::New();
    container->Reserve(mebibyte);
    memory = container->GetBufferPointer();
    container->ContainerManageMemoryOff();
  }
  if (!hasPool)
  {
    delete[] memory;
    GTEST_SKIP() << "no pool on this system";
  }
  EXPECT_EQ(Pool::GetBytesInUse(), 4 * mebibyte);
  EXPECT_TRUE(Pool::Release(memory));
  EXPECT_FALSE(Pool::Release(memory)) << "released twice";
}

TEST_F(CudaPixelContainer, Grafted_image_with_room_keeps_its_buffer)
{
  const auto own = ImageType::New();
  own->SetRegions(GetLargeRegion());
  own->Allocate();
  const auto source = PooledSource::New();
  source->GraftOutput(own);
  source->Update();
  EXPECT_FALSE(IsPooled(source->GetOutput()));
  EXPECT_EQ(source->GetOutput()->GetBufferPointer(), own->GetBufferPointer());
  ExpectAllPixelsAre(own, 7.0f);
}

TEST_F(CudaPixelContainer, Grafted_image_without_room_keeps_its_contents)
{
  const auto own = ImageType::New();
  own->SetRegions(GetSmallRegion());
  own->Allocate();
  own->FillBuffer(1.0f);
  const auto source = PooledSource::New();
  source->GraftOutput(own);
  source->UpdateLargestPossibleRegion();
  EXPECT_TRUE(IsPooled(source->GetOutput()));
  ExpectAllPixelsAre(own, 1.0f);
  ExpectAllPixelsAre(source->GetOutput(), 7.0f);
}

TEST_F(CudaPixelContainer, Imported_container_with_room_stays)
{
  std::vector<float> memory(GetLargeRegion().GetNumberOfPixels(), 2.0f);
  const auto         container = BaseContainerType::New();
  container->SetImportPointer(memory.data(), memory.size(), false);
  const auto image = ImageType::New();
  image->SetRegions(GetLargeRegion());
  image->SetPixelContainer(container);
  itk::CudaDetail::CudaUsePooledPixelContainer(image.GetPointer(), GetLargeRegion());
  EXPECT_EQ(image->GetPixelContainer(), container.GetPointer());
}

TEST_F(CudaPixelContainer, Image_released_by_another_thread)
{
  ImageType::Pointer image = MakePooledImage(GetLargeRegion());
  std::thread        other([released = std::move(image)]() mutable { released = nullptr; });
  other.join();
  EXPECT_EQ(Pool::GetBytesInUse(), 0u);
}

TEST_F(CudaPixelContainer, Many_threads_at_once_do_not_share_a_block)
{
  itk::cuda::test::RunInThreads(8, [](unsigned int index) -> std::string {
    size_t errors = 0;
    for (unsigned int turn = 0; turn < 20; ++turn)
    {
      const ImageType::Pointer image = MakePooledImage(GetLargeRegion());
      const size_t             last = GetLargeRegion().GetNumberOfPixels() - 1;
      image->GetBufferPointer()[0] = static_cast<float>(index);
      image->GetBufferPointer()[last] = static_cast<float>(turn);
      std::this_thread::yield();
      errors += image->GetBufferPointer()[0] != static_cast<float>(index);
      errors += image->GetBufferPointer()[last] != static_cast<float>(turn);
    }
    return errors == 0 ? "" : std::to_string(errors) + " pixels of others";
  });
}

TEST_F(CudaPooledPixelContainer, Cache_limit_lets_the_oldest_blocks_go)
{
  Configuration::SetHostCacheLimit(8 * mebibyte);
  void * const first = Pool::Allocate(4 * mebibyte);
  void * const second = Pool::Allocate(4 * mebibyte);
  void * const third = Pool::Allocate(4 * mebibyte);
  EXPECT_EQ(Pool::GetBytesInUse(), 12 * mebibyte); // memory in use has no limit
  EXPECT_TRUE(Pool::Release(first));
  EXPECT_TRUE(Pool::Release(second));
  EXPECT_EQ(Pool::GetBytesCached(), 8 * mebibyte);
  EXPECT_TRUE(Pool::Release(third));
  EXPECT_EQ(Pool::GetBytesCached(), 8 * mebibyte);

  Configuration::SetHostCacheLimit(0);
  void * const fourth = Pool::Allocate(4 * mebibyte);
  EXPECT_TRUE(Pool::Release(fourth));
  EXPECT_EQ(Pool::GetBytesCached(), 0u);
}

TEST_F(CudaPixelContainer, Vector_image_and_images_of_vectors_are_pooled)
{
  using VectorImageType = itk::VectorImage<short, 3>;
  VectorImageType::SizeType size = { { 128, 64, 64 } };
  const auto                image = VectorImageType::New();
  image->SetRegions(size);
  image->SetNumberOfComponentsPerPixel(5);
  itk::CudaDetail::CudaUsePooledPixelContainer(image.GetPointer(), image->GetLargestPossibleRegion());
  image->Allocate();
  EXPECT_TRUE(IsPooled(image.GetPointer()));
  EXPECT_EQ(image->GetPixelContainer()->Capacity(), size_t{ 128 } * 64 * 64 * 5);
  itk::CudaDetail::CudaUsePooledPixelContainer(image.GetPointer(), image->GetLargestPossibleRegion());
  EXPECT_EQ(image->GetPixelContainer()->Capacity(), size_t{ 128 } * 64 * 64 * 5) << "it had room";

  using RGBImageType = itk::Image<itk::RGBPixel<unsigned char>, 2>;
  RGBImageType::SizeType rgbSize = { { 1024, 1024 } };
  const auto             rgb = RGBImageType::New();
  rgb->SetRegions(rgbSize);
  itk::CudaDetail::CudaUsePooledPixelContainer(rgb.GetPointer(), rgb->GetLargestPossibleRegion());
  rgb->Allocate();
  EXPECT_TRUE(IsPooled(rgb.GetPointer()));
  if (hasPool)
  {
    EXPECT_EQ(Pool::GetBytesInUse(), 6 * mebibyte + 4 * mebibyte);
  }
}

TEST_F(CudaPixelContainer, Elements_with_a_destructor_stay_out_of_the_pool)
{
  const auto container = itk::CudaDetail::CudaPixelContainer<itk::SizeValueType, std::string>::New();
  container->Reserve(mebibyte / 8);
  (*container)[7] = "a text that is too long to be kept inside of the string object itself";
  EXPECT_EQ(Pool::GetBytesInUse(), 0u);
}

TEST(CudaPixelContainerDeathTest, Image_in_static_storage_lives_until_the_process_exits)
{
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
    {
      static ImageType::Pointer kept;
      kept = MakePooledImage(GetLargeRegion());
      kept->FillBuffer(1.0f);
      std::exit(0);
    },
    testing::ExitedWithCode(0),
    "");
}

#ifdef __linux__

// The pool itself

namespace
{
constexpr size_t gibibyte = size_t{ 1 } << 30;

#  if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool canLimitAddressSpace = false; // the sanitizers reserve terabytes
#  else
constexpr bool canLimitAddressSpace = true;
#  endif

/** Limits the address space of this process to `bytes` more than it has. */
void
LimitAddressSpace(size_t bytes)
{
  std::ifstream file("/proc/self/statm");
  size_t        pages = 0;
  file >> pages;
  const rlim_t limit = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit both{ limit, limit };
  if (pages == 0 || setrlimit(RLIMIT_AS, &both) != 0)
  {
    std::exit(2);
  }
}

template <typename TFilter>
void
SmoothConstantImage(size_t bytes)
{
  using ImageType = typename TFilter::InputImageType;
  const auto image = ImageType::New();
  image->SetRegions(typename ImageType::SizeType{ { 1024, bytes / (1024 * sizeof(float)) } });
  image->Allocate();
  image->FillBuffer(3.0f);
  const auto filter = TFilter::New();
  filter->SetInput(image);
  filter->Update();
}

/** Filters images, each too large for the memory of the previous ones, and then allocates memory of its own. Throws if
 * no memory is left. */
void
SmoothGrowingImages()
{
  using ImageType = itk::Image<float, 2>;
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(2); // each takes some address space
  SmoothConstantImage<itk::RecursiveGaussianImageFilter<ImageType>>(mebibyte);
  LimitAddressSpace(1000 * mebibyte);
  Configuration::SetBackend("host");
  for (const size_t size : { 32, 42, 55, 72, 94, 122, 159 })
  {
    SmoothConstantImage<itk::CudaRecursiveGaussianImageFilter<ImageType>>(size * mebibyte);
  }
  const std::vector<char> own(560 * mebibyte);
  std::exit(own.back());
}

std::chrono::steady_clock::time_point now{};

/** Fixture that starts without free blocks, with a clock that the test sets and a limit that it does not reach. */
class CudaHostMemoryPool : public testing::Test
{
protected:
  void
  SetUp() override
  {
    Configuration::SetHostCacheLimit(gibibyte);
    Pool::ReleaseUnused();
    itk::cuda::SetHostMemoryClock([] { return now; });
  }

  void
  TearDown() override
  {
    itk::cuda::SetHostMemoryClock(nullptr);
    Configuration::SetHostCacheLimit(m_Limit);
    Pool::ReleaseUnused();
    EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  }

private:
  const size_t m_Limit{ Configuration::GetHostCacheLimit() };
};
} // namespace

TEST_F(CudaHostMemoryPool, Free_blocks_go_back_after_five_seconds_at_the_next_call)
{
  void * const first = Pool::Allocate(4 * mebibyte);
  void * const second = Pool::Allocate(8 * mebibyte);
  void * const kept = Pool::Allocate(16 * mebibyte);
  Pool::Release(first);
  now += std::chrono::seconds(2);
  Pool::Release(second);
  now += std::chrono::milliseconds(2999);
  Pool::ReleaseIdle();
  EXPECT_EQ(Pool::GetBytesCached(), 12 * mebibyte);
  now += std::chrono::milliseconds(1);
  EXPECT_EQ(Pool::GetBytesCached(), 12 * mebibyte) << "nothing runs in the background";
  Pool::ReleaseIdle();
  EXPECT_EQ(Pool::GetBytesCached(), 8 * mebibyte);
  now += std::chrono::hours(1);
  EXPECT_TRUE(Pool::Release(kept)) << "what is in use stays, for however long";
  EXPECT_EQ(Pool::GetBytesCached(), 16 * mebibyte);
}

TEST_F(CudaHostMemoryPool, Reuse_begins_the_five_seconds_anew)
{
  void * const block = Pool::Allocate(4 * mebibyte);
  for (unsigned int turn = 0; turn < 3; ++turn)
  {
    EXPECT_TRUE(Pool::Release(block));
    now += std::chrono::seconds(3);
    EXPECT_EQ(Pool::Allocate(4 * mebibyte), block);
  }
  EXPECT_TRUE(Pool::Release(block));
  EXPECT_FALSE(Pool::Release(block)) << "released twice";
}

TEST_F(CudaHostMemoryPool, All_ways_into_the_module_give_idle_blocks_back)
{
  const auto makeIdleBlock = [] {
    Pool::Release(Pool::Allocate(4 * mebibyte));
    now += Pool::MaximumIdleTime;
    EXPECT_EQ(Pool::GetBytesCached(), 4 * mebibyte);
  };
  makeIdleBlock();
  EXPECT_EQ(Pool::Allocate(100), nullptr) << "too small for the pool, but a call";
  EXPECT_EQ(Pool::GetBytesCached(), 0u);

  makeIdleBlock();
  char foreign = 0;
  EXPECT_FALSE(Pool::Release(&foreign));
  EXPECT_FALSE(Pool::Release(nullptr));
  EXPECT_EQ(Pool::Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(Pool::GetBytesCached(), 0u);

  makeIdleBlock();
  itk::CudaDetail::CudaFilterBackend backend;
  backend.Requested = itk::CudaFiltersEnums::Backend::Host;
  EXPECT_FALSE(backend.SelectDevice(nullptr, 0)); // called at the beginning of each filter's run
  EXPECT_EQ(Pool::GetBytesCached(), 0u);
}

TEST(CudaHostMemoryPoolDeathTest, Free_blocks_go_back_when_the_system_refuses_memory)
{
  if (!canLimitAddressSpace)
  {
    GTEST_SKIP() << "the address space cannot be limited under this sanitizer";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
    {
      Configuration::SetHostCacheLimit(gibibyte);
      LimitAddressSpace(100 * mebibyte);
      Pool::Release(Pool::Allocate(60 * mebibyte));
      const bool wasKept = Pool::GetBytesCached() == 60 * mebibyte;
      std::exit(wasKept && Pool::Allocate(80 * mebibyte) && Pool::GetBytesCached() == 0 ? 0 : 1);
    },
    testing::ExitedWithCode(0),
    "");
}

TEST(CudaHostMemoryPoolDeathTest, Program_in_little_address_space_survives_a_loop_over_growing_images)
{
  if (!canLimitAddressSpace)
  {
    GTEST_SKIP() << "the address space cannot be limited under this sanitizer";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(SmoothGrowingImages(), testing::ExitedWithCode(0), "");
}

TEST(CudaHostMemoryPoolDeathTest, Default_limit_is_an_eighth_of_the_address_space)
{
  if (!canLimitAddressSpace)
  {
    GTEST_SKIP() << "the address space cannot be limited under this sanitizer";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
    {
      LimitAddressSpace(gibibyte);
      rlimit limit{};
      getrlimit(RLIMIT_AS, &limit);
      std::exit(Configuration::GetHostCacheLimit() <= limit.rlim_cur / 8 ? 0 : 1);
    },
    testing::ExitedWithCode(0),
    "");
}

#endif
