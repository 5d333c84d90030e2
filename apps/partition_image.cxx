// SPDX-License-Identifier: Apache-2.0
#include "partition_image.h"

#include "itkCastImageFilter.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionIterator.h"
#include "overlay.h"
#include "region_image.h"

#include <cmath>
#include <type_traits>
#include <vector>

namespace
{
using command::PartitionJob;
using command::PartitionOutcome;
using itk::CudaFiltersEnums;
using LabelImage = itk::Image<unsigned int, 2>;
using MaskImage = itk::Image<unsigned char, 2>;

template <typename TFilter>
void
SetParameters(TFilter & filter, const PartitionJob & job)
{
  filter.SetNoiseLaw(job.Law);
  filter.SetNumberOfLooks(job.NumberOfLooks);
  filter.SetForegroundThreshold(job.ForegroundThreshold);
  filter.SetSegmentCost(job.SegmentCost);
  filter.SetBlockSize(job.BlockSize);
  filter.SetMinimumNumberOfPixels(job.MinimumNumberOfPixels);
  filter.SetMaximumNumberOfIterations(job.MaximumNumberOfIterations);
  filter.SetAllowMerging(job.AllowMerging);
  filter.SetLabelsOnly(job.LabelsOnly);
  if (!job.ValidMask.empty())
  {
    filter.SetValidMask(command::ReadImage<MaskImage>(job.ValidMask));
  }
  if (!job.InitialLabels.empty())
  {
    filter.SetInitialLabels(command::ReadImage<LabelImage>(job.InitialLabels));
  }
  filter.SetBackend(job.Backend);
  filter.SetDeviceIndex(job.DeviceIndex);
}

/** Writes labels with 16 bits if that suffices, because many formats cannot store 32-bit integers. */
void
WriteLabels(const std::string & fileName, const LabelImage * labels, size_t numberOfRegions)
{
  if (numberOfRegions > std::numeric_limits<unsigned short>::max())
  {
    command::WriteImage(fileName, labels);
    return;
  }
  using ShortImage = itk::Image<unsigned short, 2>;
  const auto cast = itk::CastImageFilter<LabelImage, ShortImage>::New();
  cast->SetInput(labels);
  cast->Update();
  command::WriteImage<ShortImage>(fileName, cast->GetOutput());
}

/** Returns the means of regions 1, 2, ... in the values of the image. For the law Bernoulli they are computed from the
 * pixels, because the table holds fractions of ones if there is a threshold. For the log-normal law they are geometric
 * means, because the table holds means of logarithms. */
template <typename TPixel>
std::vector<double>
GetMeans(const itk::Image<TPixel, 2> *    image,
         const LabelImage *               labels,
         const itk::CudaRegionPartition & partition,
         CudaFiltersEnums::NoiseLaw       law)
{
  std::vector<double> means(partition.GetNumberOfRegions() + 1, std::numeric_limits<double>::quiet_NaN());
  for (uint32_t number = 1; number < means.size(); ++number)
  {
    const double mean = partition.GetRegion(number).Mean;
    means[number] = law == CudaFiltersEnums::NoiseLaw::LogNormal ? std::exp(mean) : mean;
  }
  if (law == CudaFiltersEnums::NoiseLaw::Bernoulli)
  {
    std::vector<double> sums(means.size(), 0.0);
    const size_t        pixels = labels->GetBufferedRegion().GetNumberOfPixels();
    for (size_t i = 0; i < pixels; ++i)
    {
      sums[labels->GetBufferPointer()[i]] += static_cast<double>(image->GetBufferPointer()[i]);
    }
    for (uint32_t number = 1; number < means.size(); ++number)
    {
      means[number] = sums[number] / static_cast<double>(partition.GetRegion(number).NumberOfPixels);
    }
  }
  return means;
}

/** Writes the image with each pixel replaced by the mean of its region, rounded to the nearest for integer types.
 * Pixels that are not valid become NaN, or 0 for integer types. */
template <typename TPixel>
void
WriteMeans(const std::string & fileName, const LabelImage * labels, const std::vector<double> & means)
{
  using ImageType = itk::Image<TPixel, 2>;
  std::vector<TPixel> pixels{ std::numeric_limits<TPixel>::quiet_NaN() };
  for (size_t number = 1; number < means.size(); ++number)
  {
    pixels.push_back(
      static_cast<TPixel>(std::is_integral<TPixel>::value ? std::floor(means[number] + 0.5) : means[number]));
  }
  const auto image = ImageType::New();
  image->CopyInformation(labels);
  image->SetRegions(labels->GetBufferedRegion());
  image->Allocate();
  itk::ImageRegionIterator<ImageType> output(image, image->GetBufferedRegion());
  for (itk::ImageRegionConstIterator<LabelImage> label(labels, labels->GetBufferedRegion()); !label.IsAtEnd();
       ++label, ++output)
  {
    output.Set(pixels[label.Get()]);
  }
  command::WriteImage<ImageType>(fileName, image);
}

template <typename TPixel>
PartitionOutcome
Divide(const PartitionJob & job)
{
  using ImageType = itk::Image<TPixel, 2>;
  PartitionOutcome            outcome;
  typename ImageType::Pointer image;
  outcome.ReadSeconds = command::Seconds([&] { image = command::ReadImage<ImageType>(job.Input); });

  const auto filter = itk::CudaRegionPartitionImageFilter<ImageType, LabelImage>::New();
  filter->SetInput(image);
  SetParameters(*filter, job);
  command::ShowProgress(filter, "dividing");
  outcome.FilterSeconds = command::Seconds([&] { filter->Update(); });
  outcome.Partition = filter->GetPartition();
  outcome.BackendUsed = itk::CudaBackendToString(filter->GetBackendUsed());
  outcome.BackendReason = filter->GetBackendReason();

  if (!job.LabelsFile.empty())
  {
    WriteLabels(job.LabelsFile, filter->GetOutput(), filter->GetNumberOfRegions());
  }
  if (!job.MeansFile.empty())
  {
    const auto means =
      GetMeans(image.GetPointer(), filter->GetOutput(), *filter->GetPartition(), filter->GetNoiseLaw());
    WriteMeans<TPixel>(job.MeansFile, filter->GetOutput(), means);
  }
  if (!job.OverlayFile.empty())
  {
    command::WriteOverlay(job.OverlayFile, image.GetPointer(), filter->GetOutput(), {});
  }
  return outcome;
}
} // namespace

command::PartitionOutcome
command::PartitionImage(const PartitionJob & job, const itk::ImageIOBase & io)
{
  return CallForPixelType(io, [&job](auto pixel) { return Divide<decltype(pixel)>(job); });
}
