// SPDX-License-Identifier: Apache-2.0
// Finds a region in an image. Shows CudaRegionSnakeImageFilter: the distribution of the pixels, the rectangle that the
// search starts from, the label image, the polygon in physical coordinates, and the statistics of both regions.
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"

#include <cstdlib>
#include <iostream>

namespace
{
using ImageType = itk::Image<float, 2>;
using LabelType = itk::Image<unsigned char, 2>;

void
Segment(const char * inputFile, const char * law, const ImageType::RegionType & start, const char * labelFile)
{
  const auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetFileName(inputFile);

  const auto filter = itk::CudaRegionSnakeImageFilter<ImageType, LabelType>::New();
  filter->SetInput(reader->GetOutput());
  filter->SetNoiseLaw(law);
  filter->SetInitialRegion(start);
  filter->SetMaximumStep(2); // pixels; small moves stay close to the start
  filter->SetInsideValue(255);

  const auto writer = itk::ImageFileWriter<LabelType>::New();
  writer->SetFileName(labelFile);
  writer->SetInput(filter->GetOutput());
  writer->Update();

  std::cout << filter->GetInsideNumberOfPixels() << " pixels of mean " << filter->GetInsideMean() << " inside, "
            << filter->GetOutsideNumberOfPixels() << " of mean " << filter->GetOutsideMean() << " outside\n";
  for (itk::SizeValueType i = 0; i < filter->GetNumberOfContourPoints(); ++i)
  {
    std::cout << filter->GetContourPoint(i) << '\n';
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  if (argc != 8)
  {
    std::cerr << "Usage: segment_region INPUT LAW X Y WIDTH HEIGHT LABEL\n"
                 "LAW is the distribution of the pixels: "
              << itk::CudaNoiseLawNames() << ".\nX, Y, WIDTH and HEIGHT are a rectangle of pixels to start from.\n";
    return EXIT_FAILURE;
  }
  ImageType::RegionType start;
  start.SetIndex({ { std::atoi(argv[3]), std::atoi(argv[4]) } });
  start.SetSize({ { std::strtoul(argv[5], nullptr, 10), std::strtoul(argv[6], nullptr, 10) } });
  try
  {
    Segment(argv[1], argv[2], start, argv[7]);
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << "segment_region: " << error.GetDescription() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
