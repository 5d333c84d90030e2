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
/** Lines that lie beside each other: the first begins at component `Offset` of the view. */
struct LineBundle
{
  size_t Offset;
  size_t LineStride; // from pixel to pixel of a line
  size_t LaneStride; // from line to line
  size_t Lanes;
  size_t Length;

  /** Calls f(lane, n, position in the view), in the order of memory. */
  template <typename TFunction>
  void
  ForEachPixel(const TFunction & f) const
  {
    const bool   linesOuter = LineStride <= LaneStride;
    const size_t outerCount = linesOuter ? Lanes : Length;
    const size_t innerCount = linesOuter ? Length : Lanes;
    for (size_t outer = 0; outer < outerCount; ++outer)
    {
      for (size_t inner = 0; inner < innerCount; ++inner)
      {
        const size_t lane = linesOuter ? outer : inner;
        const size_t n = linesOuter ? inner : outer;
        f(lane, n, Offset + lane * LaneStride + n * LineStride);
      }
    }
  }
};

/** Bundles of neighbouring lines along one axis of a view: components first, then the axes. */
class LineBundles
{
public:
  LineBundles(const CudaImageView & view, unsigned int axis, size_t maximumLanes)
    : m_Axis(axis)
    , m_LaneAxis(axis == 0 ? 1 : 0)
    , m_MaximumLanes(maximumLanes)
    , m_Components(view.NumberOfComponents)
    , m_Size(view.Size)
    , m_BundlesPerRow((view.Size[m_LaneAxis] + maximumLanes - 1) / maximumLanes)
  {}

  size_t
  GetCount() const
  {
    size_t count = m_BundlesPerRow * m_Components;
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      count *= d == m_Axis || d == m_LaneAxis ? 1 : m_Size[d];
    }
    return count;
  }

  LineBundle
  Get(const CudaImageView & view, size_t index) const
  {
    const size_t firstLane = index % m_BundlesPerRow * m_MaximumLanes;
    index /= m_BundlesPerRow;
    LineBundle bundle{};
    bundle.Offset = index % m_Components + firstLane * view.Stride[m_LaneAxis];
    index /= m_Components;
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      if (d != m_Axis && d != m_LaneAxis)
      {
        bundle.Offset += index % m_Size[d] * view.Stride[d];
        index /= m_Size[d];
      }
    }
    bundle.LineStride = view.Stride[m_Axis];
    bundle.LaneStride = view.Stride[m_LaneAxis];
    bundle.Lanes = std::min(m_MaximumLanes, m_Size[m_LaneAxis] - firstLane);
    bundle.Length = m_Size[m_Axis];
    return bundle;
  }

private:
  unsigned int                                        m_Axis;
  unsigned int                                        m_LaneAxis;
  size_t                                              m_MaximumLanes;
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
