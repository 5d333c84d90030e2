// SPDX-License-Identifier: Apache-2.0
#include "HostArray.h"

#include "itkCudaDetailHostMemoryPool.h"

#include <new>
#include <utility>

namespace cudafilters
{
void *
AllocateArray(size_t bytes)
{
  void * const memory = itk::CudaDetail::CudaHostMemoryPool::Allocate(bytes);
  return memory ? memory : ::operator new(bytes);
}

void
ReleaseArray(void * memory)
{
  if (!itk::CudaDetail::CudaHostMemoryPool::Release(memory))
  {
    ::operator delete(memory);
  }
}

itk::CudaDetail::CudaImageView
MakeView(const HostArray & array)
{
  itk::CudaDetail::CudaImageView view;
  view.Data = array.Data;
  view.ComponentType = array.Type;
  size_t adjacent = 1;
  for (size_t axis = 0; axis < view.Size.size(); ++axis)
  {
    const size_t place = array.Shape.size() - 1 - axis;
    view.Size[axis] = axis < array.Shape.size() ? array.Shape[place] : 1;
    // Along an axis of one pixel the array's stride may be anything.
    view.Stride[axis] = view.Size[axis] > 1 ? array.Strides[place] : adjacent;
    adjacent = view.Stride[axis] * view.Size[axis];
  }
  return view;
}

bool
CanTransfer(const itk::CudaDetail::CudaImageView & view)
{
  size_t extent = 1;
  for (unsigned int axis = 0; axis < itk::CudaDetail::CudaImageView::MaximumDimension; ++axis)
  {
    if (view.Size[axis] > 1)
    {
      if (view.Stride[axis] < extent || (axis == 0 && view.Stride[axis] != 1))
      {
        return false;
      }
      extent = view.Stride[axis] * view.Size[axis];
    }
  }
  return true;
}

char *
GetElement(const HostArray & array, size_t offset)
{
  return static_cast<char *>(array.Data) + offset * itk::CudaComponentSize(array.Type);
}

std::vector<SharedAxis>
MergeAxes(const std::vector<HostArray> & arrays, std::vector<size_t> & kept)
{
  std::vector<SharedAxis> axes;
  const auto              separate = kept;
  bool                    mayMerge = false;
  for (size_t axis = arrays.front().Shape.size(); axis-- > 0;)
  {
    SharedAxis next{ arrays.front().Shape[axis], {} };
    bool       isAdjacent = mayMerge;
    for (size_t i = 0; i < arrays.size(); ++i)
    {
      next.Strides.push_back(arrays[i].Strides[axis]);
      isAdjacent = isAdjacent && next.Strides[i] == axes.back().Strides[i] * axes.back().Size;
    }
    const auto found = std::find(separate.begin(), separate.end(), axis);
    if (found != separate.end())
    {
      kept[found - separate.begin()] = axes.size();
      axes.push_back(next);
      mayMerge = false;
    }
    else if (next.Size > 1 && isAdjacent)
    {
      axes.back().Size *= next.Size;
    }
    else if (next.Size > 1)
    {
      axes.push_back(next);
      mayMerge = true;
    }
  }
  return axes;
}

namespace
{
/** Calls f(a, b) for each pair of pixels of two arrays of the same shape and type. */
template <typename TFunction>
void
ForEachPair(const HostArray & a, const HostArray & b, itk::MultiThreaderBase * threader, const TFunction & f)
{
  VisitType(a.Type, [&](auto zero) {
    using T = decltype(zero);
    ForEachRow({ a, b }, threader, [&](const Row & row) {
      for (size_t x = 0; x < row.Size; ++x)
      {
        f(row.Get<T>(0)[x * row.Strides[0]], row.Get<T>(1)[x * row.Strides[1]]);
      }
    });
  });
}
} // namespace

void
CopyPixels(const HostArray & from, const HostArray & to, itk::MultiThreaderBase * threader)
{
  ForEachPair(from, to, threader, [](const auto & source, auto & result) { result = source; });
}

void
SwapPixels(const HostArray & a, const HostArray & b, itk::MultiThreaderBase * threader)
{
  ForEachPair(a, b, threader, [](auto & first, auto & second) { std::swap(first, second); });
}
} // namespace cudafilters
