// SPDX-License-Identifier: Apache-2.0

#include "itkCudaDiscreteGaussianImageFilter.h"
#include "support/itkCudaFaultWalk.h"
#include "itkImage.h"

namespace
{
using namespace itk;

template <typename TPixel>
void
WalkVariance(const char * name, double variance)
{
  std::string reason;
  if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    GTEST_SKIP() << reason;
  }
  using ImageType = Image<TPixel, 2>;
  const auto image = ImageType::New();
  image->SetRegions(typename ImageType::SizeType{ { 640, 700 } });
  image->Allocate();
  for (size_t i = 0; i < 640 * 700; ++i)
  {
    image->GetBufferPointer()[i] = static_cast<TPixel>(i * 40503 % 251);
  }
  const auto filter = CudaDiscreteGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetBackend("cuda");
  filter->SetInput(image);
  filter->SetVariance(variance);
  filter->SetMaximumKernelWidth(1000);
  cuda::test::WalkFaults<TPixel>(name, [&] {
    filter->Modified();
    filter->Update();
    const TPixel * const pixels = filter->GetOutput()->GetBufferPointer();
    return std::vector<TPixel>(pixels, pixels + 640 * 700);
  });
}
} // namespace

TEST(DiscreteFaultGpu, Float)
{
  WalkVariance<float>("discrete, float", 4.0);
}

TEST(DiscreteFaultGpu, BytesWithUploadedWeights)
{
  WalkVariance<unsigned char>("discrete, bytes, uploaded weights", 700.0);
}
