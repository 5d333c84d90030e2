// SPDX-License-Identifier: Apache-2.0
// Finds edges in a volume. Shows a chain of filters whose images stay in device memory: one upload, two filters, one
// download that converts to unsigned char on the device, and the time of each. docs/user/device_images.md describes
// such images.
#include "example.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "itkTimeProbe.h"

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
FindEdges(const example::Arguments & arguments)
{
  const double sigma = example::ToNumber("SIGMA", arguments[2], 1e-3, 1e6);

  const auto upload = itk::CudaUploadImageFilter<HostImage, DeviceImage>::New();
  upload->SetInput(example::ReadImage<HostImage>(arguments[0]));
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
  example::WriteImage(download->GetOutput(), arguments[1]);
}
} // namespace

int
main(int argc, char * argv[])
{
  const char * const usage = "INPUT OUTPUT SIGMA\n"
                             "Finds edges in a volume on the GPU, without which it fails. SIGMA is in the units of the "
                             "volume's spacing.\n"
                             "OUTPUT has pixels of 8 bits.\n";
  return example::Main(argc, argv, usage, 3, 3, FindEdges);
}
