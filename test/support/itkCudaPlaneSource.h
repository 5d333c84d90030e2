// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPlaneSource_h
#define itkCudaPlaneSource_h

#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageSource.h"
#include "itkMacro.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::test
{
/** Produces an image region by region and counts how often it produces each plane along the last axis with more than
 * one pixel. The value of a pixel depends only on its index. */
template <typename TImage>
class PlaneSource : public ImageSource<TImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(PlaneSource);

  using Self = PlaneSource;
  using Superclass = ImageSource<TImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  using RegionType = typename TImage::RegionType;

  itkNewMacro(Self);
  itkTypeMacro(PlaneSource, ImageSource);

  void
  SetRegion(const RegionType & region)
  {
    m_Region = region;
    m_Counts.assign(region.GetSize(this->GetAxis()), 0);
    this->Modified();
  }

  /** Returns how often each plane was produced. */
  const std::vector<unsigned int> &
  GetCounts() const
  {
    return m_Counts;
  }

  void
  ResetCounts()
  {
    m_Counts.assign(m_Counts.size(), 0);
  }

  /** Sets the plane whose production throws, or -1 for no plane. */
  void
  SetBadPlane(IndexValueType plane)
  {
    m_BadPlane = plane;
  }

  /** Sets whether the source produces the whole image regardless of the requested region. */
  void
  SetWhole(bool whole)
  {
    m_Whole = whole;
  }

  void
  SetOffset(double offset)
  {
    m_Offset = offset;
    this->Modified();
  }

protected:
  PlaneSource() = default;

  void
  GenerateOutputInformation() override
  {
    Superclass::GenerateOutputInformation();
    this->GetOutput()->SetLargestPossibleRegion(m_Region);
  }

  void
  EnlargeOutputRequestedRegion(DataObject * output) override
  {
    if (m_Whole)
    {
      output->SetRequestedRegionToLargestPossibleRegion();
    }
  }

  void
  GenerateData() override
  {
    TImage * const output = this->GetOutput();
    const auto     region = output->GetRequestedRegion();
    const unsigned axis = this->GetAxis();
    const auto     first = region.GetIndex(axis) - m_Region.GetIndex(axis);
    for (SizeValueType n = 0; n < region.GetSize(axis); ++n)
    {
      ++m_Counts[first + n];
      if (first + static_cast<IndexValueType>(n) == m_BadPlane)
      {
        itkExceptionMacro("plane " << m_BadPlane << " cannot be read");
      }
    }
    output->SetBufferedRegion(region);
    output->Allocate();
    for (ImageRegionIteratorWithIndex<TImage> it(output, region); !it.IsAtEnd(); ++it)
    {
      uint64_t place = 0;
      for (unsigned int d = TImage::ImageDimension; d-- > 0;)
      {
        place = place * 5000 + static_cast<uint64_t>(it.GetIndex()[d] - m_Region.GetIndex(d));
      }
      uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15u; // splitmix64
      bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
      bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
      it.Set(static_cast<typename TImage::PixelType>(static_cast<double>(bits >> 54) + m_Offset));
    }
  }

private:
  unsigned int
  GetAxis() const
  {
    unsigned int axis = 0;
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      axis = m_Region.GetSize(d) > 1 ? d : axis;
    }
    return axis;
  }

  RegionType                m_Region;
  std::vector<unsigned int> m_Counts;
  IndexValueType            m_BadPlane{ -1 };
  bool                      m_Whole{ false };
  double                    m_Offset{ 0.0 };
};
} // namespace itk::cuda::test

#endif
