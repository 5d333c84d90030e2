// SPDX-License-Identifier: Apache-2.0

#include "support/itkCudaFaultWalk.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <string>

namespace
{
using namespace itk;
using ImageType = Image<unsigned short, 2>;
using FilterType = CudaPartitionedRecursiveGaussianImageFilter<ImageType, ImageType>;
using Partition = CudaFiltersEnums::Partition;

void
WalkPartition(Partition partition, double sigma, SizeValueType blocks, unsigned int linesPerBlock)
{
  std::string reason;
  if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    GTEST_SKIP() << reason;
  }
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 640, 700 } });
  image->Allocate();
  for (size_t i = 0; i < 640 * 700; ++i)
  {
    image->GetBufferPointer()[i] = static_cast<unsigned short>(i * 40503 % 65521);
  }
  const auto filter = FilterType::New(); // the same one, so that it is seen to run again after each fault
  filter->SetBackend("cuda");
  filter->SetInput(image);
  filter->SetPartition(partition);
  filter->SetSigma(sigma);
  filter->SetNumberOfBlocks(blocks);
  filter->SetLinesPerBlock(linesPerBlock);
  cuda::test::WalkFaults<unsigned short>("partition " + std::to_string(static_cast<int>(partition)), [&] {
    filter->Modified();
    filter->Update();
    const unsigned short * const pixels = filter->GetOutput()->GetBufferPointer();
    return std::vector<unsigned short>(pixels, pixels + 640 * 700);
  });
}
} // namespace

TEST(PartitionedFaultGpu, OneWay)
{
  WalkPartition(Partition::OneWay, 4.0, 1, 32);
}

TEST(PartitionedFaultGpu, TwoWay)
{
  WalkPartition(Partition::TwoWay, 4.0, 1, 32);
}

TEST(PartitionedFaultGpu, TwoWayWithUploadedWeights)
{
  WalkPartition(Partition::TwoWay, 300.0, 1, 32);
}

TEST(PartitionedFaultGpu, ExactInOneLaunch)
{
  WalkPartition(Partition::Exact, 4.0, 16, 32);
}

TEST(PartitionedFaultGpu, ExactInThreeLaunches)
{
  WalkPartition(Partition::Exact, 4.0, 40, 64);
}
