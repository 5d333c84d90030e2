// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeLattice.h"
#include "itkMacro.h"

#include <algorithm>

namespace itk
{
using cuda::Next;

namespace
{
void
RequireRows(const CudaSnakePolygon & polygon, int32_t height)
{
  for (const CudaSnakePoint & corner : polygon)
  {
    if (corner.Y < 0 || corner.Y > height)
    {
      itkGenericExceptionMacro("The polygon has a vertex at pixel corner ("
                               << corner.X << ", " << corner.Y << "); corners of the image's rows have Y from 0 to "
                               << height);
    }
  }
}
} // namespace

CudaSnakeRowSpans
ComputeCudaSnakeRowSpans(const CudaSnakePolygon & polygon, int32_t height)
{
  RequireRows(polygon, height);
  const int         n = static_cast<int>(polygon.size());
  CudaSnakeRowSpans spans;
  spans.First.assign(static_cast<size_t>(height) + 1, 0);
  for (int i = 0; i < n; ++i)
  {
    const cuda::LatticeEdge edge = cuda::MakeEdge(polygon[i], polygon[Next(i, n)]);
    for (int32_t row = 0; row < edge.NumberOfRows; ++row)
    {
      ++spans.First[static_cast<size_t>(edge.Top.Y + row) + 1];
    }
  }
  for (size_t y = 0; y < static_cast<size_t>(height); ++y)
  {
    spans.First[y + 1] += spans.First[y];
  }
  spans.Columns.resize(spans.First.back());
  std::vector<size_t> next(spans.First.begin(), spans.First.end() - 1);
  for (int i = 0; i < n; ++i)
  {
    const cuda::LatticeEdge edge = cuda::MakeEdge(polygon[i], polygon[Next(i, n)]);
    if (edge.NumberOfRows == 0)
    {
      continue;
    }
    cuda::CrossingWalker walker(edge, 0, 1);
    for (int32_t row = 0; row < edge.NumberOfRows; ++row)
    {
      spans.Columns[next[edge.Top.Y + row]++] = walker.GetColumn();
      walker.Advance();
    }
  }
  for (size_t y = 0; y < static_cast<size_t>(height); ++y)
  {
    std::sort(spans.Columns.begin() + spans.First[y], spans.Columns.begin() + spans.First[y + 1]);
  }
  return spans;
}

bool
CudaSnakePolygonIsSimple(const CudaSnakePolygon & polygon)
{
  const int n = static_cast<int>(polygon.size());
  if (n < 3)
  {
    return false;
  }
  for (int i = 0; i < n; ++i)
  {
    const CudaSnakePoint & a = polygon[i];
    const CudaSnakePoint & b = polygon[Next(i, n)];
    if (cuda::FoldsBack(b, a, polygon[Next(Next(i, n), n)]))
    {
      return false;
    }
    for (int j = i + 2; j < n; ++j)
    {
      const bool adjacent = Next(j, n) == i;
      if (!adjacent && cuda::SegmentsMeet(a, b, polygon[j], polygon[Next(j, n)]))
      {
        return false;
      }
    }
  }
  return true;
}
} // end namespace itk
