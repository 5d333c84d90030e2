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
#include "itkMacro.h"

// Checks the input and the parameters of the snake, and makes the plan of a run.

namespace itk::cuda::snake
{
/** \class TooFewPixels
 * \brief Exception: an image or a start has not enough valid pixels for two regions. */
class TooFewPixels : public ExceptionObject
{
public:
  /** Constructs an exception whose description begins as those of itkGenericExceptionMacro, by which callers know that
   * arguments were refused. */
  TooFewPixels(const char * file, unsigned int line, const std::string & message)
    : ExceptionObject(file, line, "ITK ERROR: " + message)
  {}
};

/** Checks the parameters. \exception ExceptionObject naming a parameter out of range, its value and the valid range. */
void
CheckSnakeParameters(const CudaRegionSnakeParameters & parameters);

/** Checks the start of a run. \exception ExceptionObject if the initial mask does not fit the rectangle, or if both a
 * polygon and a mask are given. */
void
CheckSnakeStart(const CudaSnakePolygon * polygon, const CudaImageView * mask, const PixelRectangle & rectangle);

/** Checks an input. \exception ExceptionObject if its image, mask and start do not fit each other. */
void
CheckSnakeInput(const CudaRegionSnakeInput & input);

/** Checks the number of valid pixels. \exception TooFewPixels if it is too small for two regions of the minimum
 * size. */
void
CheckNumberOfValidPixels(const CudaRegionSnakeParameters & parameters, size_t validPixels);

/** Returns the exponent of the coarsest level's cells for an image or a rectangle of it. */
uint32_t
GetCoarseExponent(CudaFiltersEnums::Schedule schedule, const PixelRectangle & rectangle);

/** Returns the levels, steps and limits for an image. \exception TooFewPixels if it has too few valid pixels for two
 * regions. */
SnakePlan
MakeSnakePlan(const CudaRegionSnakeParameters & parameters, int32_t width, int32_t height, size_t validPixels);

/** Returns the law for an image. \param squaresWrap see SamplesDescription */
LawDescription
MakeLawDescription(const CudaRegionSnakeParameters & parameters, size_t validPixels, bool squaresWrap = false);
} // namespace itk::cuda::snake

#endif
