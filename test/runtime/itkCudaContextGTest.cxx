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
#include <string>
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

/** What a new process does, and which devices have a context then. */
struct ContextCase
{
  const char * Name;
  size_t       Devices; // that it needs
  void (*Run)();
  bool First, Second;
};

std::ostream &
operator<<(std::ostream & os, const ContextCase & one)
{
  return os << one.Name;
}

/** Ends the process, successfully if the devices have contexts as expected, and the first is current if it is in use.
 */
[[noreturn]] void
ExitWithContexts(const ContextCase & expected)
{
  const bool second = expected.Devices > 1 && HasContext(1);
  const int  current = GetCurrentDevice();
  std::cerr << "device 0 " << (HasContext(0) ? "has a context" : "has no context") << ", device 1 "
            << (second ? "has a context" : "has no context") << "; device " << current << " is current" << std::endl;
  const bool asExpected = HasContext(0) == expected.First && second == expected.Second;
  std::exit(asExpected && (!expected.First || current == 0) ? 0 : 1);
}

class CudaContextDeathTest : public testing::TestWithParam<ContextCase>
{};

TEST_P(CudaContextDeathTest, Is_on_the_devices_that_are_used_alone)
{
  const ContextCase one = GetParam();
  if (Configuration::GetDevices().size() < one.Devices) // creates no context
  {
    GTEST_SKIP() << "fewer than " << one.Devices << " devices";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT((one.Run(), ExitWithContexts(one)), testing::ExitedWithCode(0), "");
}

const ContextCase cases[] = {
  { "ListOfDevices",
    1,
    [] {
      Configuration::GetDevices();
      Configuration::ReleaseMemory();
    },
    false,
    false },
  { "Filter", 1, [] { FilterOnDevice(0); }, true, false },
  { "FilterOnTheSecond", 2, [] { FilterOnDevice(1); }, false, true },
  { "ThreadsAndStatusOfTheSecond",
    2,
    [] {
      Configuration::SetDeviceIndex(1);
      RunInThread([] { FilterOnDevice(1); });
      RunInThread([] { FilterOnDevice(1); });
      RunInThread([] { Configuration::GetStatus(); });
      RunInThread([] { Configuration::GetDevices(); });
      RunInThread([] { StreamLease stream(1); });
      RunInThread([] { Configuration::ReleaseMemory(); });
    },
    false,
    true },
  { "PageLockedMemoryOfTheSecond",
    2,
    [] {
      RunInThread([] {
        itk::cuda::RequireUsableDevice(1);
        const DeviceGuard guard(1);
        PinnedBuffer::Take();
      });
      RunInThread([] { Configuration::ReleaseMemory(); });
    },
    false,
    true },
  { "DeviceImageOfTheSecond", 2, [] { UseDeviceImage(1); }, false, true },
  { "BothInTurn",
    2,
    [] {
      FilterOnDevice(0);
      FilterOnDevice(1);
    },
    true,
    true },
};

INSTANTIATE_TEST_SUITE_P(Gpu,
                         CudaContextDeathTest,
                         testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<ContextCase> & info) { return std::string(info.param.Name); });
} // namespace

#endif
