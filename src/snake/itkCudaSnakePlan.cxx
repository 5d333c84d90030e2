// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakePlan.h"

#include "itkCudaNoiseLaws.h"
#include "itkMacro.h"

#include <algorithm>
#include <cmath>

namespace itk::cuda::snake
{
namespace
{
constexpr unsigned int MaximumOfMaximumStep = 1u << 20;
constexpr unsigned int MaximumOfMaximumNumberOfNodes = 1u << 16;
constexpr unsigned int MaximumOfMaximumNumberOfIterations = 1000000;
constexpr double       SmallestMinimumGain = 1e-6;

template <typename TValue>
void
Require(bool condition, const char * parameter, TValue value, const std::string & requirement)
{
  if (!condition)
  {
    itkGenericExceptionMacro(<< parameter << " is " << value << "; it must be " << requirement);
  }
}

std::string
Between(unsigned int lower, unsigned int upper)
{
  return "from " + std::to_string(lower) + " to " + std::to_string(upper);
}

void
RequireSize(const CudaImageView & mask, size_t width, size_t height, const char * name)
{
  if (mask.Size != decltype(mask.Size){ { width, height, 1, 1 } } || mask.ComponentType != CudaComponentType::UChar ||
      mask.NumberOfComponents != 1)
  {
    itkGenericExceptionMacro(<< name << " has " << mask.Size[0] << " x " << mask.Size[1] << " pixels; it must have "
                             << width << " x " << height << " of unsigned char, as the image");
  }
}
} // namespace

void
CheckSnakeParameters(const CudaRegionSnakeParameters & parameters)
{
  if (!parameters.NoiseLaw)
  {
    itkGenericExceptionMacro(
      "NoiseLaw is not set; call SetNoiseLaw() with the distribution of the pixels: " << CudaNoiseLawNames());
  }
  Require(std::isfinite(parameters.NumberOfLooks) && parameters.NumberOfLooks > 0.0,
          "NumberOfLooks",
          parameters.NumberOfLooks,
          "a number above 0");
  Require(!std::isinf(parameters.ForegroundThreshold), "ForegroundThreshold", parameters.ForegroundThreshold, "finite");
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
CheckSnakeImage(const CudaRegionSnakeInput & input)
{
  if (input.Image.Data == nullptr || input.Image.GetNumberOfPixels() == 0)
  {
    itkGenericExceptionMacro("The image is empty");
  }
  if (input.Image.Size[2] != 1 || input.Image.Size[3] != 1 || input.Image.NumberOfComponents != 1)
  {
    itkGenericExceptionMacro("The image must have two dimensions and one component per pixel");
  }
  if (input.ValidMask != nullptr)
  {
    RequireSize(*input.ValidMask, input.Image.Size[0], input.Image.Size[1], "The mask of valid pixels");
  }
}

void
CheckSnakeStart(const CudaSnakePolygon * polygon, const CudaImageView * mask, const PixelRectangle & rectangle)
{
  if (mask != nullptr)
  {
    RequireSize(*mask, static_cast<size_t>(rectangle.Width), static_cast<size_t>(rectangle.Height), "The initial mask");
  }
  if (mask != nullptr && polygon != nullptr)
  {
    itkGenericExceptionMacro("Both an initial polygon and an initial mask are given; give one start");
  }
}

void
CheckSnakeInput(const CudaRegionSnakeInput & input)
{
  CheckSnakeImage(input);
  CheckSnakeStart(input.StartPolygon,
                  input.StartMask,
                  { 0, 0, static_cast<int32_t>(input.Image.Size[0]), static_cast<int32_t>(input.Image.Size[1]) });
}

void
CheckNumberOfValidPixels(const CudaRegionSnakeParameters & parameters, size_t validPixels)
{
  if (validPixels / 2 < parameters.MinimumRegionSize)
  {
    itkGenericExceptionMacro("The image has " << validPixels << " valid pixels; two regions of MinimumRegionSize "
                                              << parameters.MinimumRegionSize << " need at least "
                                              << 2 * parameters.MinimumRegionSize);
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
  // A step of more than a quarter of the side would only lead to the borders.
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
MakeLawDescription(const CudaRegionSnakeParameters & parameters, size_t validPixels)
{
  return { parameters.NoiseLaw.value(), parameters.NumberOfLooks, static_cast<int64_t>(validPixels) };
}

CudaRegionSnakeStatistics
MakeSnakeStatistics(const Moments & sums, const SamplesDescription & samples, NoiseLaw law)
{
  CudaRegionSnakeStatistics statistics;
  statistics.NumberOfPixels = static_cast<uint64_t>(sums.Count);
  statistics.Sum = sums.Sum;
  statistics.SumOfSquares = sums.SumOfSquares;
  if (sums.Count > 0)
  {
    const double n = static_cast<double>(sums.Count);
    statistics.Mean = samples.Offset + samples.Step * (static_cast<double>(sums.Sum) / n);
    if (UsesSquares(law))
    {
      statistics.Variance = samples.Step * samples.Step * (ScaledVariance(sums) / (n * n));
      statistics.MeanSquare = statistics.Variance + statistics.Mean * statistics.Mean;
    }
    else
    {
      statistics.Variance = std::numeric_limits<double>::quiet_NaN();
      statistics.MeanSquare = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return statistics;
}
} // namespace itk::cuda::snake
