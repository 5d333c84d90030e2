// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaGaussianTestFilters.h"
#include "itkCudaRecursiveGaussianImageFilter.h"

int
itkCudaRecursiveGaussianImageFilterTest(int argc, char * argv[])
{
  if (argc != 7)
  {
    std::cerr << "Usage: " << argv[0] << " input output backend sigma direction order\n";
    return EXIT_FAILURE;
  }
  using ImageType = itk::Image<float, 2>;
  const auto filter = itk::CudaRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetSigma(std::stod(argv[4]));
  filter->SetDirection(static_cast<unsigned int>(std::stoul(argv[5])));
  const int order = std::stoi(argv[6]);
  if (order == 0)
  {
    filter->SetZeroOrder();
  }
  else if (order == 1)
  {
    filter->SetFirstOrder();
  }
  else
  {
    filter->SetSecondOrder();
  }
  return itk::RunCudaFilterTest(filter.GetPointer(), argv[1], argv[2], argv[3]);
}
