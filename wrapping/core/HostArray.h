// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_HostArray_h
#define CudaFilters_wrapping_HostArray_h

// Arrays in host memory, of any number of axes, and loops over their pixels.

#include "itkCudaDetailImageView.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

namespace cudafilters
{
/** Returns memory of the module's pool for the pixels of an array, or ordinary memory for few of them. */
void *
AllocateArray(size_t bytes);

/** Takes back what AllocateArray() returned. */
void
ReleaseArray(void * memory);

/** An array in host memory. Strides are in elements. It does not own its memory. */
struct HostArray
{
  void *                 Data{ nullptr };
  itk::CudaComponentType Type{ itk::CudaComponentType::Float };
  std::vector<size_t>    Shape;
  std::vector<size_t>    Strides;
};

/** Returns the strides of adjacent elements, the last axis first. */
template <typename T>
std::vector<T>
GetAdjacentStrides(const std::vector<T> & shape)
{
  std::vector<T> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
  {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  return strides;
}

/** Returns a view of an array of at most four axes, with its last axis as the first one. */
itk::CudaDetail::CudaImageView
MakeView(const HostArray & array);

/** Returns whether transfers take the view: they copy rows of adjacent pixels that follow each other in memory. */
bool
CanTransfer(const itk::CudaDetail::CudaImageView & view);

/** Returns the address of the element that is that many elements behind the first one. */
char *
GetElement(const HostArray & array, size_t offset);

/** Calls f with a zero of the component type. */
template <typename TFunction>
void
VisitType(itk::CudaComponentType type, const TFunction & f)
{
  switch (type)
  {
    case itk::CudaComponentType::UChar:
      return f(static_cast<unsigned char>(0));
    case itk::CudaComponentType::Char:
      return f(static_cast<signed char>(0));
    case itk::CudaComponentType::UShort:
      return f(static_cast<unsigned short>(0));
    case itk::CudaComponentType::Short:
      return f(static_cast<short>(0));
    case itk::CudaComponentType::UInt:
      return f(0u);
    case itk::CudaComponentType::Int:
      return f(0);
    case itk::CudaComponentType::Float:
      return f(0.0f);
    case itk::CudaComponentType::Double:
      return f(0.0);
  }
}

/** An axis that several arrays share, with the stride of each. */
struct SharedAxis
{
  size_t              Size;
  std::vector<size_t> Strides;
};

/** Returns the axes of arrays of one shape, the last one first, without those of one pixel. Neighbouring axes are
 * merged if they are adjacent in the memory of all arrays. The axes in `kept` stay separate; the vector receives their
 * indices. */
std::vector<SharedAxis>
MergeAxes(const std::vector<HostArray> & arrays, std::vector<size_t> & kept);

/** Part of a line in several arrays: its number of pixels, and for each array the first one and the stride. */
struct Row
{
  template <typename T>
  T *
  Get(size_t array) const
  {
    return reinterpret_cast<T *>(Pixels[array]);
  }

  size_t              Size;
  std::vector<char *> Pixels;
  std::vector<size_t> Strides;
};

/** Calls f(row) for rows that cover arrays of one shape, on ITK's threads. */
template <typename TFunction>
void
ForEachRow(const std::vector<HostArray> & arrays, itk::MultiThreaderBase * threader, const TFunction & f)
{
  constexpr size_t        longestRow = 4096;
  std::vector<size_t>     kept;
  std::vector<SharedAxis> axes = MergeAxes(arrays, kept);
  if (axes.empty())
  {
    axes.push_back({ 1, std::vector<size_t>(arrays.size(), 1) });
  }
  const SharedAxis & line = axes.front();
  const size_t       parts = (line.Size + longestRow - 1) / longestRow;
  size_t             count = parts;
  for (size_t i = 1; i < axes.size(); ++i)
  {
    count *= axes[i].Size;
  }
  const auto set = [&](Row & row, size_t index) {
    const size_t begin = index % parts * line.Size / parts;
    row.Size = (index % parts + 1) * line.Size / parts - begin;
    for (size_t a = 0; a < arrays.size(); ++a)
    {
      size_t offset = begin * line.Strides[a];
      size_t rest = index / parts;
      for (size_t i = 1; i < axes.size(); ++i)
      {
        offset += rest % axes[i].Size * axes[i].Strides[a];
        rest /= axes[i].Size;
      }
      row.Pixels[a] = GetElement(arrays[a], offset);
    }
  };
  const size_t pieces = std::min<size_t>(count, 8 * threader->GetNumberOfWorkUnits());
  threader->ParallelizeArray(
    0,
    pieces,
    [&](itk::SizeValueType piece) {
      Row row{ 0, std::vector<char *>(arrays.size()), line.Strides };
      for (size_t i = piece * count / pieces; i < (piece + 1) * count / pieces; ++i)
      {
        set(row, i);
        f(row);
      }
    },
    nullptr);
}

/** Pixels in adjacent memory of the module's pool, for intermediate results. */
class Scratch
{
public:
  Scratch(const std::vector<size_t> & shape, itk::CudaComponentType type)
    : m_Array{ nullptr, type, shape, GetAdjacentStrides(shape) }
  {
    const size_t count = std::accumulate(shape.begin(), shape.end(), size_t{ 1 }, std::multiplies<>());
    m_Array.Data = AllocateArray(count * itk::CudaComponentSize(type));
  }
  ~Scratch() { ReleaseArray(m_Array.Data); }

  Scratch(const Scratch &) = delete;
  Scratch &
  operator=(const Scratch &) = delete;

  const HostArray &
  Get() const
  {
    return m_Array;
  }

private:
  HostArray m_Array;
};

/** Copies the pixels of an array to another one of the same shape and type. */
void
CopyPixels(const HostArray & from, const HostArray & to, itk::MultiThreaderBase * threader);

/** A view of a host array, or of a copy of adjacent pixels if transfers do not take the array. */
class Transferable
{
public:
  Transferable(const HostArray & array, itk::MultiThreaderBase * threader)
    : m_View(MakeView(array))
  {
    if (!CanTransfer(m_View))
    {
      m_Copy.emplace(array.Shape, array.Type);
      CopyPixels(array, m_Copy->Get(), threader);
      m_View = MakeView(m_Copy->Get());
    }
  }

  const itk::CudaDetail::CudaImageView &
  Get() const
  {
    return m_View;
  }

private:
  itk::CudaDetail::CudaImageView m_View;
  std::optional<Scratch>         m_Copy;
};

/** Exchanges the pixels of two arrays of the same shape and type. */
void
SwapPixels(const HostArray & a, const HostArray & b, itk::MultiThreaderBase * threader);
} // namespace cudafilters

#endif
