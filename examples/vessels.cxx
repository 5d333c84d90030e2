// SPDX-License-Identifier: Apache-2.0
// Enhances vessels in a volume. Shows CudaVesselnessImageFilter: the scales, the measure, the response, and the image
// of the scale that responded most, which is near the radius of the vessel.
#include "example.h"
#include "itkCudaImageStatistics.h"
#include "itkCudaVesselnessImageFilter.h"

namespace
{
using ImageType = itk::Image<float, 3>;

void
Enhance(const example::Arguments & arguments)
{
  const auto filter = itk::CudaVesselnessImageFilter<ImageType, ImageType>::New();
  filter->SetInput(example::ReadImage<ImageType>(arguments[0]));
  filter->SetHessianMeasure(arguments[1].c_str());
  for (size_t i = 4; i < arguments.size(); ++i)
  {
    filter->AddSigma(example::ToNumber("SIGMA", arguments[i], 1e-3, 1e6)); // in the units of the image's spacing
  }
  filter->GenerateScaleOutputOn();
  filter->Update();
  std::cout << "vessels enhanced by " << itk::CudaBackendToString(filter->GetBackendUsed()) << ": "
            << filter->GetBackendReason() << "\nlargest response "
            << itk::CudaComputeStatistics(filter->GetOutput()).Maximum << '\n';
  example::WriteImage(filter->GetOutput(), arguments[2]);
  example::WriteImage(filter->GetScaleOutput(), arguments[3]);
}
} // namespace

int
main(int argc, char * argv[])
{
  const char * const usage = "INPUT MEASURE RESPONSE SCALE SIGMA...\n"
                             "Enhances bright vessels in a volume by the largest response at any of up to 16 scales. "
                             "SIGMA is in the units of the\n"
                             "volume's spacing, and near the radius of the vessels. MEASURE is objectness, frangi, "
                             "sato, jerman or meijering.\n"
                             "RESPONSE and SCALE are images to write, SCALE with the sigma of each response.\n";
  return example::Main(argc, argv, usage, 5, 20, Enhance);
}
