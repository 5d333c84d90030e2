// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostLines_h
#define itkCudaHostLines_h

#include "itkCudaComponents.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailNames.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

// Lines of images in host memory, for the rooms that filter them there.

namespace itk::cuda
{
/** Neighbouring lines. The first begins at component `Offset` of the view. */
struct LineBundle
{
  size_t Offset;
  size_t LineStride;         // from pixel to pixel of a line
  size_t StrideBetweenLines; // from line to line
  size_t NumberOfLines;
  size_t Length;

  /** Calls f(line, n, position in the view), in the order of memory. */
  template <typename TFunction>
  void
  ForEachPixel(const TFunction & f) const
  {
    const bool   linesOuter = LineStride <= StrideBetweenLines;
    const size_t outerCount = linesOuter ? NumberOfLines : Length;
    const size_t innerCount = linesOuter ? Length : NumberOfLines;
    for (size_t outer = 0; outer < outerCount; ++outer)
    {
      for (size_t inner = 0; inner < innerCount; ++inner)
      {
        const size_t line = linesOuter ? outer : inner;
        const size_t n = linesOuter ? inner : outer;
        f(line, n, Offset + line * StrideBetweenLines + n * LineStride);
      }
    }
  }
};

/** Bundles of neighbouring lines along one axis of a view: components first, then the axes. */
class LineBundles
{
public:
  LineBundles(const CudaImageView & view, unsigned int axis, size_t maximumLines)
    : m_Axis(axis)
    , m_BundleAxis(axis == 0 ? 1 : 0)
    , m_MaximumLines(maximumLines)
    , m_Components(view.NumberOfComponents)
    , m_Size(view.Size)
    , m_BundlesPerRow((view.Size[m_BundleAxis] + maximumLines - 1) / maximumLines)
  {}

  size_t
  GetCount() const
  {
    size_t count = m_BundlesPerRow * m_Components;
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      count *= d == m_Axis || d == m_BundleAxis ? 1 : m_Size[d];
    }
    return count;
  }

  LineBundle
  Get(const CudaImageView & view, size_t index) const
  {
    const size_t firstLine = index % m_BundlesPerRow * m_MaximumLines;
    index /= m_BundlesPerRow;
    LineBundle bundle{};
    bundle.Offset = index % m_Components + firstLine * view.Stride[m_BundleAxis];
    index /= m_Components;
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      if (d != m_Axis && d != m_BundleAxis)
      {
        bundle.Offset += index % m_Size[d] * view.Stride[d];
        index /= m_Size[d];
      }
    }
    bundle.LineStride = view.Stride[m_Axis];
    bundle.StrideBetweenLines = view.Stride[m_BundleAxis];
    bundle.NumberOfLines = std::min(m_MaximumLines, m_Size[m_BundleAxis] - firstLine);
    bundle.Length = m_Size[m_Axis];
    return bundle;
  }

private:
  unsigned int                                        m_Axis;
  unsigned int                                        m_BundleAxis;
  size_t                                              m_MaximumLines;
  size_t                                              m_Components;
  std::array<size_t, CudaImageView::MaximumDimension> m_Size;
  size_t                                              m_BundlesPerRow;
};

/** Dense pixels of a type that passes compute in. */
template <typename T>
struct WorkImage
{
  std::unique_ptr<T[]> Pixels;
  CudaImageView        View;

  /** Of the size and number of components of `shape`. */
  void
  Allocate(const CudaImageView & shape, CudaComponentType type)
  {
    View = shape;
    View.ComponentType = type;
    size_t stride = shape.NumberOfComponents;
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      View.Stride[d] = stride;
      stride *= shape.Size[d];
    }
    Pixels.reset(new T[stride]); // every pixel is written before it is read
    View.Data = Pixels.get();
  }
};
} // namespace itk::cuda

#endif
