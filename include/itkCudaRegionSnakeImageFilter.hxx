// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeImageFilter_hxx
#define itkCudaRegionSnakeImageFilter_hxx

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailKeepOnDevice.h"
#include "itkCudaDetailPixelContainer.h"
#include "itkCudaDetailRegionSnakeEngine.h"

#include <algorithm>
#include <cmath>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::CudaRegionSnakeImageFilter()
{
  this->ProcessObject::SetOutput("Contour", this->MakeOutput("Contour"));
}

template <typename TInputImage, typename TOutputImage>
ProcessObject::DataObjectPointer
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::MakeOutput(const ProcessObject::DataObjectIdentifierType & name)
{
  if (name == "Contour")
  {
    return PathType::New().GetPointer();
  }
  return Superclass::MakeOutput(name);
}

template <typename TInputImage, typename TOutputImage>
auto
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::GetContour() -> PathType *
{
  return dynamic_cast<PathType *>(this->ProcessObject::GetOutput("Contour"));
}

template <typename TInputImage, typename TOutputImage>
auto
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::GetContour() const -> const PathType *
{
  return dynamic_cast<const PathType *>(this->ProcessObject::GetOutput("Contour"));
}

template <typename TInputImage, typename TOutputImage>
auto
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::GetContourPoint(SizeValueType i) const -> PointType
{
  if (i >= m_ContourPoints.size())
  {
    itkExceptionMacro("Contour point " << i << " was asked for; there are " << m_ContourPoints.size());
  }
  return m_ContourPoints[i];
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  const int starts = (this->GetInitialPath() != nullptr ? 1 : 0) + (this->GetInitialMask() != nullptr ? 1 : 0) +
                     (this->HasInitialRegion() ? 1 : 0);
  if (starts > 1)
  {
    itkExceptionMacro("More than one of InitialPath, InitialMask and InitialRegion is set; the search has one start");
  }
  if (m_InsideValue == m_OutsideValue)
  {
    itkExceptionMacro("InsideValue is " << +m_InsideValue << "; it must be another value than OutsideValue");
  }
}

template <typename TInputImage, typename TOutputImage>
bool
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::HasInitialRegion() const
{
  return m_InitialRegion.GetSize(0) > 0 && m_InitialRegion.GetSize(1) > 0;
}

