// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeBatchFilter_hxx
#define itkCudaRegionSnakeBatchFilter_hxx

#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailWorkScope.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::CudaRegionSnakeBatchFilter()
{
  m_Parameters.MinimumEdgeLength = 3.0;
  m_Parameters.MaximumStep = 4;
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::AddInitialRegion(const RegionType & region)
{
  if (region.GetSize(0) == 0 || region.GetSize(1) == 0)
  {
    itkExceptionMacro("The initial region has size " << region.GetSize() << "; it must have pixels");
  }
  const auto x0 = static_cast<double>(region.GetIndex(0)) - 0.5;
  const auto y0 = static_cast<double>(region.GetIndex(1)) - 0.5;
  const auto x1 = x0 + static_cast<double>(region.GetSize(0));
  const auto y1 = y0 + static_cast<double>(region.GetSize(1));
  m_Starts.emplace_back();
  for (const auto & [x, y] : { std::pair(x0, y0), std::pair(x1, y0), std::pair(x1, y1), std::pair(x0, y1) })
  {
    m_Starts.back().emplace_back();
    m_Starts.back().back()[0] = x;
    m_Starts.back().back()[1] = y;
  }
  this->Modified();
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::AddInitialPath(const PathType * path)
{
  if (path == nullptr)
  {
    itkExceptionMacro("The initial path is null; it must be a polygon");
  }
  const auto & vertices = path->GetVertexList()->CastToSTLConstContainer();
  m_Starts.emplace_back(vertices.begin(), vertices.end());
  this->Modified();
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::ClearStarts()
{
  m_Starts.clear();
  this->Modified();
}

template <typename TInputImage, typename TOutputImage>
const CudaRegionSnakeRegion &
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::GetRegion(SizeValueType i) const
{
  if (i >= m_Regions.size())
  {
    itkExceptionMacro("Region " << i << " was asked for; there are " << m_Regions.size());
  }
  return m_Regions[i];
}

template <typename TInputImage, typename TOutputImage>
auto
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::GetContourPoints(SizeValueType i) const
  -> const std::vector<PointType> &
{
  this->GetRegion(i); // checks the number
  return m_ContourPoints[i];
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  if (this->GetInitialLabels() != nullptr && !m_Starts.empty())
  {
    itkExceptionMacro("InitialLabels is set, and "
                      << m_Starts.size() << " regions or paths are added; starts are given in one of the ways");
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  this->PrepareLabels();
  m_Regions.clear();
  m_ContourPoints.clear();
  m_Overlaps.clear();
  CudaDetail::CudaRegionSnakeInput input = this->MakeInput();
  const auto                       validMask = CudaDetail::MakeCudaOptionalView(this->GetValidMask(), "ValidMask");
  input.ValidMask = validMask ? &*validMask : nullptr;
  CudaDetail::CudaRegionSnakeStarts starts;
  const auto labels = CudaDetail::MakeCudaOptionalView(this->GetInitialLabels(), "InitialLabels");
  starts.Labels = labels ? &*labels : nullptr;
  starts.Margin = m_Margin;
  for (const auto & vertices : m_Starts)
  {
    starts.Polygons.push_back(this->RoundToCorners(vertices, "start " + std::to_string(starts.Polygons.size())));
  }

  CudaDetail::CudaRegionSnakeObserver observer;
  observer.Progress = CudaDetail::MakeCudaProgressObserver(this);
  const auto                       threads = this->GetNumberOfWorkUnits();
  CudaDetail::CudaRegionSnakeBatch batch;
  this->RunOnBackend(
    input,
    CudaDetail::CudaRegionSnakeBatchWorkingSet(input, m_Parameters, threads),
    [&](const CudaDeviceImageView & view) {
      batch = CudaDetail::CudaRegionSnakeBatchOfDeviceImage(view, input, starts, m_Parameters, threads, observer);
    },
    [&](const CudaDetail::CudaRegionSnakeInput & pixels, int index) {
      batch = CudaDetail::CudaRegionSnakeBatchOnDevice(pixels, starts, m_Parameters, index, threads, observer);
    },
    [&](const CudaDetail::CudaRegionSnakeInput & pixels) {
      batch = CudaDetail::CudaRegionSnakeBatchOnHost(pixels, starts, m_Parameters, threads, observer);
    });
  std::vector<CudaRegionSnakeOverlap> overlaps;
  if (!batch.IsAborted && this->GetMakeLabelImage())
  {
    OutputImageType * const output = this->GetOutput();
    overlaps = CudaDetail::CudaWriteRegionSnakeLabels(
      batch.Regions, CudaDetail::MakeCudaImageView(output, output->GetBufferedRegion()), threads);
  }
  if (batch.IsAborted || !observer.Progress(1.0f))
  {
    CudaDetail::CudaThrowAborted(*this);
  }
  // The points are kept, because the input may be gone when they are asked for.
  for (const CudaRegionSnakeRegion & region : batch.Regions)
  {
    m_ContourPoints.emplace_back();
    for (const auto & index : this->GetContourIndices(region.Polygon))
    {
      m_ContourPoints.back().emplace_back();
      this->GetInput()->TransformContinuousIndexToPhysicalPoint(index, m_ContourPoints.back().back());
    }
  }
  m_Regions = std::move(batch.Regions);
  m_Overlaps = std::move(overlaps);
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeBatchFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Margin: " << m_Margin << std::endl;
  os << indent << "Number of starts: " << m_Starts.size() << std::endl;
  os << indent << "Number of regions: " << m_Regions.size() << std::endl;
  os << indent << "Number of overlaps: " << m_Overlaps.size() << std::endl;
}
} // end namespace itk

#endif
