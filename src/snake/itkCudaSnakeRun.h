// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeRun_h
#define itkCudaSnakeRun_h

#include "itkCudaDetailNames.h"
#include "itkCudaDetailRegionSnakeParameters.h"
#include "itkCudaRegionThreads.h"
#include "itkCudaSnakeBackend.h"
#include "itkCudaSnakeImage.h"

namespace itk::cuda::snake
{
/** \struct SnakeRun
 * \brief A run of the snake on an image or on a rectangle of it: where it looks, where it starts, and its parameters.
 * The struct owns nothing.
 *
 * A run on a rectangle is a run on the image cut to it. The corners of the start and of the result count from the
 * rectangle's corner, J and N are those of its pixels, and levels and steps follow from its sides. Only the grid of the
 * samples is the whole image's. Integer images have the same grid when they are cut, except with the log-normal law,
 * and therefore the same result bit for bit.
 */
struct SnakeRun
{
  // NoiseLaw, NumberOfLooks and ForegroundThreshold are not looked at: they are the image's
  CudaRegionSnakeParameters Parameters;
  PixelRectangle            Rectangle;               // without pixels: the whole image
  const CudaSnakePolygon *  StartPolygon{ nullptr }; // at most one of the two starts
  const CudaImageView *     StartMask{ nullptr };    // UChar of the rectangle's size: the start is where it is not 0
  CudaRegionSnakeObserver   Observer;
};

/** Checks a run on the image, and returns the run's rectangle. \exception ExceptionObject naming what is out of range,
 * its value and what would be right */
PixelRectangle
CheckSnakeRun(const SnakeImage & image, const SnakeRun & run);

/** Runs the snake on a backend that was made for this image and the run's rectangle. The result's times leave out the
 * image's. \exception ExceptionObject if the rectangle has too few valid pixels, or the start has none */
CudaRegionSnakeResult
RunSnake(const SnakeImage & image, const SnakeRun & run, SnakeBackend & backend);

/** Runs the snake on the host. The result does not depend on the number of threads.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake() */
CudaRegionSnakeResult
RunOnHost(const HostSnakeImage & image, const SnakeRun & run, const Threads & threads);
} // namespace itk::cuda::snake

#endif
