// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

#include <cmath>
#include <iostream>

int
main()
{
  using ImageType = itk::Image<float, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 64, 48 } });
  image->Allocate();
  image->FillBuffer(3.0F);

  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(image);
  filter->SetSigma(4.0);
  filter->Update();

  const float value = filter->GetOutput()->GetPixel({ { 20, 30 } });
  std::cout << itk::CudaFiltersConfiguration::GetStatus() << "\nvalue: " << value
            << ", backend: " << filter->GetBackendUsed() << " (" << filter->GetBackendReason() << ")\n";
  return std::abs(value - 3.0F) < 1e-5F ? EXIT_SUCCESS : EXIT_FAILURE;
}
