// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaGaussianTestFilters.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

int
itkCudaSmoothingRecursiveGaussianImageFilterTest(int argc, char * argv[])
{
  if (argc != 6)
  {
    std::cerr << "Usage: " << argv[0] << " input output backend sigmaX sigmaY\n";
    return EXIT_FAILURE;
  }
  using ImageType = itk::Image<float, 2>;
  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  decltype(filter->GetSigmaArray()) sigma;
  sigma[0] = std::stod(argv[4]);
  sigma[1] = std::stod(argv[5]);
  filter->SetSigmaArray(sigma);
  return itk::RunCudaFilterTest(filter.GetPointer(), argv[1], argv[2], argv[3]);
}
