// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeBackend.h"
#include "itkCudaSnakeCuda.h"
#include "itkCudaSnakeDeviceTest.h"
#include "itkCudaSnakePlan.h"
#include "itkCudaSnakeSamples.h"
#include "itkCudaSnakeTestCase.h"

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <thread>
#include <vector>

// The blocks of the snake's kernel wait for each other. However few or many there are, and whoever else uses the
// device, they all get through, with the host's results bit for bit.
namespace
{
using itk::CudaRegionSnakeInput;
using itk::CudaRegionSnakeParameters;
using itk::CudaRegionSnakeResult;
using itk::cuda::Case;
using itk::cuda::ExpectSameResults;
using itk::cuda::RandomCase;

class CudaRegionSnakeGridGpu : public itk::cuda::SnakeDeviceTest
{
protected:
  CudaRegionSnakeResult
  RunOnBlocks(const Case & image, int blocks) const
  {
    return image.RunWith([&](const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters) {
      return itk::cuda::RunRegionSnake(input,
                                       parameters,
                                       1,
                                       {},
                                       [&](const itk::cuda::SnakeSamples &   samples,
                                           const itk::cuda::SnakePlan &      plan,
                                           const itk::cuda::LawDescription & law) {
                                         return itk::cuda::MakeCudaSnakeBackend(samples, plan, law, m_Device, blocks);
                                       });
    });
  }
};
} // namespace

TEST_F(CudaRegionSnakeGridGpu, FewBlocksGiveTheSameBits)
{
  for (uint64_t scene = 30000; scene < 30020; ++scene)
  {
    const Case                  image = RandomCase(scene, 300);
    const CudaRegionSnakeResult expected = image.Run();
    for (const int blocks : { 1, 2, 3, 17 })
    {
      ExpectSameResults(expected,
                        this->RunOnBlocks(image, blocks),
                        "scene " + std::to_string(scene) + " on " + std::to_string(blocks) + " blocks");
      if (HasFatalFailure())
      {
        return;
      }
    }
  }
}

TEST_F(CudaRegionSnakeGridGpu, EightThreadsAtOnceGiveTheSameBits)
{
  constexpr uint64_t       number = 8;
  constexpr uint64_t       scenes = 12;
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < number; ++thread)
  {
    // Whole grids and small ones, which share the device.
    threads.emplace_back([this, thread] {
      try
      {
        for (uint64_t scene = 31000 + thread; scene < 31000 + number * scenes; scene += number)
        {
          const Case image = RandomCase(scene, 300);
          ExpectSameResults(
            image.Run(), this->RunOnBlocks(image, thread % 2 == 0 ? 1000000 : 5), "scene " + std::to_string(scene));
        }
      }
      catch (const std::exception & error)
      {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
}
