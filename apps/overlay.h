// SPDX-License-Identifier: Apache-2.0
#ifndef overlay_h
#define overlay_h

#include "itkCudaRegionSnakeTypes.h"
#include "itkImage.h"

#include <string>

namespace command
{
/** Writes the values between the 0.5 and the 99.5 percentile as grey values from 0 to 255. For images of float and
 * double. */
template <typename TPixel>
void
WriteGrey(const std::string & fileName, const itk::Image<TPixel, 2> * image);

/** Writes the image, enlarged and in grey, with the boundary of the label and the nodes of the polygon on it, as
 * docs/user/parameters.md defines. For images of unsigned char, unsigned short, short and float, and labels of
 * unsigned char and unsigned int. */
template <typename TPixel, typename TLabel>
void
WriteOverlay(const std::string &           fileName,
             const itk::Image<TPixel, 2> * image,
             const itk::Image<TLabel, 2> * label,
             const itk::CudaSnakePolygon & nodes);
} // namespace command

#endif
