// SPDX-License-Identifier: Apache-2.0
// The program of gradient_sigma_array.md.
#include "itkGradientRecursiveGaussianImageFilter.h"
#include <iostream>

int
main()
{
  const auto image = itk::Image<float, 2>::New();
  image->SetRegions(itk::Size<2>{ { 101, 101 } });
  image->Allocate(true);
  image->SetPixel({ { 50, 50 } }, 1000.0f);
  const auto   filter = itk::GradientRecursiveGaussianImageFilter<itk::Image<float, 2>>::New();
  const double sigma[] = { 1.0, 8.0 };
  filter->SetSigmaArray(sigma);
  filter->SetInput(image);
  filter->Update();
  for (const int n : { 1, 8 })
  {
    std::cout << "x derivative " << n << " pixels along x: " << filter->GetOutput()->GetPixel({ { 50 + n, 50 } })[0]
              << '\n';
  }
}
