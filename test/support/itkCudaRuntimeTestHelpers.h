// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRuntimeTestHelpers_h
#define itkCudaRuntimeTestHelpers_h

#include "runtime/device/Call.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/memory/DeviceImage.h"
#include "support/itkCudaHostImage.h"

namespace itk::cuda::test
{
using Configuration = CudaFiltersConfiguration;

constexpr int    device = 0;
constexpr size_t mebibyte = size_t{ 1 } << 20;

inline void
UploadQuietly(const CudaImageView & host, const DeviceView & view, const Context & context)
{
  Upload(host, view, context, nullptr);
}

inline void
DownloadQuietly(const DeviceView & view, const CudaImageView & host, const Context & context)
{
  Download(view, host, context, nullptr);
}

/** Uploads `input` and downloads it to `output` through an image of `computeType`, on the stream of `context`. */
inline void
MakeRoundTrip(const CudaImageView & input,
              const CudaImageView & output,
              CudaComponentType     computeType,
              const Context &       context)
{
  StagingMemory     staging(context); // the download follows the upload without a wait, as in the filters
  const DeviceImage image(GetPlanarSize(input), computeType, context);
  Upload(input, image.GetView(), staging, nullptr);
  Download(image.GetView(), output, staging, nullptr);
}

/** Like the function above, on a stream of the module. */
inline void
MakeRoundTrip(const CudaImageView & input, const CudaImageView & output, CudaComponentType computeType)
{
  const StreamLease stream(device);
  MakeRoundTrip(input, output, computeType, stream);
}

template <typename T>
constexpr CudaComponentType
GetExactComputeType()
{
  return sizeof(T) <= 2 || std::is_same_v<T, float> ? CudaComponentType::Float : CudaComponentType::Double;
}

/** Fixture that skips without a usable GPU, restores the settings, and verifies that no memory stays in use. */
class DeviceTest : public testing::Test
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!Configuration::IsDeviceUsable(device, reason))
    {
      GTEST_SKIP() << reason;
    }
  }

  void
  TearDown() override
  {
    FaultHook::Clear();
    Configuration::SetDeviceMemoryLimit(0);
    Configuration::SetNumberOfTransferThreads(0);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);
  }
};
} // namespace itk::cuda::test

#endif
