// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_HostLines_h
#define CudaFilters_runtime_image_HostLines_h

#include "itkCudaDetailImageView.h"
#include "itkMultiThreaderBase.h"
#include "runtime/DetailNames.h"
#include "runtime/image/Components.h"
#include "runtime/image/Views.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

// Enumerates the lines and pixels of images in host memory, for the filters that run on the host.

namespace itk::cuda
{
/** The pixels of a row along x. Index x is the position of pixel x in the view, in components. */
struct PixelRow
{
  size_t First;
  size_t Stride;

  size_t
  operator[](size_t x) const
  {
    return First + x * Stride;
  }
};

/** Returns the row with this number. Rows are numbered along y first, then along z, and so on. */
inline PixelRow
GetRow(const CudaImageView & view, size_t row)
{
  PixelRow pixels{ 0, view.Stride[0] };
  for (unsigned int axis = 1; axis < CudaImageView::MaximumDimension; ++axis)
  {
    pixels.First += row % view.Size[axis] * view.Stride[axis];
    row /= view.Size[axis];
  }
  return pixels;
}

/** Calls f(i) for all i below `count` on the threads, and report(fraction done) after each of `pieces` pieces. */
template <typename TFunction, typename TReport>
void
ForEachInPieces(MultiThreaderBase * threader, size_t count, size_t pieces, const TFunction & f, const TReport & report)
{
  for (size_t piece = 0; piece < pieces; ++piece)
  {
    threader->ParallelizeArray(piece * count / pieces, (piece + 1) * count / pieces, f, nullptr);
    report(static_cast<float>(piece + 1) / static_cast<float>(pieces));
  }
}

/** Calls f(position, ...) with the positions of each pixel in all the views, which have the size of the first one. The
 * threads share the rows. */
template <typename TFunction, typename... TViews>
void
ForEachPixel(MultiThreaderBase * threader, const TFunction & f, const CudaImageView & view, const TViews &... others)
{
  const auto visit = [&f, width = view.Size[0]](auto... rows) {
    for (size_t x = 0; x < width; ++x)
    {
      f(rows[x]...);
    }
  };
  threader->ParallelizeArray(
    0, GetNumberOfRows(view), [&](SizeValueType row) { visit(GetRow(view, row), GetRow(others, row)...); }, nullptr);
}

/** Stores the value of a component, unless the view has no memory because the image is not requested. */
template <typename T>
inline void
StoreComponent(const CudaImageView & view, size_t position, T value)
{
  if (view.Data)
  {
    VisitComponentType(view.ComponentType, [&](auto zero) {
      using PixelType = decltype(zero);
      static_cast<PixelType *>(view.Data)[position] = ConvertComponent<PixelType>(value);
    });
  }
}

/** A bundle of neighbouring lines. The first line begins at component `Offset` of the view. */
struct LineBundle
{
  size_t Offset;
  size_t LineStride;         // between the pixels of a line
  size_t StrideBetweenLines; // between neighbouring lines
  size_t NumberOfLines;
  size_t Length;

  /** Returns the position of pixel n of a line in the view. */
  size_t
  GetPosition(size_t line, size_t n) const
  {
    return Offset + line * StrideBetweenLines + n * LineStride;
  }

  /** Calls f(line, n, position in the view) for pixel n of each line, all lines of a pixel one after the other.
   * VMaximumLines is the number of lines in a whole bundle, or 0 if it is not known when compiling. */
  template <size_t VMaximumLines = 0, typename TFunction>
  void
  ForEachPixel(const TFunction & f) const
  {
    // The compiler vectorises the loop over the lines if it knows their number and that they are adjacent.
    const auto visit = [&](auto numberOfLines, auto strideBetweenLines) {
      for (size_t n = 0; n < Length; ++n)
      {
        const size_t begin = Offset + n * LineStride;
        for (size_t line = 0; line < numberOfLines; ++line)
        {
          f(line, n, begin + line * strideBetweenLines);
        }
      }
    };
    const std::integral_constant<size_t, VMaximumLines> whole;
    if (VMaximumLines == 0 || NumberOfLines < VMaximumLines)
    {
      visit(NumberOfLines, StrideBetweenLines);
    }
    else if (StrideBetweenLines == 1)
    {
      visit(whole, std::integral_constant<size_t, 1>());
    }
    else
    {
      visit(whole, StrideBetweenLines);
    }
  }
};

/** Enumerates the bundles of neighbouring lines along one axis of a view. The index counts the bundles within a row
 * fastest, then the components, then the other axes. */
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

/** A dense image of the type that passes compute in. */
template <typename T>
struct ScratchImage
{
  std::unique_ptr<T[]> Pixels;
  CudaImageView        View;

  /** Allocates pixels with the size and number of components of `shape`. */
  void
  Allocate(const CudaImageView & shape, CudaComponentType type)
  {
    Pixels.reset(new T[shape.GetNumberOfPixels() * shape.NumberOfComponents]); // written before they are read
    View = ViewAdjacent(shape, Pixels.get());
    View.ComponentType = type;
  }
};
} // namespace itk::cuda

#endif
