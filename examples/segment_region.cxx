// SPDX-License-Identifier: Apache-2.0
// Finds one region in an image. Shows CudaRegionSnakeImageFilter: the distribution of the pixels, the rectangle that
// the search starts from, the label image, the polygon in physical coordinates, and the statistics of both regions.
#include "example.h"
#include "itkCudaRegionSnakeImageFilter.h"

namespace
{
using ImageType = itk::Image<float, 2>;
using LabelType = itk::Image<unsigned char, 2>;

ImageType::RegionType
ToRegion(const example::Arguments & arguments)
{
  ImageType::RegionType region;
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    const double index = example::ToNumber(axis == 0 ? "X" : "Y", arguments[3 + axis], 0, 1e6);
    const double size = example::ToNumber(axis == 0 ? "WIDTH" : "HEIGHT", arguments[5 + axis], 1, 1e6);
    region.SetIndex(axis, static_cast<itk::IndexValueType>(index));
    region.SetSize(axis, static_cast<itk::SizeValueType>(size));
  }
  return region;
}

void
Segment(const example::Arguments & arguments)
{
  const auto filter = itk::CudaRegionSnakeImageFilter<ImageType, LabelType>::New();
  filter->SetInput(example::ReadImage<ImageType>(arguments[0]));
  filter->SetNoiseLaw(arguments[1].c_str());
  filter->SetInsideValue(255);
  if (arguments.size() > 3)
  {
    filter->SetInitialRegion(ToRegion(arguments));
    filter->SetMaximumStep(2); // pixels; small moves stay close to the start
  }
  filter->Update();
  std::cout << "segmented by " << itk::CudaBackendToString(filter->GetBackendUsed()) << ": "
            << filter->GetBackendReason() << '\n'
            << filter->GetInsideNumberOfPixels() << " pixels of mean " << filter->GetInsideMean() << " inside, "
            << filter->GetOutsideNumberOfPixels() << " of mean " << filter->GetOutsideMean() << " outside\n";
  for (itk::SizeValueType i = 0; i < filter->GetNumberOfContourPoints(); ++i)
  {
    std::cout << filter->GetContourPoint(i) << '\n';
  }
  example::WriteImage(filter->GetOutput(), arguments[2]);
}
} // namespace

int
main(int argc, char * argv[])
{
  const std::string usage = "INPUT LAW LABEL [X Y WIDTH HEIGHT]\n"
                            "Finds one region in an image of two dimensions, prints its polygon, and writes a label "
                            "image that is 255 inside.\n"
                            "X, Y, WIDTH and HEIGHT are a rectangle of pixels to start from. LAW is the distribution "
                            "of the pixels:\n" +
                            itk::CudaNoiseLawNames() + ".\n";
  return example::Main(argc, argv, usage, 3, 7, [](const example::Arguments & arguments) {
    if (arguments.size() != 3 && arguments.size() != 7)
    {
      throw std::invalid_argument("the rectangle needs four numbers: X Y WIDTH HEIGHT");
    }
    Segment(arguments);
  });
}
