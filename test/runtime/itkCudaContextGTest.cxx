// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaUploadImageFilter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <thread>

#ifdef __linux__

#  include <dlfcn.h>

// Verifies which devices have a context, in separate new processes. The tests query the driver directly, because calls
// of the runtime may create the context that they ask about.
namespace
{
using Configuration = itk::CudaFiltersConfiguration;
using itk::cuda::DeviceGuard;
using itk::cuda::PinnedBuffer;
using itk::cuda::StreamLease;

template <typename TFunction>
TFunction
GetDriverFunction(const char * name)
{
  void * const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void * const function = driver ? dlsym(driver, name) : nullptr;
  if (!function)
  {
    std::cerr << "the driver has no " << name << std::endl;
    std::exit(2);
  }
  return reinterpret_cast<TFunction>(function);
}

bool
HasContext(int device)
{
  unsigned int flags = 0;
  int          isActive = 0;
  const auto   getState = GetDriverFunction<int (*)(int, unsigned int *, int *)>("cuDevicePrimaryCtxGetState");
  if (getState(device, &flags, &isActive) != 0)
  {
    std::cerr << "the state of device " << device << " cannot be read" << std::endl;
    std::exit(2);
  }
  return isActive != 0;
}

/** Returns the device of the context that is current in this thread, or -1 if there is no current context. */
int
GetCurrentDevice()
{
  int        device = -1;
  const auto getDevice = GetDriverFunction<int (*)(int *)>("cuCtxGetDevice");
  return getDevice(&device) == 0 ? device : -1;
}

/** Filters an image that is large enough to be transferred by several threads. */
void
FilterOnDevice(int device)
{
  using ImageType = itk::Image<float, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 2048, 2048 } });
  image->Allocate();
  image->FillBuffer(3.0f);
  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(image);
  filter->SetBackend("cuda");
  filter->SetDeviceIndex(device);
  filter->Update();
}

/** Uses a device image. Each step runs in a new thread, whose current device is device 0. */
void
UseDeviceImage(int device)
{
  using ImageType = itk::Image<float, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 256, 256 } });
  image->Allocate(true);
  itk::CudaDeviceImage<float, 2>::Pointer uploaded;
  std::thread([&] { uploaded = itk::CudaUpload(image, device); }).join();
  std::thread([&] { itk::CudaDownload(uploaded); }).join();
  std::thread([&] { uploaded->Synchronize(); }).join();
  std::thread([&] { uploaded = nullptr; }).join();
}

void
RunInThread(void (*function)())
{
  std::thread(function).join();
}

/** Ends the process, successfully if the two devices have contexts as expected. */
[[noreturn]] void
ExitWithContexts(bool first, bool second)
{
  const bool asExpected = HasContext(0) == first && HasContext(1) == second;
  std::cerr << "device 0 " << (HasContext(0) ? "has a context" : "has no context") << ", device 1 "
            << (HasContext(1) ? "has a context" : "has no context") << std::endl;
  std::exit(asExpected ? 0 : 1);
}

/** Runs the statements of a death test in a new process. */
class CudaContextDeathTest : public testing::Test
{
protected:
  void
  SetUp() override
  {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }

  /** Creates no context. */
  static bool
  HasDevices(size_t number)
  {
    return Configuration::GetDevices().size() >= number;
  }
};
} // namespace

TEST_F(CudaContextDeathTest, List_of_devices_creates_no_context)
{
  if (!HasDevices(1))
  {
    GTEST_SKIP() << "no device";
  }
  EXPECT_EXIT(
    {
      Configuration::GetDevices();
      Configuration::ReleaseMemory();
      std::exit(HasContext(0) ? 1 : 0);
    },
    testing::ExitedWithCode(0),
    "");
}

TEST_F(CudaContextDeathTest, Filter_creates_a_context_on_its_device)
{
  if (!HasDevices(1))
  {
    GTEST_SKIP() << "no device";
  }
  EXPECT_EXIT(
    {
      FilterOnDevice(0);
      std::exit(HasContext(0) && GetCurrentDevice() == 0 ? 0 : 1);
    },
    testing::ExitedWithCode(0),
    "");
}

TEST_F(CudaContextDeathTest, Filter_on_the_second_device_creates_none_on_the_first)
{
  if (!HasDevices(2))
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  EXPECT_EXIT((FilterOnDevice(1), ExitWithContexts(false, true)), testing::ExitedWithCode(0), "");
}

TEST_F(CudaContextDeathTest, Threads_and_status_of_the_second_device_create_none_on_the_first)
{
  if (!HasDevices(2))
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  EXPECT_EXIT(
    {
      Configuration::SetDeviceIndex(1);
      RunInThread([] { FilterOnDevice(1); });
      RunInThread([] { FilterOnDevice(1); });
      RunInThread([] { Configuration::GetStatus(); });
      RunInThread([] { Configuration::GetDevices(); });
      RunInThread([] { StreamLease stream(1); });
      RunInThread([] { Configuration::ReleaseMemory(); });
      ExitWithContexts(false, true);
    },
    testing::ExitedWithCode(0),
    "");
}

TEST_F(CudaContextDeathTest, Page_locked_memory_of_the_second_device_is_released_without_the_first)
{
  if (!HasDevices(2))
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  EXPECT_EXIT(
    {
      RunInThread([] {
        itk::cuda::RequireUsableDevice(1);
        const DeviceGuard guard(1);
        PinnedBuffer::Take();
      });
      RunInThread([] { Configuration::ReleaseMemory(); });
      ExitWithContexts(false, true);
    },
    testing::ExitedWithCode(0),
    "");
}

TEST_F(CudaContextDeathTest, Device_image_of_the_second_device_creates_none_on_the_first)
{
  if (!HasDevices(2))
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  EXPECT_EXIT((UseDeviceImage(1), ExitWithContexts(false, true)), testing::ExitedWithCode(0), "");
}

TEST_F(CudaContextDeathTest, First_device_is_current_again_if_it_is_in_use)
{
  if (!HasDevices(2))
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  EXPECT_EXIT(
    {
      FilterOnDevice(0);
      FilterOnDevice(1);
      if (GetCurrentDevice() != 0)
      {
        std::cerr << "the current device is " << GetCurrentDevice() << std::endl;
        std::exit(3);
      }
      ExitWithContexts(true, true);
    },
    testing::ExitedWithCode(0),
    "");
}

#endif
