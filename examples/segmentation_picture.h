// SPDX-License-Identifier: Apache-2.0
#ifndef segmentation_picture_h
#define segmentation_picture_h

#include "itkCudaDetailRegionSnakeEngine.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace example
{
/** The image as it is shown: 8 bit grey, reduced or enlarged. */
struct Picture
{
  int                        Width{ 0 };
  int                        Height{ 0 };
  double                     Scale{ 1.0 }; // sides of the picture per side of the image
  std::vector<unsigned char> Grey;
};

/** Shows an image of `width` x `height` pixels with the given values: large ones as means of blocks of pixels, small
 * ones with each pixel as a block. Black and white are the 0.5 and 99.5 percentiles of the values shown. */
Picture
MakePicture(size_t width, size_t height, const std::function<double(size_t x, size_t y)> & value);

/** Draws the polygon, its nodes and the course of the criterion onto the picture, and writes it to a file: as SVG if
 * the name ends so, else as PNG. \exception std::runtime_error if the file cannot be written */
void
WriteOverlay(const std::string & fileName, const Picture & picture, const itk::CudaRegionSnakeResult & result);
} // namespace example

#endif
