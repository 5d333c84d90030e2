// SPDX-License-Identifier: Apache-2.0

// A program that knows ITK only. Prints the class of the filter that it got, and fails if that smooths a constant image
// to something else, before or after all factories have gone.

#include "itkImage.h"
#include "itkObjectFactoryBase.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <cmath>
#include <cstdlib>
#include <iostream>

int
main()
{
  using ImageType = itk::Image<float, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 64, 48 } });
  image->Allocate();
  image->FillBuffer(3.0F);

  const auto filter = itk::SmoothingRecursiveGaussianImageFilter<ImageType>::New();
  std::cout << filter->GetNameOfClass() << std::endl;
  filter->SetInput(image);
  filter->SetSigma(4.0);
  filter->Update();
  const float value = filter->GetOutput()->GetPixel({ { 20, 30 } });

  // Libraries of factories are closed; the filter is still there.
  itk::ObjectFactoryBase::UnRegisterAllFactories();
  filter->SetSigma(2.0);
  filter->Update();
  const float second = filter->GetOutput()->GetPixel({ { 20, 30 } });

  const bool smoothed = std::abs(value - 3.0F) < 1e-5F && std::abs(second - 3.0F) < 1e-5F;
  return smoothed ? EXIT_SUCCESS : EXIT_FAILURE;
}
