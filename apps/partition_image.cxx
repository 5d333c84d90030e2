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

/** In 16 bits if they suffice: many formats hold no integers of 32. */
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

/** The mean of the region's pixels as a pixel. Under the log-normal law means are those of logarithms. */
template <typename TPixel>
TPixel
GetMean(const itk::CudaPartitionRegion & region, bool ofLogarithms)
{
  const double mean = ofLogarithms ? std::exp(region.Mean) : region.Mean;
  return static_cast<TPixel>(std::is_integral<TPixel>::value ? std::floor(mean + 0.5) : mean);
}

/** Each pixel replaced by the mean of its region; pixels that are not valid by 0, or by no number where there is one.
 */
template <typename TPixel>
void
WriteMeans(const std::string &              fileName,
           const LabelImage *               labels,
           const itk::CudaRegionPartition & partition,
           bool                             ofLogarithms)
{
  using ImageType = itk::Image<TPixel, 2>;
  std::vector<TPixel> means{ std::numeric_limits<TPixel>::quiet_NaN() };
  for (const itk::CudaPartitionRegion & region : partition.GetRegions())
  {
    means.push_back(GetMean<TPixel>(region, ofLogarithms));
  }
  const auto image = ImageType::New();
  image->CopyInformation(labels);
  image->SetRegions(labels->GetBufferedRegion());
  image->Allocate();
  itk::ImageRegionIterator<ImageType> output(image, image->GetBufferedRegion());
  for (itk::ImageRegionConstIterator<LabelImage> label(labels, labels->GetBufferedRegion()); !label.IsAtEnd();
       ++label, ++output)
  {
    output.Set(means[label.Get()]);
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
    const bool ofLogarithms = filter->GetNoiseLaw() == itk::CudaFiltersEnums::NoiseLaw::LogNormal;
    WriteMeans<TPixel>(job.MeansFile, filter->GetOutput(), *filter->GetPartition(), ofLogarithms);
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
