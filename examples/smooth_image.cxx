// SPDX-License-Identifier: Apache-2.0
// Smooths an image with a Gaussian. Shows that a filter of this module takes the place of ITK's filter: it has the same
// members, and others that say where it ran. With the argument "itk" the program runs ITK's filter, to compare both.
#include "example.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkTimeProbe.h"

#include <type_traits>

namespace
{
template <typename TFilter>
void
SmoothBy(const std::string & input, const std::string & output, double sigma)
{
  using ImageType = typename TFilter::InputImageType;
  const auto filter = TFilter::New();
  filter->SetInput(example::ReadImage<ImageType>(input));
  filter->SetSigma(sigma); // in the units of the image's spacing
  filter->Update();        // the first run of a process also starts the GPU

  filter->Modified();
  itk::TimeProbe clock;
  clock.Start();
  filter->Update();
  clock.Stop();
  std::cout << "smoothed with sigma " << sigma << " in " << 1e3 * clock.GetTotal() << " ms by ";
  if constexpr (std::is_same_v<TFilter, itk::SmoothingRecursiveGaussianImageFilter<ImageType>>)
  {
    std::cout << "ITK's filter, " << filter->GetMultiThreader()->GetMaximumNumberOfThreads() << " threads\n";
  }
  else
  {
    std::cout << itk::CudaBackendToString(filter->GetBackendUsed()) << ": " << filter->GetBackendReason() << '\n';
  }
  example::WriteImage(filter->GetOutput(), output);
}

template <unsigned int VDimension>
void
Smooth(const example::Arguments & arguments)
{
  using ImageType = itk::Image<float, VDimension>;
  const double sigma = example::ToNumber("SIGMA", arguments[2], 1e-3, 1e6);
  if (arguments.size() == 3)
  {
    SmoothBy<itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>>(arguments[0], arguments[1], sigma);
  }
  else if (arguments[3] == "itk")
  {
    SmoothBy<itk::SmoothingRecursiveGaussianImageFilter<ImageType>>(arguments[0], arguments[1], sigma);
  }
  else
  {
    throw std::invalid_argument("the fourth argument is '" + arguments[3] + "'; it can only be itk");
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  const char * const usage = "INPUT OUTPUT SIGMA [itk]\n"
                             "Smooths an image of two or three dimensions. SIGMA, the standard deviation of the "
                             "Gaussian, is in the units of its\n"
                             "spacing. OUTPUT has pixels of float: MetaImage, NRRD, NIfTI or TIFF. With itk, ITK's own "
                             "filter does it.\n";
  return example::Main(argc, argv, usage, 3, 4, [](const example::Arguments & arguments) {
    example::GetDimension(arguments[0]) == 2 ? Smooth<2>(arguments) : Smooth<3>(arguments);
  });
}
