// SPDX-License-Identifier: Apache-2.0
#include "region/Checks.h"

#include "itkCudaNoiseLaws.h"

#include <cmath>
#include <limits>

// Implements the checks of images and laws that all segmentation methods share, and the statistics of a region.

namespace itk::cuda::region
{
namespace
{
const char *
NameOf(CudaComponentType type)
{
  return type == CudaComponentType::UChar ? "unsigned char" : "unsigned int";
}
} // namespace

void
CheckNoiseLaw(const std::optional<NoiseLaw> & law)
{
  if (!law)
  {
    itkGenericExceptionMacro(
      "NoiseLaw is not set; call SetNoiseLaw() with the distribution of the pixels: " << CudaNoiseLawNames());
  }
}

void
CheckForegroundThreshold(double threshold)
{
  Require(!std::isinf(threshold), "ForegroundThreshold", threshold, "finite");
}

void
CheckImage(const CudaImageView & image, const CudaImageView * validMask)
{
  if (image.Data == nullptr || image.GetNumberOfPixels() == 0)
  {
    itkGenericExceptionMacro("The image is empty");
  }
  if (image.Size[2] != 1 || image.Size[3] != 1 || image.NumberOfComponents != 1)
  {
    itkGenericExceptionMacro("The image must have two dimensions and one component per pixel");
  }
  if (validMask != nullptr)
  {
    CheckSize(*validMask, CudaComponentType::UChar, image.Size[0], image.Size[1], "The mask of valid pixels");
  }
}

void
CheckSize(const CudaImageView & image, CudaComponentType type, size_t width, size_t height, const char * name)
{
  if (image.Size != decltype(image.Size){ { width, height, 1, 1 } } || image.ComponentType != type ||
      image.NumberOfComponents != 1)
  {
    itkGenericExceptionMacro(<< name << " has " << image.Size[0] << " x " << image.Size[1] << " pixels; it must have "
                             << width << " x " << height << " of " << NameOf(type) << ", as the image");
  }
}

void
CheckLabels(const CudaImageView & labels, const CudaImageView & image)
{
  const bool isType =
    labels.ComponentType == CudaComponentType::UInt || labels.ComponentType == CudaComponentType::UShort;
  if (labels.Data == nullptr || labels.Size != image.Size || !isType || labels.NumberOfComponents != 1)
  {
    itkGenericExceptionMacro("The label image has "
                             << labels.Size[0] << " x " << labels.Size[1] << " pixels; it must have " << image.Size[0]
                             << " x " << image.Size[1] << " of unsigned int or unsigned short, as the image");
  }
}

void
CheckValidPixels(const SamplesDescription & samples)
{
  if (samples.NumberOfValidPixels == 0)
  {
    itkGenericExceptionMacro("The image has 0 valid pixels of "
                             << static_cast<size_t>(samples.Width) * static_cast<size_t>(samples.Height)
                             << "; a region needs at least 1");
  }
}

void
CheckLargestLabel(const char * result, size_t number, const char * what, CudaComponentType labelType)
{
  const size_t largest = labelType == CudaComponentType::UShort ? std::numeric_limits<uint16_t>::max()
                                                                : std::numeric_limits<uint32_t>::max();
  if (number > largest)
  {
    itkGenericExceptionMacro(<< result << " has " << number << " " << what << "; labels of "
                             << 8 * CudaComponentSize(labelType) << " bits tell " << largest
                             << " apart. Labels of unsigned int would do");
  }
}

CudaRegionSnakeStatistics
MakeStatistics(const Moments & sums, const SamplesDescription & samples, NoiseLaw law)
{
  CudaRegionSnakeStatistics statistics;
  statistics.NumberOfPixels = static_cast<uint64_t>(sums.Count);
  statistics.Sum = sums.Sum;
  statistics.SumOfSquares = sums.SumOfSquares;
  statistics.SumOfSquaresHigh = UsesSquares(law) ? SumOfSquaresOf(sums).High : 0;
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
} // namespace itk::cuda::region
