// SPDX-License-Identifier: Apache-2.0
#include "overlay.h"

#include "region_image.h"

#include "itkCastImageFilter.h"
#include "itkExpandImageFilter.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegionIterator.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkRGBPixel.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{
using GreyImage = itk::Image<unsigned char, 2>;
using Colour = itk::RGBPixel<unsigned char>;
using ColourImage = itk::Image<Colour, 2>;

constexpr double        LongSide = 1000.0;
constexpr int           NodeRadius = 3; // of the rim; the node is one pixel smaller on each side
constexpr unsigned char BoundaryColour[3]{ 255, 150, 30 };
const Colour            Boundary(BoundaryColour);
const Colour            NodeRim(static_cast<unsigned char>(0));
const Colour            Node(static_cast<unsigned char>(255));

/** Returns a percentile of the values, with linear interpolation. Changes their order. */
template <typename TPixel>
double
GetPercentile(std::vector<TPixel> & values, double percentile)
{
  const double place = percentile / 100.0 * static_cast<double>(values.size() - 1);
  const auto   lower = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), lower, values.end());
  const auto upper = std::min_element(lower + 1, values.end());
  const auto low = static_cast<double>(*lower);
  return upper == values.end() ? low : low + (place - std::floor(place)) * (static_cast<double>(*upper) - low);
}

template <typename TPixel>
std::vector<TPixel>
GetFiniteValues(const itk::Image<TPixel, 2> * image)
{
  std::vector<TPixel> values;
  values.reserve(image->GetBufferedRegion().GetNumberOfPixels());
  for (itk::ImageRegionConstIterator<itk::Image<TPixel, 2>> pixel(image, image->GetBufferedRegion()); !pixel.IsAtEnd();
       ++pixel)
  {
    if (std::isfinite(static_cast<double>(pixel.Get())))
    {
      values.push_back(pixel.Get());
    }
  }
  return values;
}

/** Maps the values between the 0.5 and the 99.5 percentile to 0 to 255. */
template <typename TPixel>
GreyImage::Pointer
MakeGrey(const itk::Image<TPixel, 2> * image)
{
  std::vector<TPixel> values = GetFiniteValues(image);
  const double        low = values.empty() ? 0.0 : GetPercentile(values, 0.5);
  const double        high = values.empty() ? 0.0 : GetPercentile(values, 99.5);

  const auto grey = GreyImage::New();
  grey->CopyInformation(image);
  grey->SetRegions(image->GetBufferedRegion());
  grey->Allocate(true);
  itk::ImageRegionIterator<GreyImage> output(grey, grey->GetBufferedRegion());
  for (itk::ImageRegionConstIterator<itk::Image<TPixel, 2>> pixel(image, image->GetBufferedRegion()); !pixel.IsAtEnd();
       ++pixel, ++output)
  {
    const auto value = static_cast<double>(pixel.Get());
    if (high > low && std::isfinite(value))
    {
      output.Set(static_cast<unsigned char>(std::clamp(255.0 * (value - low) / (high - low), 0.0, 255.0) + 0.5));
    }
  }
  return grey;
}

/** Enlarges an image: each pixel becomes a block of factor x factor pixels. */
template <typename TImage>
typename TImage::Pointer
Enlarge(const TImage * image, unsigned int factor)
{
  const auto filter = itk::ExpandImageFilter<TImage, TImage>::New();
  filter->SetInput(image);
  filter->SetExpandFactors(factor);
  filter->SetInterpolator(itk::NearestNeighborInterpolateImageFunction<TImage>::New());
  filter->Update();
  return filter->GetOutput();
}

/** Colours all pixels on either side of a boundary between labels. */
template <typename TLabelImage>
void
DrawBoundary(ColourImage * picture, const TLabelImage * label)
{
  const auto region = label->GetBufferedRegion();
  for (itk::ImageRegionConstIteratorWithIndex<TLabelImage> pixel(label, region); !pixel.IsAtEnd(); ++pixel)
  {
    for (unsigned int axis = 0; axis < 2; ++axis)
    {
      auto next = pixel.GetIndex();
      ++next[axis];
      if (region.IsInside(next) && label->GetPixel(next) != pixel.Get())
      {
        picture->SetPixel(pixel.GetIndex(), Boundary);
        picture->SetPixel(next, Boundary);
      }
    }
  }
}

/** Colours 2 radius x 2 radius pixels around each node. */
void
DrawNodes(ColourImage * picture, const itk::CudaSnakePolygon & polygon, int factor, int radius, const Colour & colour)
{
  const auto first = picture->GetBufferedRegion().GetIndex();
  for (const itk::CudaSnakePoint & node : polygon)
  {
    ColourImage::RegionType square;
    square.SetIndex({ { first[0] + node.X * factor - radius, first[1] + node.Y * factor - radius } });
    square.SetSize({ { static_cast<itk::SizeValueType>(2 * radius), static_cast<itk::SizeValueType>(2 * radius) } });
    if (square.Crop(picture->GetBufferedRegion()))
    {
      for (itk::ImageRegionIterator<ColourImage> pixel(picture, square); !pixel.IsAtEnd(); ++pixel)
      {
        pixel.Set(colour);
      }
    }
  }
}

ColourImage::Pointer
MakeColours(const GreyImage * grey)
{
  const auto filter = itk::CastImageFilter<GreyImage, ColourImage>::New();
  filter->SetInput(grey);
  filter->Update();
  return filter->GetOutput();
}
} // namespace

template <typename TPixel, typename TLabel>
void
command::WriteOverlay(const std::string &           fileName,
                      const itk::Image<TPixel, 2> * image,
                      const itk::Image<TLabel, 2> * label,
                      const itk::CudaSnakePolygon & nodes)
{
  const auto size = image->GetBufferedRegion().GetSize();
  const auto factor = std::max(1, static_cast<int>(std::floor(LongSide / std::max(size[0], size[1]) + 0.5)));
  const auto grey = Enlarge(MakeGrey(image).GetPointer(), factor);
  const auto picture = MakeColours(grey);
  DrawBoundary(picture.GetPointer(), Enlarge(label, factor).GetPointer());
  DrawNodes(picture, nodes, factor, NodeRadius, NodeRim);
  DrawNodes(picture, nodes, factor, NodeRadius - 1, Node);
  WriteImage<ColourImage>(fileName, picture);
}

template <typename TPixel>
void
command::WriteGrey(const std::string & fileName, const itk::Image<TPixel, 2> * image)
{
  WriteImage<GreyImage>(fileName, MakeGrey(image));
}
template void
command::WriteGrey(const std::string &, const itk::Image<float, 2> *);
template void
command::WriteGrey(const std::string &, const itk::Image<double, 2> *);

#define INSTANTIATE_OVERLAY(TPixel)                                         \
  template void command::WriteOverlay(const std::string &,                  \
                                      const itk::Image<TPixel, 2> *,        \
                                      const itk::Image<unsigned char, 2> *, \
                                      const itk::CudaSnakePolygon &);       \
  template void command::WriteOverlay(const std::string &,                  \
                                      const itk::Image<TPixel, 2> *,        \
                                      const itk::Image<unsigned int, 2> *,  \
                                      const itk::CudaSnakePolygon &)
INSTANTIATE_OVERLAY(unsigned char);
INSTANTIATE_OVERLAY(unsigned short);
INSTANTIATE_OVERLAY(short);
INSTANTIATE_OVERLAY(float);
