// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeFilterBase_hxx
#define itkCudaRegionSnakeFilterBase_hxx

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailKeepOnDevice.h"
#include "itkCudaDetailPixelContainer.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  CudaDetail::VerifyCudaRegionSnakeParameters(m_Parameters);
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  CudaDetail::CudaRequestWholeInputs(*this);
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::EnlargeOutputRequestedRegion(DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  // A request for another output does not say which part of the label image is wanted, and one run computes both.
  this->GetOutput()->SetRequestedRegionToLargestPossibleRegion();
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::UpdateOutputData(DataObject * output)
{
  const OutputImageType * labels = this->GetOutput();
  const bool upToDate = labels->GetUpdateMTime() >= labels->GetPipelineMTime() && !labels->GetDataReleased();
  if (!m_MakeLabelImage && upToDate)
  {
    return;
  }
  CudaDetail::CudaUpdateInScope(*this, m_CudaBackend, [&] { Superclass::UpdateOutputData(output); });
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaRegionSnakeInput
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::MakeInput() const
{
  const InputImageType *           image = this->GetInput();
  const RegionType                 region = image->GetLargestPossibleRegion();
  CudaDetail::CudaRegionSnakeInput input;
  if constexpr (!IsInputOnDevice)
  {
    CudaDetail::CudaVerifyInputPixels(*this, region);
    input.Image = CudaDetail::MakeCudaImageShape<InputImageType>(region, image->GetNumberOfComponentsPerPixel());
  }
  input.FirstIndex = { { region.GetIndex(0), region.GetIndex(1) } };
  return input;
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::PrepareLabels()
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
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::AddPixels(CudaDetail::CudaRegionSnakeInput input) const
{
  if constexpr (!IsInputOnDevice)
  {
    const InputImageType * const image = this->GetInput();
    input.Image = CudaDetail::MakeCudaImageView(image, image->GetLargestPossibleRegion());
  }
  return input;
}

template <typename TInputImage, typename TOutputImage>
template <typename TOfDeviceImage, typename TOnDevice, typename TOnHost>
int
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::RunOnBackend(const CudaDetail::CudaRegionSnakeInput & input,
                                                                   [[maybe_unused]] size_t                  bytes,
                                                                   const TOfDeviceImage &             ofDeviceImage,
                                                                   [[maybe_unused]] const TOnDevice & onDevice,
                                                                   [[maybe_unused]] const TOnHost &   onHost)
{
  const InputImageType * image = this->GetInput();
  const RegionType       region = image->GetLargestPossibleRegion();
  if constexpr (IsInputOnDevice)
  {
    const CudaDeviceImageView view = image->GetDeviceView(region, "The input");
    CudaDetail::CudaSelectDeviceOfImage(m_CudaBackend, image->GetDeviceIndex());
    ofDeviceImage(view);
    return image->GetDeviceIndex();
  }
  else
  {
    const auto device = [&](int deviceIndex) {
      const CudaDeviceImageView kept = CudaDetail::CudaGetKeptInput(*this, region, deviceIndex);
      m_CudaBackend.TookInputOnDevice = kept.Memory != nullptr;
      if (kept.Memory)
      {
        ofDeviceImage(kept);
      }
      else
      {
        CudaDetail::CudaRegionSnakeInput pixels = this->AddPixels(input);
        pixels.DevicesOfBands = m_CudaBackend.RunsInSlabs() ? &m_CudaBackend.GetSelectedDevices() : nullptr;
        onDevice(pixels, deviceIndex);
      }
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
        onHost(this->AddPixels(input));
      };
      m_CudaBackend.Run(CudaDetail::CudaRegionSnakeUnsupportedReason(input, m_Parameters),
                        bytes,
                        CudaDetail::MakeCudaProgressFunction(this),
                        device,
                        host,
                        true);
      return m_CudaBackend.GetSelectedDeviceIndex();
    }
  }
}

template <typename TInputImage, typename TOutputImage>
CudaSnakePolygon
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::RoundToCorners(const std::vector<IndexPointType> & vertices,
                                                                     const std::string &                 name) const
{
  const RegionType region = this->GetInput()->GetLargestPossibleRegion();
  CudaSnakePolygon polygon;
  for (size_t i = 0; i < vertices.size(); ++i)
  {
    std::array<double, 2> corner;
    for (unsigned int d = 0; d < 2; ++d)
    {
      // The corner X has the continuous index X - 1/2.
      corner[d] = std::floor(vertices[i][d] - static_cast<double>(region.GetIndex(d)) + 1.0);
      if (!(corner[d] >= 0.0 && corner[d] <= static_cast<double>(region.GetSize(d))))
      {
        itkExceptionMacro("Vertex " << i << " of " << name << " is " << vertices[i]
                                    << " in continuous index; it must lie in the image, with index "
                                    << region.GetIndex() << " and size " << region.GetSize());
      }
    }
    polygon.push_back({ static_cast<int32_t>(corner[0]), static_cast<int32_t>(corner[1]) });
  }
  return polygon;
}

template <typename TInputImage, typename TOutputImage>
auto
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::GetContourIndices(CudaSnakePolygon polygon) const
  -> std::vector<IndexPointType>
{
  const InputImageType * image = this->GetInput();
  const RegionType       region = image->GetLargestPossibleRegion();
  const auto &           direction = image->GetDirection();
  const double           determinant = direction[0][0] * direction[1][1] - direction[0][1] * direction[1][0];
  if (!polygon.empty() && determinant * image->GetSpacing()[0] * image->GetSpacing()[1] < 0.0)
  {
    // Physical space mirrors index space.
    std::reverse(polygon.begin() + 1, polygon.end());
  }
  std::vector<IndexPointType> indices;
  for (const CudaSnakePoint & corner : polygon)
  {
    indices.emplace_back();
    indices.back()[0] = static_cast<double>(region.GetIndex(0)) + corner.X - 0.5;
    indices.back()[1] = static_cast<double>(region.GetIndex(1)) + corner.Y - 0.5;
  }
  return indices;
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionSnakeFilterBase<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
  CudaDetail::CudaPrintNoise(m_Parameters, os, indent);
  os << indent << "Schedule: " << m_Parameters.Schedule << std::endl;
  os << indent << "MaximumStep: " << m_Parameters.MaximumStep << std::endl;
  os << indent << "MinimumEdgeLength: " << m_Parameters.MinimumEdgeLength << std::endl;
  os << indent << "MinimumGain: " << m_Parameters.MinimumGain << std::endl;
  os << indent << "UseDescriptionLength: " << (m_Parameters.UseDescriptionLength ? "On" : "Off") << std::endl;
  os << indent << "MaximumNumberOfNodes: " << m_Parameters.MaximumNumberOfNodes << std::endl;
  os << indent << "MaximumNumberOfIterations: " << m_Parameters.MaximumNumberOfIterations << std::endl;
  os << indent << "MinimumRegionSize: " << m_Parameters.MinimumRegionSize << std::endl;
  os << indent << "MakeLabelImage: " << (m_MakeLabelImage ? "On" : "Off") << std::endl;
}
} // end namespace itk

#endif
