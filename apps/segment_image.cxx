// SPDX-License-Identifier: Apache-2.0
#include "segment_image.h"

#include "itkCudaRegionSnakeImageFilter.h"
#include "overlay.h"
#include "region_image.h"

namespace
{
using command::SegmentJob;
using command::SegmentOutcome;
using LabelImage = itk::Image<unsigned char, 2>;

itk::PolyLineParametricPath<2>::Pointer
MakePath(const itk::ImageBase<2> & image, const command::StartContour & contour)
{
  const auto path = itk::PolyLineParametricPath<2>::New();
  const auto first = image.GetLargestPossibleRegion().GetIndex();
  for (const command::PhysicalPoint & point : contour.Points)
  {
    itk::PolyLineParametricPath<2>::ContinuousIndexType index;
    if (contour.InPixels)
    {
      index[0] = point[0] + static_cast<double>(first[0]);
      index[1] = point[1] + static_cast<double>(first[1]);
    }
    else
    {
      // Ignore the result, which says whether the point is inside the image, because the filter checks that, too.
      image.TransformPhysicalPointToContinuousIndex(point, index);
    }
    path->AddVertex(index);
  }
  return path;
}

itk::ImageRegion<2>
MakeRegion(const itk::ImageBase<2> & image, const std::vector<long> & numbers)
{
  const auto          first = image.GetLargestPossibleRegion().GetIndex();
  itk::ImageRegion<2> region;
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    region.SetIndex(axis, first[axis] + numbers[axis]);
    region.SetSize(axis, static_cast<itk::SizeValueType>(numbers[axis + 2]));
  }
  return region;
}

template <typename TFilter>
void
SetStart(TFilter & filter, const SegmentJob & job)
{
  filter.SetStart(job.Start);
  if (!job.InitialContour.Points.empty())
  {
    filter.SetInitialPath(MakePath(*filter.GetInput(), job.InitialContour));
  }
  if (!job.InitialMask.empty())
  {
    filter.SetInitialMask(command::ReadImage<LabelImage>(job.InitialMask));
  }
  if (!job.InitialRegion.empty())
  {
    filter.SetInitialRegion(MakeRegion(*filter.GetInput(), job.InitialRegion));
  }
}

template <typename TFilter>
void
SetParameters(TFilter & filter, const SegmentJob & job)
{
  filter.SetNoiseLaw(job.Law);
  filter.SetNumberOfLooks(job.NumberOfLooks);
  filter.SetForegroundThreshold(job.ForegroundThreshold);
  if (!job.ValidMask.empty())
  {
    filter.SetValidMask(command::ReadImage<LabelImage>(job.ValidMask));
  }
  filter.SetSchedule(job.Schedule);
  filter.SetMaximumStep(job.MaximumStep);
  filter.SetMinimumEdgeLength(job.MinimumEdgeLength);
  filter.SetMinimumGain(job.MinimumGain);
  filter.SetUseDescriptionLength(job.UseDescriptionLength);
  filter.SetMaximumNumberOfNodes(job.MaximumNumberOfNodes);
  filter.SetMaximumNumberOfIterations(job.MaximumNumberOfIterations);
  filter.SetMinimumRegionSize(job.MinimumRegionSize);
  filter.SetInsideValue(static_cast<unsigned char>(job.InsideValue));
  filter.SetOutsideValue(static_cast<unsigned char>(job.OutsideValue));
  filter.SetBackend(job.Backend);
  filter.SetDeviceIndex(job.DeviceIndex);
}

template <typename TFilter>
SegmentOutcome
Describe(const TFilter & filter)
{
  SegmentOutcome outcome;
  outcome.Result = filter.GetResult();
  for (itk::SizeValueType i = 0; i < filter.GetNumberOfContourPoints(); ++i)
  {
    outcome.Contour.push_back(filter.GetContourPoint(i));
  }
  outcome.BackendUsed = itk::CudaBackendToString(filter.GetBackendUsed());
  outcome.BackendReason = filter.GetBackendReason();
  return outcome;
}

template <typename TPixel>
SegmentOutcome
Segment(const SegmentJob & job)
{
  using ImageType = itk::Image<TPixel, 2>;
  typename ImageType::Pointer image;
  const double                readSeconds = command::Seconds([&] { image = command::ReadImage<ImageType>(job.Input); });

  const auto filter = itk::CudaRegionSnakeImageFilter<ImageType, LabelImage>::New();
  filter->SetInput(image);
  SetParameters(*filter, job);
  SetStart(*filter, job);
  filter->SetMakeLabelImage(!job.LabelFile.empty() || !job.OverlayFile.empty());
  command::ShowProgress(filter, "segmenting");
  const double filterSeconds = command::Seconds([&] { filter->Update(); });

  if (!job.LabelFile.empty())
  {
    command::WriteImage<LabelImage>(job.LabelFile, filter->GetOutput());
  }
  if (!job.OverlayFile.empty())
  {
    const itk::CudaRegionSnakeResult & result = filter->GetResult();
    command::WriteOverlay(job.OverlayFile,
                          image.GetPointer(),
                          filter->GetOutput(),
                          result.SignificantBoundary ? result.Polygon : itk::CudaSnakePolygon());
  }
  SegmentOutcome outcome = Describe(*filter);
  outcome.ReadSeconds = readSeconds;
  outcome.FilterSeconds = filterSeconds;
  return outcome;
}
} // namespace

command::SegmentOutcome
command::SegmentImage(const SegmentJob & job, const itk::ImageIOBase & io)
{
  return CallForPixelType(io, [&job](auto pixel) { return Segment<decltype(pixel)>(job); });
}
