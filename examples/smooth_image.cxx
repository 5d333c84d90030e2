// SPDX-License-Identifier: Apache-2.0
// Smooths a volume with a Gaussian. Shows a filter of this module in an ordinary pipeline of ITK: reader, filter,
// writer. The filter runs on the GPU if one can be used, else on the host, and says where it ran and why.
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"

#include <cstdlib>
#include <iostream>

namespace
{
using ImageType = itk::Image<float, 3>;

void
Smooth(const char * inputFile, const char * outputFile, double sigma)
{
  const auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetFileName(inputFile);

  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(reader->GetOutput());
  filter->SetSigma(sigma); // in the units of the image's spacing

  const auto writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetFileName(outputFile);
  writer->SetInput(filter->GetOutput());
  writer->Update();

  std::cout << "smoothed on the backend " << itk::CudaBackendToString(filter->GetBackendUsed()) << ": "
            << filter->GetBackendReason() << '\n';
}
} // namespace

int
main(int argc, char * argv[])
{
  if (argc != 4)
  {
    std::cerr << "Usage: smooth_image INPUT OUTPUT SIGMA\n"
                 "INPUT is a three-dimensional image; SIGMA is in the units of its spacing.\n";
    return EXIT_FAILURE;
  }
  try
  {
    Smooth(argv[1], argv[2], std::atof(argv[3]));
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << "smooth_image: " << error.GetDescription() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
