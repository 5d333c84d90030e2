// SPDX-License-Identifier: Apache-2.0
// Finds edges in a volume. Shows a chain of filters whose images stay in device memory: one upload, two filters, one
// download that converts to unsigned char on the device, and the time of each. docs/user/device_images.md describes
// such images.
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkTimeProbe.h"

#include <cstdlib>
#include <iostream>

namespace
{
using HostImage = itk::Image<float, 3>;
using ByteImage = itk::Image<unsigned char, 3>;
using DeviceImage = itk::CudaDeviceImage<float, 3>;

/** Updates a filter and prints its time. Waits for the output, because Update() only queues the work. */
void
RunTimed(const char * name, itk::ImageSource<DeviceImage> * filter)
{
  itk::TimeProbe clock;
  clock.Start();
  filter->Update();
  filter->GetOutput()->Synchronize();
  clock.Stop();
  std::cout << name << ": " << 1e3 * clock.GetTotal() << " ms\n";
}

void
FindEdges(const char * inputFile, const char * outputFile, double sigma)
{
  const auto image = itk::ReadImage<HostImage>(inputFile);

  const auto upload = itk::CudaUploadImageFilter<HostImage, DeviceImage>::New();
  upload->SetInput(image);
  RunTimed("upload", upload);

  const auto smoother = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceImage>::New();
  smoother->SetInput(upload->GetOutput());
  smoother->SetSigma(sigma);
  RunTimed("smoothing", smoother);

  const auto edges = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<DeviceImage>::New();
  edges->SetInput(smoother->GetOutput());
  edges->SetSigma(sigma);
  RunTimed("gradient magnitude", edges);

  const auto download = itk::CudaDownloadImageFilter<DeviceImage, ByteImage>::New();
  download->SetInput(edges->GetOutput());
  download->SetRounding("nearest"); // values above 255 become 255
  itk::TimeProbe clock;
  clock.Start();
  download->Update();
  clock.Stop();
  std::cout << "download: " << 1e3 * clock.GetTotal() << " ms\n";
  itk::WriteImage(download->GetOutput(), outputFile, true);
}
} // namespace

int
main(int argc, char * argv[])
{
  if (argc != 4)
  {
    std::cerr << "Usage: device_images INPUT OUTPUT SIGMA\n"
                 "INPUT is a three-dimensional image; SIGMA is in the units of its spacing. Needs a GPU.\n";
    return EXIT_FAILURE;
  }
  try
  {
    FindEdges(argv[1], argv[2], std::atof(argv[3]));
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << "device_images: " << error.GetDescription() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
