// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itksys/SystemTools.hxx"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using Configuration = itk::CudaFiltersConfiguration;
using Backend = itk::CudaFiltersEnums::Backend;
using Kind = itk::CudaError::Kind;

constexpr int noSuchDevice = 1000;

bool
HasDevice()
{
  std::string reason;
  return Configuration::IsDeviceUsable(0, reason);
}

template <typename TFunction>
std::string
Print(const TFunction & function)
{
  std::ostringstream text;
  text << function();
  return text.str();
}

std::string
JoinIndices(const std::vector<int> & indices)
{
  std::string text;
  for (const int index : indices)
  {
    text += (text.empty() ? "" : " ") + std::to_string(index);
  }
  return text;
}

/** Restores the settings that the tests change. */
class CudaFiltersConfiguration : public testing::Test
{
protected:
  void
  TearDown() override
  {
    Configuration::SetBackend(Backend::Automatic);
    Configuration::SetDeviceIndex(0);
    Configuration::SetDeviceMemoryLimit(0);
    Configuration::SetDeviceMemoryResource(nullptr, nullptr);
    Configuration::SetNumberOfTransferThreads(0);
  }
};
} // namespace

/** Each row is a new process, in which no setting has been made yet. */
TEST(CudaFiltersConfigurationDeathTest, Settings_come_from_the_environment)
{
  struct Row
  {
    std::string Assignment; // of an environment variable
    std::string (*Check)();
    std::string Output; // the value, or the description of an exception
  };
  const auto backend = [] { return Print(Configuration::GetBackend); };
  const auto index = [] { return Print(Configuration::GetDeviceIndex); };
  const auto keep = [] { return Print(Configuration::GetKeepOnDevice); };
  const auto streaming = [] { return Print(Configuration::GetStreaming); };
  const auto devices = [] { return JoinIndices(Configuration::GetDeviceIndices()); };

  std::vector<Row> rows{
    { "BACKEND=", backend, "Backend::Automatic" },
    { "BACKEND=HoSt", backend, "Backend::Host" },
    { "BACKEND=cuda", backend, "Backend::Cuda" },
    { "BACKEND=opencl", backend, "ITK_CUDAFILTERS_BACKEND is \"opencl\"; it must be automatic, cuda or host" },
    { "BACKEND=opencl",
      [] {
        Configuration::SetBackend(Backend::Host);
        return Print(Configuration::GetBackend);
      },
      "Backend::Host" },
    { "DEVICE=", index, "^0\n" },
    { "DEVICE=3", index, "^3\n" },
    { "DEVICE=one", Configuration::GetStatus, "ITK_CUDAFILTERS_DEVICE is \"one\"" },
    { "DEVICES=", devices, "^0\n" },
    { "DEVICES=1,0,12,0", devices, "^1 0 12 0\n" },
    { "DEVICES=5,6", index, "^5\n" },
    { "DEVICES=5,6",
      [] {
        Configuration::SetDeviceIndex(2);
        return JoinIndices(Configuration::GetDeviceIndices());
      },
      "^2\n" },
    { "DEVICES=5,6",
      [] {
        Configuration::SetDevices({ 3, 4 });
        return Print(Configuration::GetDeviceIndex) + ", " + JoinIndices(Configuration::GetDeviceIndices());
      },
      "^3, 3 4\n" },
    { "DEVICES=all",
      [] {
        std::string none;
        for (const int device : Configuration::GetDeviceIndices())
        {
          std::string reason;
          none += device == 0 || Configuration::IsDeviceUsable(device, reason) ? "" : reason;
        }
        return none;
      },
      "^\n" },
    { "KEEP_ON_DEVICE=", keep, "^0\n" },
    { "KEEP_ON_DEVICE=0", keep, "^0\n" },
    { "KEEP_ON_DEVICE=1", keep, "^1\n" },
    { "KEEP_ON_DEVICE=yes", keep, "ITK_CUDAFILTERS_KEEP_ON_DEVICE is \"yes\"; it must be 0 or 1" },
    { "KEEP_ON_DEVICE=1",
      [] {
        Configuration::SetKeepOnDevice(false);
        return Print(Configuration::GetKeepOnDevice);
      },
      "^0\n" },
    { "STREAMING=", streaming, "Streaming::Automatic" },
    { "STREAMING=On", streaming, "Streaming::On" },
    { "STREAMING=yes", streaming, "ITK_CUDAFILTERS_STREAMING is \"yes\"; it must be automatic, on or off" },
    { "STREAMING=On",
      [] {
        Configuration::SetStreaming("off");
        return Print(Configuration::GetStreaming);
      },
      "Streaming::Off" },
  };
  for (const std::string text : { "one", "-1", "1x", " 1", "1.5", "99999999999999999999" })
  {
    rows.push_back(
      { "DEVICE=" + text, index, "ITK_CUDAFILTERS_DEVICE is \"" + text + "\"; it must be the index of a device" });
  }
  for (const std::string text : { "0,", ",0", "0,,1", "0;1", "0,-1", "All", "all,0", "0, 1", "1.5", "99999999999" })
  {
    rows.push_back(
      { "DEVICES=" + text,
        devices,
        "ITK_CUDAFILTERS_DEVICES is \"" + text + "\"; it must be all, or indices of devices with commas" });
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const Row & row : rows)
  {
    SCOPED_TRACE(row.Assignment);
    EXPECT_EXIT(
      {
        itksys::SystemTools::PutEnv("ITK_CUDAFILTERS_" + row.Assignment);
        try
        {
          std::cerr << row.Check() << std::endl;
        }
        catch (const itk::ExceptionObject & exception)
        {
          std::cerr << exception.GetDescription() << std::endl;
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      row.Output);
  }
}

TEST_F(CudaFiltersConfiguration, Backend_by_value_and_by_name)
{
  for (const Backend backend : { Backend::Cuda, Backend::Automatic, Backend::Host })
  {
    Configuration::SetBackend(itk::CudaBackendToString(backend));
    EXPECT_EQ(Configuration::GetBackend(), backend);
  }
  ExpectContains(GetException([] { Configuration::SetBackend("gpu"); }),
                 "Backend is \"gpu\"; it must be automatic, cuda or host");
  EXPECT_EQ(Configuration::GetBackend(), Backend::Host) << "nothing has changed";
  std::ostringstream text;
  text << Backend::Cuda << ' ' << static_cast<Backend>(100);
  EXPECT_EQ(text.str(), "itk::CudaFiltersEnums::Backend::Cuda INVALID VALUE FOR itk::CudaFiltersEnums::Backend");
}

TEST_F(CudaFiltersConfiguration, Device_index_must_not_be_negative)
{
  Configuration::SetDeviceIndex(2);
  ExpectContains(GetException([] { Configuration::SetDeviceIndex(-1); }), "DeviceIndex is -1; it must be");
  EXPECT_EQ(Configuration::GetDeviceIndex(), 2);
}

TEST_F(CudaFiltersConfiguration, Devices_include_the_device_index)
{
  Configuration::SetDeviceIndex(2);
  EXPECT_EQ(JoinIndices(Configuration::GetDeviceIndices()), "2");
  Configuration::SetDevices({ 1, 0, 1 });
  EXPECT_EQ(JoinIndices(Configuration::GetDeviceIndices()), "1 0 1");
  EXPECT_EQ(Configuration::GetDeviceIndex(), 1);
  ExpectContains(Configuration::GetStatus(), ", device 1 0 1\n");
  ExpectContains(GetException([] {
                   Configuration::SetDevices({ 0, -3 });
                 }),
                 "Devices contain -3; they must be indices of devices: 0, 1, 2, ...");
  EXPECT_EQ(JoinIndices(Configuration::GetDeviceIndices()), "1 0 1") << "nothing has changed";
  Configuration::SetDevices({});
  EXPECT_EQ(JoinIndices(Configuration::GetDeviceIndices()), "1");
  Configuration::SetDevices({ 4, 5 });
  Configuration::SetDeviceIndex(0);
  EXPECT_EQ(JoinIndices(Configuration::GetDeviceIndices()), "0");
}

/** A filter's own devices come first, then its index, then the devices of the configuration. */
TEST_F(CudaFiltersConfiguration, Devices_of_filters_have_priority)
{
  using FilterType = itk::CudaSmoothingRecursiveGaussianImageFilter<itk::Image<float, 3>, itk::Image<float, 3>>;
  const auto filter = FilterType::New();
  EXPECT_TRUE(filter->GetDevices().empty());
  const auto time = filter->GetMTime();
  filter->SetDevices({});
  EXPECT_EQ(filter->GetMTime(), time);
  filter->SetDevices({ 0, 1 });
  EXPECT_GT(filter->GetMTime(), time);
  EXPECT_EQ(JoinIndices(filter->GetDevices()), "0 1");
  ExpectContains(GetException([&] { filter->SetDevices({ -1 }); }), "Devices contain -1; they must be");
  std::ostringstream text;
  filter->Print(text);
  ExpectContains(text.str(), "Devices: 0 1\n");

  Configuration::SetDevices({ 0, 0, 0 });
  itk::CudaDetail::CudaFilterBackend backend;
  const auto                         select = [&backend] {
    backend.SelectDevice(nullptr, 0, true);
    return JoinIndices(backend.GetSelectedDevices());
  };
  EXPECT_EQ(select(), "0 0 0");
  backend.DeviceIndex = 0;
  EXPECT_EQ(select(), "0");
  backend.Devices = { 0, 0 };
  EXPECT_EQ(select(), "0 0");
  backend.Devices = { 0, noSuchDevice };
  for (const auto streaming : { itk::CudaFiltersEnums::Streaming::On, itk::CudaFiltersEnums::Streaming::Off })
  {
    backend.Streaming = streaming;
    EXPECT_FALSE(backend.SelectDevice(nullptr, 0, true));
    ExpectContains(backend.Reason, HasDevice() ? "device index 1000 is out of range" : "");
  }
  backend.Requested = Backend::Cuda;
  ExpectContains(GetException([&] { backend.SelectDevice(nullptr, 0, true); }),
                 "The backend of the filter is Cuda, but it cannot be used: ");
}

namespace
{
void *
AllocateNothing(size_t, int, void *, void *)
{
  return nullptr;
}

void
ReleaseNothing(void *, size_t, int, void *, void *)
{}
} // namespace

TEST_F(CudaFiltersConfiguration, Device_memory_resource_is_kept_and_needs_both_functions)
{
  EXPECT_EQ(Configuration::GetDeviceMemoryResource(), itk::CudaDeviceMemoryResource());
  int context = 0;
  Configuration::SetDeviceMemoryResource(AllocateNothing, ReleaseNothing, &context);
  const itk::CudaDeviceMemoryResource resource = Configuration::GetDeviceMemoryResource();
  EXPECT_TRUE(resource.Allocate == AllocateNothing);
  EXPECT_TRUE(resource.Release == ReleaseNothing);
  EXPECT_EQ(resource.Context, &context);
  ExpectContains(Configuration::GetStatus(), "from the program's own functions");
  ExpectContains(GetException([] { Configuration::SetDeviceMemoryResource(AllocateNothing, nullptr); }),
                 "The function 'release' of DeviceMemoryResource is nullptr, but 'allocate' is not");
  ExpectContains(GetException([] { Configuration::SetDeviceMemoryResource(nullptr, ReleaseNothing); }),
                 "The function 'allocate' of DeviceMemoryResource is nullptr, but 'release' is not");
  EXPECT_EQ(Configuration::GetDeviceMemoryResource(), resource) << "nothing has changed";
  Configuration::SetDeviceMemoryResource(nullptr, nullptr, &context);
  EXPECT_EQ(Configuration::GetDeviceMemoryResource(), itk::CudaDeviceMemoryResource());
}

TEST_F(CudaFiltersConfiguration, Transfer_threads_default_to_at_most_sixteen)
{
  const unsigned int automatic = Configuration::GetNumberOfTransferThreads();
  EXPECT_GE(automatic, 1u);
  EXPECT_LE(automatic, 16u);
  Configuration::SetNumberOfTransferThreads(40);
  EXPECT_EQ(Configuration::GetNumberOfTransferThreads(), 40u);
  Configuration::SetNumberOfTransferThreads(0);
  EXPECT_EQ(Configuration::GetNumberOfTransferThreads(), automatic);
}

TEST_F(CudaFiltersConfiguration, Host_cache_limit_defaults_to_a_part_of_the_memory)
{
  const size_t limit = Configuration::GetHostCacheLimit();
  EXPECT_GT(limit, size_t{ 1 } << 20);
  Configuration::SetHostCacheLimit(12345);
  EXPECT_EQ(Configuration::GetHostCacheLimit(), 12345u);
  Configuration::SetHostCacheLimit(limit);
}

TEST_F(CudaFiltersConfiguration, Devices_are_numbered_and_described)
{
  int index = 0;
  for (const itk::CudaDeviceInformation & device : Configuration::GetDevices())
  {
    EXPECT_EQ(device.Index, index++);
    EXPECT_FALSE(device.Name.empty());
    EXPECT_GE(device.ComputeCapability, 10);
    EXPECT_GT(device.TotalMemory, 0u);
    EXPECT_EQ(device.Usable, device.Reason.empty());
  }
}

TEST_F(CudaFiltersConfiguration, Device_that_does_not_exist_is_not_usable)
{
  std::string reason;
  EXPECT_FALSE(Configuration::IsDeviceUsable(noSuchDevice, reason));
  EXPECT_FALSE(reason.empty());
  if (HasDevice())
  {
    ExpectContains(reason, "device index 1000 is out of range");
  }
  EXPECT_FALSE(Configuration::IsDeviceUsable(-2, reason));
  ExpectContains(reason, "-2");
}

TEST_F(CudaFiltersConfiguration, Versions_agree_with_the_build)
{
  if (Configuration::GetBuiltWithCuda())
  {
    EXPECT_GE(Configuration::GetRequiredDriverVersion(), 12000);
    EXPECT_EQ(Configuration::GetRequiredDriverVersion() % 1000, 0);
  }
  else
  {
    EXPECT_EQ(Configuration::GetRequiredDriverVersion(), 0);
    EXPECT_EQ(Configuration::GetDriverVersion(), 0);
    EXPECT_TRUE(Configuration::GetDevices().empty());
    std::string reason;
    EXPECT_FALSE(Configuration::IsDeviceUsable(-1, reason));
    EXPECT_EQ(reason, "built without CUDA");
  }
}

TEST_F(CudaFiltersConfiguration, Status_names_the_reason_for_the_host)
{
  ExpectContains(Configuration::GetStatus(), HasDevice() ? "run on device 0" : "run on the host: ");
  Configuration::SetBackend(Backend::Host);
  ExpectContains(Configuration::GetStatus(), "run on the host: backend Host is set");
  Configuration::SetBackend(Backend::Cuda);
  Configuration::SetDeviceIndex(noSuchDevice);
  ExpectContains(Configuration::GetStatus(), "fail, as backend Cuda is set: ");
}

TEST_F(CudaFiltersConfiguration, Filter_goes_before_the_configuration)
{
  itk::CudaDetail::CudaFilterBackend backend;
  EXPECT_EQ(backend.Used, Backend::Automatic);
  EXPECT_EQ(backend.Reason, "not run yet");

  backend.Requested = Backend::Host;
  Configuration::SetBackend(Backend::Cuda);
  EXPECT_FALSE(backend.SelectDevice(nullptr, 0));
  EXPECT_EQ(backend.Used, Backend::Host);
  EXPECT_EQ(backend.Reason, "the backend of the filter is Host");

  backend.Requested = Backend::Automatic;
  Configuration::SetBackend(Backend::Host);
  EXPECT_FALSE(backend.SelectDevice(nullptr, 0));
  EXPECT_EQ(backend.Reason, "the backend of CudaFiltersConfiguration is Host");
}

TEST_F(CudaFiltersConfiguration, Device_index_of_the_configuration_counts_for_filters_with_none)
{
  itk::CudaDetail::CudaFilterBackend backend;
  Configuration::SetDeviceIndex(noSuchDevice);
  EXPECT_FALSE(backend.SelectDevice(nullptr, 0));
  if (HasDevice())
  {
    ExpectContains(backend.Reason, "1000");
    backend.DeviceIndex = 0;
    EXPECT_TRUE(backend.SelectDevice(nullptr, 0));
    EXPECT_EQ(backend.GetSelectedDeviceIndex(), 0);
  }
}

TEST_F(CudaFiltersConfiguration, Working_sets_are_compared_with_the_memory_and_the_limit)
{
  if (!HasDevice())
  {
    GTEST_SKIP() << "no usable GPU";
  }
  itk::CudaDetail::CudaFilterBackend backend;
  EXPECT_TRUE(backend.SelectDevice(nullptr, size_t{ 3 } << 20));
  EXPECT_EQ(backend.Used, Backend::Cuda);
  ExpectContains(backend.Reason, "device 0 (");
  ExpectContains(backend.Reason, "3.0 MiB of ");
  EXPECT_FALSE(backend.SelectDevice(nullptr, size_t{ 1 } << 50));
  ExpectContains(backend.Reason, "not enough memory on device 0");
  ExpectContains(backend.Reason, "limit: none");

  constexpr size_t limit = 1000000;
  Configuration::SetDeviceMemoryLimit(limit);
  EXPECT_FALSE(backend.SelectDevice(nullptr, 2 * limit));
  EXPECT_EQ(backend.Used, Backend::Host);
  ExpectContains(backend.Reason, "asked: 2000000 bytes");
  ExpectContains(backend.Reason, "limit: 1000000 bytes");
  backend.Requested = Backend::Cuda;
  try
  {
    backend.SelectDevice(nullptr, 2 * limit);
    FAIL() << "no exception for a working set above the limit";
  }
  catch (const itk::CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), Kind::OutOfMemory);
    ExpectContains(error.GetDescription(), "asked: 2000000 bytes");
    ExpectContains(error.GetDescription(), "free: ");
    ExpectContains(error.GetDescription(), "limit: 1000000 bytes");
  }
  EXPECT_TRUE(backend.SelectDevice(nullptr, limit / 2));
}

