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
  CudaDetail::VerifyCudaRegionSnakeParameters(m_Parameters);
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
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  CudaDetail::CudaRequestWholeInputs(*this);
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::EnlargeOutputRequestedRegion(DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  // A request for the contour does not say which part of the label image is wanted, and one run computes both. So
  // always compute the whole label image.
  this->GetOutput()->SetRequestedRegionToLargestPossibleRegion();
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
    const auto * vertices = path->GetVertexList();
    for (unsigned int i = 0; i < vertices->Size(); ++i)
    {
      const auto &          vertex = vertices->ElementAt(i);
      std::array<double, 2> corner;
      for (unsigned int d = 0; d < 2; ++d)
      {
        // The corner X has the continuous index X - 1/2. Round to the nearest corner.
        corner[d] = std::floor(vertex[d] - static_cast<double>(region.GetIndex(d)) + 1.0);
        if (!(corner[d] >= 0.0 && corner[d] <= static_cast<double>(region.GetSize(d))))
        {
          itkExceptionMacro("Vertex " << i << " of InitialPath is " << vertex
                                      << " in continuous index; it must lie in the image, with index "
                                      << region.GetIndex() << " and size " << region.GetSize());
        }
      }
      polygon.push_back({ static_cast<int32_t>(corner[0]), static_cast<int32_t>(corner[1]) });
    }
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
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::UpdateOutputData(DataObject * output)
{
  const PathType * contour = this->GetContour();
  const bool       upToDate = contour->GetUpdateMTime() >= contour->GetPipelineMTime() && !contour->GetDataReleased();
  if (!m_MakeLabelImage && upToDate)
  {
    return;
  }
  CudaDetail::CudaUpdateInScope(*this, m_CudaBackend, [&] { Superclass::UpdateOutputData(output); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  const InputImageType * image = this->GetInput();
  const RegionType       region = image->GetLargestPossibleRegion();
  this->PrepareLabels();
  m_Result = CudaRegionSnakeResult();
  m_ContourPoints.clear();

  CudaDetail::CudaRegionSnakeInput input;
  if constexpr (!IsInputOnDevice)
  {
    CudaDetail::CudaVerifyInputPixels(*this, region);
    input.Image = CudaDetail::MakeCudaImageShape<InputImageType>(region, image->GetNumberOfComponentsPerPixel());
  }
  input.FirstIndex = { { region.GetIndex(0), region.GetIndex(1) } };
  const auto validMask = CudaDetail::MakeCudaOptionalView(this->GetValidMask(), "ValidMask");
  const auto startMask = CudaDetail::MakeCudaOptionalView(this->GetInitialMask(), "InitialMask");
  input.ValidMask = validMask ? &*validMask : nullptr;
  input.StartMask = startMask ? &*startMask : nullptr;
  const CudaSnakePolygon startPolygon = this->GetStartPolygon();
  if (this->GetInitialPath() != nullptr || this->HasInitialRegion())
  {
    input.StartPolygon = &startPolygon;
  }

  const int device = this->Segment(input);
  if (m_Result.Stop == CudaRegionSnakeStop::Aborted)
  {
    CudaDetail::CudaThrowAborted(*this);
  }
  this->WriteContour();
  if (m_MakeLabelImage)
  {
    this->WriteLabels(device);
  }
  this->UpdateProgress(1.0f);
}

/** Allocates the label image on the host. On a device, the labels' memory is allocated after the run, when the run has
 * released its own memory. */
template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::PrepareLabels()
{
  if constexpr (!IsOutputOnDevice)
  {
    if (m_MakeLabelImage)
    {
      CudaDetail::CudaUsePooledPixelContainer(this->GetOutput(), this->GetOutput()->GetRequestedRegion());
      this->AllocateOutputs();
      return;
    }
  }
  this->GetOutput()->Initialize();
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaRegionSnakeInput
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::AddPixels(CudaDetail::CudaRegionSnakeInput input) const
{
  if constexpr (!IsInputOnDevice)
  {
    const InputImageType * const image = this->GetInput();
    input.Image = CudaDetail::MakeCudaImageView(image, image->GetLargestPossibleRegion());
  }
  return input;
}

template <typename TInputImage, typename TOutputImage>
int
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::Segment(const CudaDetail::CudaRegionSnakeInput & input)
{
  const CudaDetail::CudaRegionSnakeObserver observer = this->MakeObserver();
  if constexpr (IsInputOnDevice)
  {
    const InputImageType *    image = this->GetInput();
    const CudaDeviceImageView view = image->GetDeviceView(image->GetLargestPossibleRegion(), "The input");
    CudaDetail::CudaSelectDeviceOfImage(m_CudaBackend, image->GetDeviceIndex());
    m_Result = CudaDetail::CudaRegionSnakeOfDeviceImage(view, input, m_Parameters, observer);
    return image->GetDeviceIndex();
  }
  else
  {
    const RegionType region = this->GetInput()->GetLargestPossibleRegion();
    const auto       device = [&](int deviceIndex) {
      const CudaDeviceImageView kept = CudaDetail::CudaGetKeptInput(*this, region, deviceIndex);
      m_CudaBackend.TookInputOnDevice = kept.Memory != nullptr;
      m_Result = kept.Memory
                         ? CudaDetail::CudaRegionSnakeOfDeviceImage(kept, input, m_Parameters, observer)
                         : CudaDetail::CudaRegionSnakeOnDevice(
                       this->AddPixels(input), m_Parameters, deviceIndex, this->GetNumberOfWorkUnits(), observer);
    };
    if constexpr (IsOutputOnDevice)
    {
      const int deviceIndex = CudaDetail::CudaSelectDeviceOfOutput(m_CudaBackend);
      device(deviceIndex);
      return deviceIndex;
    }
    else
    {
      const auto host = [&] {
        m_CudaBackend.TookInputOnDevice = false;
        CudaDetail::CudaDownloadKeptInput(*this);
        m_Result = CudaDetail::CudaRegionSnakeOnHost(
          this->AddPixels(input), m_Parameters, this->GetNumberOfWorkUnits(), observer);
      };
      m_CudaBackend.Run(CudaDetail::CudaRegionSnakeUnsupportedReason(input, m_Parameters),
                        CudaDetail::CudaRegionSnakeWorkingSet(input, m_Parameters),
                        CudaDetail::MakeCudaProgressFunction(this),
                        device,
                        host);
      return m_CudaBackend.GetSelectedDeviceIndex();
    }
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeImageFilter<TInputImage, TOutputImage>::WriteContour()
{
  const InputImageType * image = this->GetInput();
  const RegionType       region = image->GetLargestPossibleRegion();
  CudaSnakePolygon       polygon = m_Result.Polygon;
  const auto &           direction = image->GetDirection();
  const double           determinant = direction[0][0] * direction[1][1] - direction[0][1] * direction[1][0];
  if (determinant * image->GetSpacing()[0] * image->GetSpacing()[1] < 0.0)
  {
    // Physical space mirrors index space, so reverse the vertices to keep the physical area positive.
    std::reverse(polygon.begin() + 1, polygon.end());
  }
  PathType * contour = this->GetContour();
  contour->Initialize();
  for (const CudaSnakePoint & corner : polygon)
  {
    typename PathType::ContinuousIndexType index;
    index[0] = static_cast<double>(region.GetIndex(0)) + corner.X - 0.5;
    index[1] = static_cast<double>(region.GetIndex(1)) + corner.Y - 0.5;
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
  m_CudaBackend.Print(os, indent);
  os << indent << "InitialRegion: " << m_InitialRegion << std::endl;
  os << indent << "Start: " << m_Parameters.Start << std::endl;
  CudaDetail::CudaPrintNoise(m_Parameters, os, indent);
  os << indent << "Schedule: " << m_Parameters.Schedule << std::endl;
  os << indent << "MaximumStep: " << m_Parameters.MaximumStep << std::endl;
  os << indent << "MinimumEdgeLength: " << m_Parameters.MinimumEdgeLength << std::endl;
  os << indent << "MinimumGain: " << m_Parameters.MinimumGain << std::endl;
  os << indent << "UseDescriptionLength: " << (m_Parameters.UseDescriptionLength ? "On" : "Off") << std::endl;
  os << indent << "MaximumNumberOfNodes: " << m_Parameters.MaximumNumberOfNodes << std::endl;
  os << indent << "MaximumNumberOfIterations: " << m_Parameters.MaximumNumberOfIterations << std::endl;
  os << indent << "MinimumRegionSize: " << m_Parameters.MinimumRegionSize << std::endl;
  os << indent << "InsideValue: " << +m_InsideValue << std::endl;
  os << indent << "OutsideValue: " << +m_OutsideValue << std::endl;
  os << indent << "MakeLabelImage: " << (m_MakeLabelImage ? "On" : "Off") << std::endl;
  os << indent << "Criterion: " << m_Result.Criterion << std::endl;
  os << indent << "DescriptionLength: " << m_Result.DescriptionLength << std::endl;
  os << indent << "SignificantBoundary: " << (m_Result.SignificantBoundary ? "Yes" : "No") << std::endl;
  os << indent << "NumberOfIterations: " << m_Result.NumberOfIterations << std::endl;
  os << indent << "Stop: " << m_Result.Stop << std::endl;
  os << indent << "Number of contour points: " << m_ContourPoints.size() << std::endl;
}
} // end namespace itk

#endif
