// SPDX-License-Identifier: Apache-2.0
#include "snake/Plan.h"

#include "region/Checks.h"
#include "itkMacro.h"

#include <algorithm>
#include <cmath>
#include <sstream>

// Checks the input, the start and the parameters of the snake, and makes its plan and the description of its law.

namespace itk::cuda::snake
{
namespace
{
constexpr unsigned int MaximumOfMaximumStep = 1u << 20;
constexpr unsigned int MaximumOfMaximumNumberOfNodes = 1u << 16;
constexpr unsigned int MaximumOfMaximumNumberOfIterations = 1000000;
constexpr double       SmallestMinimumGain = 1e-6;
} // namespace

void
CheckSnakeParameters(const CudaRegionSnakeParameters & parameters)
{
  CheckNoiseLaw(parameters.NoiseLaw);
  Require(parameters.NumberOfLooks > 0.0 && parameters.NumberOfLooks <= MaximumNumberOfLooks,
          "NumberOfLooks",
          parameters.NumberOfLooks,
          "a number above 0 and at most 1e9");
  CheckForegroundThreshold(parameters.ForegroundThreshold);
  Require(parameters.MaximumStep >= 1 && parameters.MaximumStep <= MaximumOfMaximumStep,
          "MaximumStep",
          parameters.MaximumStep,
          Between(1, MaximumOfMaximumStep));
  Require(parameters.MinimumEdgeLength >= 1.0 && parameters.MinimumEdgeLength <= 1e9,
          "MinimumEdgeLength",
          parameters.MinimumEdgeLength,
          "from 1 to 1e9");
  Require(std::isfinite(parameters.MinimumGain) && parameters.MinimumGain >= SmallestMinimumGain,
          "MinimumGain",
          parameters.MinimumGain,
          "1e-6 or more");
  Require(parameters.MaximumNumberOfNodes >= 4 && parameters.MaximumNumberOfNodes <= MaximumOfMaximumNumberOfNodes,
          "MaximumNumberOfNodes",
          parameters.MaximumNumberOfNodes,
          Between(4, MaximumOfMaximumNumberOfNodes));
  Require(parameters.MaximumNumberOfIterations >= 1 &&
            parameters.MaximumNumberOfIterations <= MaximumOfMaximumNumberOfIterations,
          "MaximumNumberOfIterations",
          parameters.MaximumNumberOfIterations,
          Between(1, MaximumOfMaximumNumberOfIterations));
  Require(parameters.MinimumRegionSize >= 1, "MinimumRegionSize", parameters.MinimumRegionSize, "1 or more");
}

void
CheckSnakeStart(const CudaSnakePolygon * polygon, const CudaImageView * mask, const PixelRectangle & rectangle)
{
  if (mask != nullptr)
  {
    CheckSize(*mask,
              CudaComponentType::UChar,
              static_cast<size_t>(rectangle.Width),
              static_cast<size_t>(rectangle.Height),
              "The initial mask");
  }
  if (mask != nullptr && polygon != nullptr)
  {
    itkGenericExceptionMacro("Both an initial polygon and an initial mask are given; give one start");
  }
}

void
CheckSnakeInput(const CudaRegionSnakeInput & input)
{
  CheckImage(input.Image, input.ValidMask);
  CheckSnakeStart(input.StartPolygon,
                  input.StartMask,
                  { 0, 0, static_cast<int32_t>(input.Image.Size[0]), static_cast<int32_t>(input.Image.Size[1]) });
}

void
CheckNumberOfValidPixels(const CudaRegionSnakeParameters & parameters, size_t validPixels)
{
  if (validPixels / 2 < parameters.MinimumRegionSize)
  {
    std::ostringstream message;
    message << "The image has " << validPixels << " valid pixels; two regions of MinimumRegionSize "
            << parameters.MinimumRegionSize << " need at least " << 2 * parameters.MinimumRegionSize;
    throw TooFewPixels(__FILE__, __LINE__, message.str());
  }
}

uint32_t
GetCoarseExponent(CudaFiltersEnums::Schedule schedule, const PixelRectangle & rectangle)
{
  uint32_t coarse = 0;
  if (schedule != CudaFiltersEnums::Schedule::AsPublished)
  {
    const int32_t shorterSide = std::min(rectangle.Width, rectangle.Height);
    while (coarse < MaximumLevelExponent && (shorterSide >> (coarse + 1)) >= MinimumCellsPerSide)
    {
      ++coarse;
    }
  }
  return coarse;
}

SnakePlan
MakeSnakePlan(const CudaRegionSnakeParameters & parameters, int32_t width, int32_t height, size_t validPixels)
{
  CheckNumberOfValidPixels(parameters, validPixels);
  SnakePlan      plan;
  const int32_t  shorterSide = std::min(width, height);
  const uint32_t coarse = GetCoarseExponent(parameters.Schedule, { 0, 0, width, height });
  plan.InTurns = parameters.Schedule == CudaFiltersEnums::Schedule::AsPublished;
  plan.NumberOfLevels = coarse > 0 ? 2 : 1;
  plan.Exponent[0] = coarse;
  plan.Exponent[1] = 0;
  plan.Rings = plan.InTurns ? 1 : CoarseToFineRings;
  // A step of more than a quarter of the side would move most candidates to the borders.
  const int32_t largestStep = std::max(1, (shorterSide >> coarse) / 4);
  plan.FirstStep = std::min(static_cast<int32_t>(parameters.MaximumStep), largestStep);
  plan.Removal = parameters.UseDescriptionLength;
  plan.ShareToLeave = plan.InTurns ? 0.0 : ShareToLeaveStep;
  plan.MinimumSquaredLength =
    static_cast<int64_t>(std::floor(parameters.MinimumEdgeLength * parameters.MinimumEdgeLength)) + 1;
  plan.MinimumGain = parameters.MinimumGain;
  plan.NodeCost = Log(static_cast<double>(validPixels));
  plan.MinimumRegionSize = static_cast<int64_t>(parameters.MinimumRegionSize);
  plan.MaximumNumberOfNodes = parameters.MaximumNumberOfNodes;
  plan.MaximumNumberOfIterations = parameters.MaximumNumberOfIterations;
  return plan;
}

LawDescription
MakeLawDescription(const CudaRegionSnakeParameters & parameters, size_t validPixels, bool squaresWrap)
{
  return { parameters.NoiseLaw.value(), parameters.NumberOfLooks, static_cast<int64_t>(validPixels), squaresWrap };
}
} // namespace itk::cuda::snake
