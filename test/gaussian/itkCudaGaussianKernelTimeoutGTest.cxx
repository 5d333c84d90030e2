// SPDX-License-Identifier: Apache-2.0
// Where the driver ends long kernels, passes take several launches, which give the bits of one.
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

namespace itk::cuda::test
{
namespace
{
class CudaGaussianKernelTimeoutGpuTest : public GpuTest
{
protected:
  void
  TearDown() override
  {
    SetKernelTimeoutForTests(-1);
  }
};

/** The output with the driver's limit pretended or not. */
template <typename TFilter>
typename TFilter::OutputImageType::Pointer
Run(const typename TFilter::InputImageType * input, double sigma, bool timeout)
{
  SetKernelTimeoutForTests(timeout ? 1 : 0);
  const auto filter = TFilter::New();
  filter->SetInput(input);
  filter->SetSigma(sigma);
  UpdateOn(filter.GetPointer(), BackendEnum::Cuda);
  typename TFilter::OutputImageType::Pointer output = filter->GetOutput();
  output->DisconnectPipeline();
  return output;
}

/** On an image of more than 2^24 pixels, the most of a launch. */
template <typename TFilter>
void
Expect_several_launches_give_the_bits_of_one(const typename TFilter::InputImageType::SizeType & size)
{
  using InputType = typename TFilter::InputImageType;
  const auto input = MakeDataImage<InputType>(MakeRegion<InputType::ImageDimension>(size), DataKind::Uniform, 100.0);
  ASSERT_GT(input->GetBufferedRegion().GetNumberOfPixels(), size_t{ 1 } << 24);
  for (const double sigma : { 2.0, 60.0 })
  {
    const auto expected = Run<TFilter>(input, sigma, false);
    const auto actual = Run<TFilter>(input, sigma, true);
    EXPECT_TRUE(HasSameBits(actual.GetPointer(), expected.GetPointer())) << "size " << size << ", sigma " << sigma;
  }
}

TEST_F(CudaGaussianKernelTimeoutGpuTest, SmoothingOfLargeImages)
{
  Expect_several_launches_give_the_bits_of_one<CudaSmoothingRecursiveGaussianImageFilter<Image<float, 2>>>(
    { { 4201, 4099 } });
  Expect_several_launches_give_the_bits_of_one<CudaSmoothingRecursiveGaussianImageFilter<Image<double, 2>>>(
    { { 5003, 3501 } });
  Expect_several_launches_give_the_bits_of_one<CudaSmoothingRecursiveGaussianImageFilter<Image<float, 3>>>(
    { { 301, 250, 260 } });
  Expect_several_launches_give_the_bits_of_one<CudaSmoothingRecursiveGaussianImageFilter<Image<float, 2>>>(
    { { 64, 300001 } });
}

TEST_F(CudaGaussianKernelTimeoutGpuTest, DerivativesOfLargeImages)
{
  Expect_several_launches_give_the_bits_of_one<CudaGradientMagnitudeRecursiveGaussianImageFilter<Image<float, 3>>>(
    { { 301, 250, 260 } });
  Expect_several_launches_give_the_bits_of_one<CudaGradientRecursiveGaussianImageFilter<Image<float, 3>>>(
    { { 250, 301, 260 } });
}
} // namespace
} // namespace itk::cuda::test
