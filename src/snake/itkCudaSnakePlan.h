// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakePlan_h
#define itkCudaSnakePlan_h

#include "itkCudaRegionLaws.h"
#include "itkCudaRegionSamples.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkCudaSnakeControl.h"
#include "itkCudaSnakeRegion.h"

namespace itk::cuda::snake
{
/** \exception ExceptionObject naming a parameter that cannot be, its value and what would be right. */
void
CheckSnakeParameters(const CudaRegionSnakeParameters & parameters);

/** \exception ExceptionObject for an image, masks or starts that do not fit each other. */
void
CheckSnakeInput(const CudaRegionSnakeInput & input);

/** Levels, steps and limits for an image. \exception ExceptionObject if it has too few valid pixels for two regions. */
SnakePlan
MakeSnakePlan(const CudaRegionSnakeParameters & parameters, int32_t width, int32_t height, size_t validPixels);

LawDescription
MakeLawDescription(const CudaRegionSnakeParameters & parameters, size_t validPixels);

/** Statistics of a region in the units of the image. */
CudaRegionSnakeStatistics
MakeSnakeStatistics(const Moments & sums, const Samples & samples, NoiseLaw law);
} // namespace itk::cuda::snake

#endif