TEST_F(CudaFiltersConfiguration, Only_Automatic_falls_back_when_memory_runs_out)
{
  using itk::CudaError;
  static_assert(std::is_nothrow_copy_constructible_v<CudaError>, "exceptions are copied when thrown");
  const CudaError                    memory(__FILE__, __LINE__, CudaError::Kind::OutOfMemory, "out of memory");
  const CudaError                    call(__FILE__, __LINE__, CudaError::Kind::CallFailed, "a call failed");
  itk::CudaDetail::CudaFilterBackend backend;
  EXPECT_FALSE(backend.FallBackToHost(call));
  EXPECT_TRUE(backend.FallBackToHost(memory));
  EXPECT_EQ(backend.Used, Backend::Host);
  EXPECT_EQ(backend.Reason, "out of memory");

  backend.Requested = Backend::Cuda;
  EXPECT_FALSE(backend.FallBackToHost(memory));
  EXPECT_EQ(backend.Used, Backend::Automatic);

  backend.Requested = Backend::Automatic;
  Configuration::SetBackend(Backend::Cuda);
  EXPECT_FALSE(backend.FallBackToHost(memory));
}

TEST(CudaFiltersEnumNames, AreReadWithoutCaseUnderscoreAndHyphen)
{
  for (const char * const name :
       { "CoarseToFine", "coarsetofine", "coarse_to_fine", "coarse-to-fine", "COARSE_To-fine" })
  {
    EXPECT_EQ(itk::CudaScheduleFromString(name), itk::CudaFiltersEnums::Schedule::CoarseToFine) << name;
  }
  EXPECT_EQ(itk::CudaScheduleFromString("as_published"), itk::CudaFiltersEnums::Schedule::AsPublished);
  EXPECT_EQ(itk::CudaStartFromString("margin_rectangle"), itk::CudaFiltersEnums::Start::MarginRectangle);
  EXPECT_EQ(itk::CudaNoiseLawFromString("log-normal"), itk::CudaFiltersEnums::NoiseLaw::LogNormal);
  EXPECT_EQ(itk::CudaNoiseLawFromString("gaussian_common_variance"),
            itk::CudaFiltersEnums::NoiseLaw::GaussianCommonVariance);
  EXPECT_EQ(itk::CudaNoiseLawFromString("gaussian"), itk::CudaFiltersEnums::NoiseLaw::Gaussian);
  EXPECT_EQ(itk::CudaApproximationFromString("ACCURATE"), itk::CudaFiltersEnums::Approximation::Accurate);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("REFLECT"), itk::CudaFiltersEnums::BoundaryMode::Reflect);
  EXPECT_EQ(itk::CudaPartitionFromString("two_way"), itk::CudaFiltersEnums::Partition::TwoWay);
  EXPECT_EQ(itk::CudaLineBordersFromString("as-published"), itk::CudaFiltersEnums::LineBorders::AsPublished);
  EXPECT_EQ(itk::CudaIntermediateStorageFromString("global"), itk::CudaFiltersEnums::IntermediateStorage::Global);
  EXPECT_EQ(itk::CudaBackendFromString("Cuda"), itk::CudaFiltersEnums::Backend::Cuda);
  EXPECT_EQ(itk::CudaStreamingFromString("ON"), itk::CudaFiltersEnums::Streaming::On);
  EXPECT_EQ(itk::CudaRoundingFromString("NEAREST"), itk::CudaRounding::Nearest);
}

TEST(CudaFiltersEnumNames, BoundaryModesHaveScipysNames)
{
  EXPECT_EQ(itk::CudaBoundaryModeFromString("nearest"), itk::CudaFiltersEnums::BoundaryMode::Nearest);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("mirror"), itk::CudaFiltersEnums::BoundaryMode::Mirror);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("wrap"), itk::CudaFiltersEnums::BoundaryMode::Wrap);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("constant"), itk::CudaFiltersEnums::BoundaryMode::Constant);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("grid-mirror"), itk::CudaFiltersEnums::BoundaryMode::Reflect);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("grid-wrap"), itk::CudaFiltersEnums::BoundaryMode::Wrap);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("grid-constant"), itk::CudaFiltersEnums::BoundaryMode::Constant);
  ExpectContains(GetException([] { itk::CudaBoundaryModeFromString("grid-nearest"); }),
                 "BoundaryMode is \"grid-nearest\"; it must be Nearest, Reflect, Mirror, Wrap or Constant");
}
