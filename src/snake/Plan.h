// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Plan_h
#define CudaFilters_snake_Plan_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Laws.h"
#include "region/Samples.h"
#include "region/Sums.h"
#include "snake/Control.h"
#include "snake/Core.h"

namespace itk::cuda::snake
{
/** \exception ExceptionObject naming a parameter out of range, its value and what would be right. */
void
CheckSnakeParameters(const CudaRegionSnakeParameters & parameters);

/** \exception ExceptionObject for a mask to start from that does not fit the rectangle, or for two starts. */
void
CheckSnakeStart(const CudaSnakePolygon * polygon, const CudaImageView * mask, const PixelRectangle & rectangle);

/** \exception ExceptionObject for an image, masks or starts that do not fit each other. */
void
CheckSnakeInput(const CudaRegionSnakeInput & input);

/** \exception ExceptionObject for too few valid pixels for two regions. */
void
CheckNumberOfValidPixels(const CudaRegionSnakeParameters & parameters, size_t validPixels);

/** Exponent of the coarsest level's cells in an image or a rectangle of it. */
uint32_t
GetCoarseExponent(CudaFiltersEnums::Schedule schedule, const PixelRectangle & rectangle);

/** Levels, steps and limits for an image. \exception ExceptionObject if it has too few valid pixels for two regions. */
SnakePlan
MakeSnakePlan(const CudaRegionSnakeParameters & parameters, int32_t width, int32_t height, size_t validPixels);

LawDescription
MakeLawDescription(const CudaRegionSnakeParameters & parameters, size_t validPixels);
} // namespace itk::cuda::snake

#endif
