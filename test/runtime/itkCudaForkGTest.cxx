// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailHostMemoryPool.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRecursiveGaussianImageFilter.h"

#include <gtest/gtest.h>

#ifdef __linux__

#  include <atomic>
#  include <cmath>
#  include <thread>
#  include <vector>

#  include <sys/wait.h>
#  include <unistd.h>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;
using Configuration = itk::CudaFiltersConfiguration;
using Pool = itk::CudaDetail::CudaHostMemoryPool;
using ImageType = itk::Image<float, 2>;

constexpr size_t       mebibyte = size_t{ 1 } << 20;
constexpr unsigned int secondsUntilAlarm = 10; // a child that hangs is killed

/** Returns an image of 2 MB, so that its smoothed output is a block of the pool. */
ImageType::Pointer
MakeConstantImage()
{
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 724, 724 } });
  image->Allocate();
  image->FillBuffer(3.0f);
  return image;
}

/** Returns whether the filter ran on `used` and left the constant image unchanged. */
bool
Smooth(const ImageType * image, const char * backend, Backend used)
{
  const auto filter = itk::CudaRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(image);
  filter->SetSigma(2.0);
  filter->SetBackend(backend);
  filter->Update();
  const float pixel = filter->GetOutput()->GetPixel({ { 400, 300 } });
  return filter->GetBackendUsed() == used && std::abs(pixel - 3.0f) < 1e-5f;
}

bool
SmoothOnHost(const ImageType * image)
{
  return Smooth(image, "host", Backend::Host);
}

/** Runs `check` in a forked child. Returns its wait status, which is 0 if `check` returned true. */
template <typename TCheck>
int
RunInFork(const TCheck & check)
{
  const pid_t child = fork();
  if (child == 0)
  {
    alarm(secondsUntilAlarm);
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

/** Threads that call `work` continuously until the end of the scope. */
class BusyThreads
{
public:
  template <typename TWork>
  BusyThreads(unsigned int numberOfThreads, const TWork & work)
  {
    for (unsigned int index = 0; index < numberOfThreads; ++index)
    {
      m_Threads.emplace_back([this, work] {
        while (!m_Stop)
        {
          work();
        }
      });
    }
  }

  ~BusyThreads()
  {
    m_Stop = true;
    for (std::thread & thread : m_Threads)
    {
      thread.join();
    }
  }

private:
  std::atomic<bool>        m_Stop{ false };
  std::vector<std::thread> m_Threads;
};

/** Forks children until one of them fails. */
template <typename TCheck>
void
ExpectAllChildrenSucceed(unsigned int number, const TCheck & check)
{
  for (unsigned int child = 0; child < number; ++child)
  {
    ASSERT_EQ(RunInFork(check), 0) << "wait status of child " << child << "; 14 is SIGALRM: it hung";
  }
}

/** Fixture in which no memory is kept, so that each released block is unmapped under the pool's lock. */
class CudaFork : public testing::Test
{
protected:
  void
  SetUp() override
  {
    Configuration::SetHostCacheLimit(0);
  }

  void
  TearDown() override
  {
    Configuration::SetHostCacheLimit(m_Limit);
    EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  }

private:
  const size_t m_Limit{ Configuration::GetHostCacheLimit() };
};
} // namespace

TEST_F(CudaFork, Children_filter_while_other_threads_of_the_parent_allocate)
{
  const ImageType::Pointer image = MakeConstantImage();
  ASSERT_TRUE(SmoothOnHost(image));
  const BusyThreads busy(2, [] { Pool::Release(Pool::Allocate(64 * mebibyte)); });
  ExpectAllChildrenSucceed(200, [&image] { return SmoothOnHost(image); });
}

TEST_F(CudaFork, Children_read_settings_while_other_threads_of_the_parent_change_them)
{
  const BusyThreads busy(1, [] {
    Configuration::SetHostCacheLimit(0);
    Configuration::SetNumberOfTransferThreads(0);
  });
  ExpectAllChildrenSucceed(
    200, [] { return Configuration::GetHostCacheLimit() == 0 && Configuration::GetDeviceBytesInUse() == 0; });
}

TEST_F(CudaFork, Children_run_on_the_host_while_the_parent_runs_on_the_Gpu)
{
  std::string reason;
  if (!Configuration::IsDeviceUsable(0, reason))
  {
    GTEST_SKIP() << reason;
  }
  Configuration::SetNumberOfTransferThreads(1); // ITK's pool of threads cannot take work while the process is forked
  const ImageType::Pointer image = MakeConstantImage();
  ASSERT_TRUE(Smooth(image, "cuda", Backend::Cuda));
  {
    const BusyThreads busy(2, [&image] { Smooth(image, "cuda", Backend::Cuda); });
    ExpectAllChildrenSucceed(50, [&image] {
      std::string why;
      const bool  isUsable = Configuration::IsDeviceUsable(0, why);
      Configuration::ReleaseMemory(); // does nothing, and does not crash
      return !isUsable && why.find("forked") != std::string::npos && Configuration::GetDevices().empty() &&
             Smooth(image, "automatic", Backend::Host) && !Configuration::GetStatus().empty();
    });
  }
  EXPECT_TRUE(Smooth(image, "cuda", Backend::Cuda)) << "the parent goes on";
  Configuration::SetNumberOfTransferThreads(0);
}

#endif
