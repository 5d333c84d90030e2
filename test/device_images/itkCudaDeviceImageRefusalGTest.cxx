// SPDX-License-Identifier: Apache-2.0

// What device images say where there is no GPU, or no such device.

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::CudaDeviceImageMemory;
using itk::CudaError;
using itk::CudaFiltersConfiguration;

/** The description of the CudaError of kind NotUsable that is thrown; empty if there is none. */
std::string
GetRefusal(const std::function<void()> & function)
{
  try
  {
    function();
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::NotUsable) << error.GetDescription();
    return error.GetDescription();
  }
  return {};
}

/** Why device 0 cannot be used; empty if it can. */
std::string
GetReason()
{
  std::string reason;
  return CudaFiltersConfiguration::IsDeviceUsable(0, reason) ? std::string() : reason;
}

/** Skips where the first device can be used. */
class CudaDeviceImageRefusal : public testing::Test
{
protected:
  void
  SetUp() override
  {
    m_Reason = GetReason();
    if (m_Reason.empty())
    {
      GTEST_SKIP() << "there is a GPU";
    }
  }

  std::string m_Reason;
};
} // namespace

TEST_F(CudaDeviceImageRefusal, Memory_is_refused_with_the_reason)
{
  ExpectContains(GetRefusal([] { CudaDeviceImageMemory::Allocate(1000, 0); }), m_Reason);
  EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceImageRefusal, Adoption_is_refused_and_releases_nothing)
{
  int  value = 0;
  bool released = false;
  ExpectContains(
    GetRefusal([&] { CudaDeviceImageMemory::Adopt(&value, sizeof(value), 0, [&released] { released = true; }); }),
    m_Reason);
  EXPECT_FALSE(released) << "the memory is still the caller's";
}

TEST_F(CudaDeviceImageRefusal, Memory_of_a_caller_is_refused_with_the_reason)
{
  float value = 0;
  ExpectContains(GetRefusal([&] {
                   itk::CudaDetail::CudaQueueOnStream({}, { &value, itk::CudaComponentType::Float, 0, 1 }, &value);
                 }),
                 m_Reason);
}

TEST_F(CudaDeviceImageRefusal, Image_is_refused_with_the_reason_and_holds_nothing)
{
  using ImageType = itk::CudaDeviceImage<float, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 8, 8 } });
  image->SetDeviceIndex(0);
  ExpectContains(GetRefusal([&image] { image->Allocate(); }), m_Reason);
  EXPECT_FALSE(image->IsAllocated());
  EXPECT_EQ(image->GetBufferedRegion().GetNumberOfPixels(), 64u) << "as in itk::Image";
}

TEST_F(CudaDeviceImageRefusal, Pointer_is_refused_with_the_reason_and_the_owner_let_go)
{
  using ImageType = itk::CudaDeviceImage<float, 1>;
  float      pixels[8] = {};
  const auto owner = std::make_shared<int>(0);
  ExpectContains(GetRefusal([&] {
                   itk::CudaDeviceImageFromPointer<ImageType>(
                     pixels, ImageType::RegionType(ImageType::SizeType{ { 8 } }), nullptr, owner, 0);
                 }),
                 m_Reason);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(CudaDeviceImageMemory, Device_that_is_not_there_is_refused_by_its_index)
{
  const std::string refusal = GetRefusal([] { CudaDeviceImageMemory::Allocate(1000, 4711); });
  EXPECT_FALSE(refusal.empty());
  if (CudaFiltersConfiguration::GetBuiltWithCuda() && !CudaFiltersConfiguration::GetDevices().empty())
  {
    ExpectContains(refusal, "4711");
  }
  EXPECT_FALSE(GetRefusal([] { CudaDeviceImageMemory::Allocate(1000, -1); }).empty());
}
