// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaGaussianTestFilters.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

/** Smooths an image of bytes; with a direction and an order, differentiates it along one axis, normalised across scale,
 * to an image of shorts. */
int
itkCudaGaussianIntegerImageTest(int argc, char * argv[])
{
  if (argc != 5 && argc != 7)
  {
    std::cerr << "Usage: " << argv[0] << " input output backend sigma [direction order]\n";
    return EXIT_FAILURE;
  }
  using ImageType = itk::Image<unsigned char, 2>;
  if (argc == 5)
  {
    const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
    filter->SetSigma(std::stod(argv[4]));
    return itk::RunCudaFilterTest(filter.GetPointer(), argv[1], argv[2], argv[3]);
  }
  const auto filter = itk::CudaRecursiveGaussianImageFilter<ImageType, itk::Image<short, 2>>::New();
  filter->SetSigma(std::stod(argv[4]));
  filter->SetDirection(static_cast<unsigned int>(std::stoul(argv[5])));
  filter->SetOrder(static_cast<itk::GaussianOrderEnum>(std::stoi(argv[6])));
  filter->SetNormalizeAcrossScale(true);
  return itk::RunCudaFilterTest(filter.GetPointer(), argv[1], argv[2], argv[3]);
}
