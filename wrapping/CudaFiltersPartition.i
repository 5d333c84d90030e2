// SPDX-License-Identifier: Apache-2.0
// Converts a partition to bytes and back, for itk_cudafilters/_partition.py, which pickles partitions this way.
%{
#include "itkCudaRegionPartition.h"

#include <cstring>
#include <type_traits>

namespace cudafilters
{
/** Appends the bytes of a number or of a structure of numbers. */
template <typename T>
void
Append(std::string & bytes, const T & value)
{
  static_assert(std::is_trivially_copyable<T>::value, "only plain bytes can be copied");
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

template <typename T>
void
Append(std::string & bytes, const std::vector<T> & values)
{
  Append(bytes, static_cast<uint64_t>(values.size()));
  for (const T & value : values)
  {
    Append(bytes, value);
  }
}

/** Reads back what Append() wrote. Throws ExceptionObject if the bytes end too early. */
class StateReader
{
public:
  StateReader(const char * bytes, size_t size)
    : m_Next(bytes)
    , m_Left(size)
  {}

  template <typename T>
  void
  Read(T & value)
  {
    static_assert(std::is_trivially_copyable<T>::value, "only plain bytes can be copied");
    this->Require(sizeof(T));
    std::memcpy(&value, m_Next, sizeof(T));
    m_Next += sizeof(T);
    m_Left -= sizeof(T);
  }

  template <typename T>
  void
  Read(std::vector<T> & values)
  {
    values.resize(this->ReadCount(sizeof(T)));
    for (T & value : values)
    {
      this->Read(value);
    }
  }

  /** Returns the number of elements that follow. Throws unless as many elements of at least `bytes` bytes are left. */
  size_t
  ReadCount(size_t bytes)
  {
    uint64_t count = 0;
    this->Read(count);
    this->Require(count <= m_Left / bytes ? count * bytes : m_Left + 1);
    return static_cast<size_t>(count);
  }

private:
  void
  Require(size_t bytes) const
  {
    if (bytes > m_Left)
    {
      itkGenericExceptionMacro("The state of a partition ends too early: it needs " << bytes << " more bytes and has " << m_Left);
    }
  }

  const char * m_Next;
  size_t       m_Left;
};

/** Calls visit() with each member of a region except its neighbours. */
template <typename TRegion, typename TVisit>
void
VisitNumbersOfRegion(TRegion & region, const TVisit & visit)
{
  visit(region.NumberOfPixels);
  visit(region.Mean);
  visit(region.MeanSquare);
  visit(region.Variance);
  visit(region.Area);
  visit(region.Perimeter);
  visit(region.BoundingBox);
  visit(region.Description);
  visit(region.Sum);
  visit(region.SumOfSquares);
}

/** Calls visit() with each member of a result except its regions. */
template <typename TResult, typename TVisit>
void
VisitRestOfResult(TResult & result, const TVisit & visit)
{
  visit(result.Nodes);
  visit(result.Edges);
  visit(result.Merges);
  visit(result.Description);
  visit(result.DescriptionOfOneRegion);
  visit(result.NumberOfLooks);
  visit(result.NumberOfIterations);
  visit(result.Stop);
}

PyObject *
GetPartitionState(const itk::CudaRegionPartition & partition)
{
  const itk::CudaRegionPartitionResult & result = partition.GetResult();
  std::string                            bytes;
  const auto                             append = [&bytes](const auto & value) { Append(bytes, value); };
  VisitRestOfResult(result, append);
  append(static_cast<uint64_t>(result.Regions.size()));
  for (const itk::CudaPartitionRegion & region : result.Regions)
  {
    VisitNumbersOfRegion(region, append);
    append(region.Neighbors);
  }
  return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

void
SetPartitionState(itk::CudaRegionPartition & partition, PyObject * state)
{
  char *     bytes = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(state, &bytes, &size) != 0)
  {
    PyErr_Clear();
    itkGenericExceptionMacro("The state of a partition must be bytes");
  }
  StateReader                    reader(bytes, static_cast<size_t>(size));
  const auto                     read = [&reader](auto & value) { reader.Read(value); };
  itk::CudaRegionPartitionResult result;
  VisitRestOfResult(result, read);
  result.Regions.resize(reader.ReadCount(1));
  for (itk::CudaPartitionRegion & region : result.Regions)
  {
    VisitNumbersOfRegion(region, read);
    read(region.Neighbors);
  }
  partition.SetResult(std::move(result), partition.GetGeometry());
}
} // namespace cudafilters
%}

%extend itkCudaRegionPartition {
  PyObject * _get_state() const { return cudafilters::GetPartitionState(*self); }
  void _set_state(PyObject * state) { cudafilters::SetPartitionState(*self, state); }
}
