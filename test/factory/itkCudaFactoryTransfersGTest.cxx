// SPDX-License-Identifier: Apache-2.0

// How often images cross the link when a program's filters come from the object factory.

#include "itkCudaGaussianImageFilterFactory.h"

#include "support/itkCudaGaussianTestUtilities.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

namespace itk::cuda::test
{
namespace
{
class CudaFactoryTransfersGpuTest : public GpuTest
{
protected:
  void
  SetUp() override
  {
    CudaGaussianImageFilterFactory::RegisterFactories();
    GpuTest::SetUp();
  }
  void
  TearDown() override
  {
    CudaGaussianImageFilterFactory::UnRegisterFactories();
    CudaFiltersConfiguration::SetBackend(BackendEnum::Automatic);
  }
};

// Large enough for the GPU, and 61 MiB of float: larger images are transferred in slabs.
constexpr SizeValueType largeSide = 4000;

template <typename TImage>
typename TImage::Pointer
MakeSquare(SizeValueType side)
{
  return MakeDataImage<TImage>(MakeRegion<2>({ { side, side } }), DataKind::Uniform, 100.0);
}

/** Updates the filter, and counts uploads; each goes with one download. */
template <typename TFilter>
unsigned long
CountTransfers(TFilter * filter)
{
  const TransferCounts before = GetTransferCounts();
  filter->Update();
  const TransferCounts after = GetTransferCounts();
  EXPECT_EQ(after.Downloads - before.Downloads, after.Uploads - before.Uploads);
  return after.Uploads - before.Uploads;
}

/** Transfers of a chain that a program builds of ITK's filters, one along each axis. */
template <typename TImage>
unsigned long
CountTransfersOfChain(const TImage * input)
{
  const auto first = RecursiveGaussianImageFilter<TImage>::New();
  const auto second = RecursiveGaussianImageFilter<TImage>::New();
  first->SetInput(input);
  second->SetInput(first->GetOutput());
  second->SetDirection(1);
  return CountTransfers(second.GetPointer());
}
} // namespace

TEST_F(CudaFactoryTransfersGpuTest, OverriddenCompositeTakesOneUpload)
{
  using ImageType = Image<float, 2>;
  const auto filter = LaplacianRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(MakeSquare<ImageType>(32));
  EXPECT_EQ(CountTransfers(filter.GetPointer()), 1u);
}

TEST_F(CudaFactoryTransfersGpuTest, CompositeOnTheHostKeepsItsPassesThere)
{
  using ImageType = Image<float, 2>;
  const auto   filter = LaplacianRecursiveGaussianImageFilter<ImageType>::New();
  auto * const overridden = dynamic_cast<CudaLaplacianRecursiveGaussianImageFilter<ImageType> *>(filter.GetPointer());
  ASSERT_NE(overridden, nullptr);
  overridden->SetInput(MakeSquare<ImageType>(2048));
  overridden->SetBackend(BackendEnum::Host);
  EXPECT_EQ(CountTransfers(overridden), 0u);
  EXPECT_EQ(overridden->GetBackendUsed(), BackendEnum::Host);
}

// Smoothing of char images is ITK's; of its two passes the second, from float to float, is this module's.
TEST_F(CudaFactoryTransfersGpuTest, PassesInsideITKsCompositeFollowTheTable)
{
  using ImageType = Image<char, 2>;
  const auto filter = SmoothingRecursiveGaussianImageFilter<ImageType>::New();
  ASSERT_STREQ(filter->GetNameOfClass(), "SmoothingRecursiveGaussianImageFilter");
  filter->SetInput(MakeSquare<ImageType>(16));
  EXPECT_EQ(CountTransfers(filter.GetPointer()), 0u);
  filter->SetInput(MakeSquare<ImageType>(largeSide));
  EXPECT_EQ(CountTransfers(filter.GetPointer()), 1u);
}

TEST_F(CudaFactoryTransfersGpuTest, ChainsFollowTheTableUnlessABackendIsSet)
{
  using ImageType = Image<float, 2>;
  const auto small = MakeSquare<ImageType>(16);
  const auto large = MakeSquare<ImageType>(largeSide);
  EXPECT_EQ(CountTransfersOfChain(small.GetPointer()), 0u);
  EXPECT_EQ(CountTransfersOfChain(large.GetPointer()), 2u);
  CudaFiltersConfiguration::SetBackend(BackendEnum::Cuda);
  EXPECT_EQ(CountTransfersOfChain(small.GetPointer()), 2u);
  CudaFiltersConfiguration::SetBackend(BackendEnum::Host);
  EXPECT_EQ(CountTransfersOfChain(large.GetPointer()), 0u);
}
} // namespace itk::cuda::test