template <typename TInputImage, typename TOutputImage>
CudaSnakePolygon
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::GetStartPolygon() const
{
  const RegionType region = this->GetInput()->GetLargestPossibleRegion();
  CudaSnakePolygon polygon;
  if (this->HasInitialRegion())
  {
    if (!CudaDetail::CudaRegionHolds(region, m_InitialRegion))
    {
      itkExceptionMacro("InitialRegion has index "
                        << m_InitialRegion.GetIndex() << " and size " << m_InitialRegion.GetSize()
                        << "; it must lie in the image, with index " << region.GetIndex() << " and size "
                        << region.GetSize());
    }
    const auto x0 = static_cast<int32_t>(m_InitialRegion.GetIndex(0) - region.GetIndex(0));
    const auto y0 = static_cast<int32_t>(m_InitialRegion.GetIndex(1) - region.GetIndex(1));
    const auto x1 = x0 + static_cast<int32_t>(m_InitialRegion.GetSize(0));
    const auto y1 = y0 + static_cast<int32_t>(m_InitialRegion.GetSize(1));
    polygon = { { x0, y0 }, { x1, y0 }, { x1, y1 }, { x0, y1 } };
  }
  else if (const PathType * path = this->GetInitialPath())
  {
    polygon = this->RoundToCorners(path->GetVertexList()->CastToSTLConstContainer(), "InitialPath");
  }
  return polygon;
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaRegionSnakeObserver
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::MakeObserver()
{
  CudaDetail::CudaRegionSnakeObserver observer;
  observer.Progress = CudaDetail::MakeCudaProgressObserver(this);
  observer.ReportsLevels = this->HasObserver(ProgressEvent());
  if (this->HasObserver(IterationEvent()))
  {
    observer.Step = [this](const CudaDetail::CudaRegionSnakeState & state) {
      m_CurrentStep = state.Step;
      m_CurrentPolygon = state.Polygon;
      for (CudaSnakePoint & point : m_CurrentPolygon)
      {
        point = { point.X << state.Step.LevelExponent, point.Y << state.Step.LevelExponent };
      }
      this->InvokeEvent(IterationEvent());
    };
  }
  return observer;
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  this->PrepareLabels();
  m_Result = CudaRegionSnakeResult();
  m_ContourPoints.clear();

  CudaDetail::CudaRegionSnakeInput input = this->MakeInput();
  const auto                       validMask = CudaDetail::MakeCudaOptionalView(this->GetValidMask(), "ValidMask");
  const auto                       startMask = CudaDetail::MakeCudaOptionalView(this->GetInitialMask(), "InitialMask");
  input.ValidMask = validMask ? &*validMask : nullptr;
  input.StartMask = startMask ? &*startMask : nullptr;
  const CudaSnakePolygon startPolygon = this->GetStartPolygon();
  if (this->GetInitialPath() != nullptr || this->HasInitialRegion())
  {
    input.StartPolygon = &startPolygon;
  }

  const CudaDetail::CudaRegionSnakeObserver observer = this->MakeObserver();
  const int                                 device = this->RunOnBackend(
    input,
    CudaDetail::CudaRegionSnakeWorkingSet(input, m_Parameters),
    [&](const CudaDeviceImageView & view) {
      m_Result = CudaDetail::CudaRegionSnakeOfDeviceImage(view, input, m_Parameters, observer);
    },
    [&](const CudaDetail::CudaRegionSnakeInput & pixels, int index) {
      m_Result =
        CudaDetail::CudaRegionSnakeOnDevice(pixels, m_Parameters, index, this->GetNumberOfWorkUnits(), observer);
    },
    [&](const CudaDetail::CudaRegionSnakeInput & pixels) {
      m_Result = CudaDetail::CudaRegionSnakeOnHost(pixels, m_Parameters, this->GetNumberOfWorkUnits(), observer);
    });
  if (m_Result.Stop == CudaRegionSnakeStop::Aborted)
  {
    CudaDetail::CudaThrowAborted(*this);
  }
  this->WriteContour();
  if (this->GetMakeLabelImage())
  {
    this->WriteLabels(device);
  }
  this->UpdateProgress(1.0f);
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::WriteContour()
{
  const InputImageType * image = this->GetInput();
  PathType *             contour = this->GetContour();
  contour->Initialize();
  for (const auto & index : this->GetContourIndices(m_Result.Polygon))
  {
    contour->AddVertex(index);
    PointType point;
    image->TransformContinuousIndexToPhysicalPoint(index, point);
    m_ContourPoints.push_back(point);
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::WriteLabels([[maybe_unused]] int device)
{
  OutputImageType * const output = this->GetOutput();
  if constexpr (IsOutputOnDevice)
  {
    output->SetDeviceIndex(device);
    this->AllocateOutputs();
  }
  const RegionType       region = output->GetBufferedRegion();
  const CudaSnakePolygon polygon = m_Result.SignificantBoundary ? m_Result.Polygon : CudaSnakePolygon{};
  if constexpr (IsOutputOnDevice)
  {
    try
    {
      CudaDetail::CudaQueueRegionSnakeLabels(polygon, m_InsideValue, m_OutsideValue, output->GetDeviceView(region));
    }
    catch (...)
    {
      output->Initialize(); // its pixels are undefined
      throw;
    }
  }
  else
  {
    MultiThreaderBase * const threader = this->GetMultiThreader();
    threader->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
    const CudaDetail::CudaSnakeRowSpans spans =
      CudaDetail::ComputeCudaSnakeRowSpans(polygon, static_cast<int32_t>(region.GetSize(1)));
    const CudaDetail::CudaSnakeLabels<OutputPixelType> labels{
      spans, region.GetSize(0), m_InsideValue, m_OutsideValue
    };
    labels.Write(output->GetBufferPointer(), *threader);
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "InitialRegion: " << m_InitialRegion << std::endl;
  os << indent << "Start: " << m_Parameters.Start << std::endl;
  os << indent << "InsideValue: " << +m_InsideValue << std::endl;
  os << indent << "OutsideValue: " << +m_OutsideValue << std::endl;
  os << indent << "Criterion: " << m_Result.Criterion << std::endl;
  os << indent << "DescriptionLength: " << m_Result.DescriptionLength << std::endl;
  os << indent << "SignificantBoundary: " << (m_Result.SignificantBoundary ? "Yes" : "No") << std::endl;
  os << indent << "NumberOfIterations: " << m_Result.NumberOfIterations << std::endl;
  os << indent << "Stop: " << m_Result.Stop << std::endl;
  os << indent << "Number of contour points: " << m_ContourPoints.size() << std::endl;
}
} // end namespace itk

#endif
