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
 * \brief A run of the snake on an image or on a rectangle of it: where it looks and starts, and with which parameters.
 * Nothing is owned.
 *
 * A run on a rectangle is one on the image cut to it: its corners, of the start and of the result, count from the
 * rectangle's, J and N are those of its pixels, and levels and steps follow from its sides. Only the grid of the
 * samples is the whole image's. Integer images have the same grid when they are cut (but with the log-normal law), and
 * so the same result bit for bit.
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

/** Checks the run, which is to be on the image, and returns the rectangle that it is on.
 * \exception ExceptionObject naming what cannot be, its value and what would be right */
PixelRectangle
CheckSnakeRun(const SnakeImage & image, const SnakeRun & run);

/** Runs the snake on a backend that was made for this image and the run's rectangle. Without the seconds that it took
 * to make the image. \exception ExceptionObject if the rectangle has too few valid pixels, or the start has none */
CudaRegionSnakeResult
RunSnake(const SnakeImage & image, const SnakeRun & run, SnakeBackend & backend);

/** Runs the snake on the host; the result does not depend on the number of threads.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake() */
CudaRegionSnakeResult
RunOnHost(const HostSnakeImage & image, const SnakeRun & run, const Threads & threads);
} // namespace itk::cuda::snake

#endif
