// SPDX-License-Identifier: Apache-2.0
// Partitions of arrays, for itk_cudafilters/_partition.py.
#include "Interpreter.h"

#include "Dictionaries.h"
#include "Functions.h"
#include "Plane.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaRegionPartition.h"
#include "itkMultiThreaderBase.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace cudafilters
{
namespace
{
using itk::CudaRegionPartition;

constexpr const char * MapName = "itk_cudafilters partition";
constexpr const char * DivisionsName = "itk_cudafilters divisions";

template <typename T>
T &
ReadCapsule(PyObject * capsule, const char * name)
{
  auto * const held = static_cast<T *>(PyCapsule_GetPointer(capsule, name));
  if (!held)
  {
    throw PythonError();
  }
  return *held;
}

/** Returns a capsule that holds a reference to the partition. */
PyObject *
WrapMap(CudaRegionPartition * map)
{
  PyObject * const capsule = PyCapsule_New(map, MapName, [](PyObject * self) {
    static_cast<CudaRegionPartition *>(PyCapsule_GetPointer(self, MapName))->UnRegister();
  });
  if (!capsule)
  {
    throw PythonError();
  }
  map->Register();
  return capsule;
}

/** The partition of an image: what to do, and the result. It is constructed and destroyed with the interpreter's lock.
 */
class Division
{
public:
  explicit Division(PyObject * job)
  {
    PyObject *   image;
    PyObject *   labels;
    PyObject *   valid;
    PyObject *   initial;
    const char * law;
    int          allowsMerging;
    int          makesLabelsOnly;
    const char * backend;
    int          device;
    ParseTuple(job,
               "OOOO(ll)sdddIkIppsiI",
               &image,
               &labels,
               &valid,
               &initial,
               &m_Input.FirstIndex[0],
               &m_Input.FirstIndex[1],
               &law,
               &m_Parameters.NumberOfLooks,
               &m_Parameters.ForegroundThreshold,
               &m_Parameters.SegmentCost,
               &m_Parameters.BlockSize,
               &m_Parameters.MinimumNumberOfPixels,
               &m_Parameters.MaximumNumberOfIterations,
               &allowsMerging,
               &makesLabelsOnly,
               &backend,
               &device,
               &m_NumberOfThreads);
    m_Parameters.NoiseLaw = itk::CudaNoiseLawFromString(law);
    m_Parameters.AllowMerging = allowsMerging != 0;
    m_Parameters.LabelsOnly = makesLabelsOnly != 0;
    itk::CudaDetail::VerifyCudaRegionPartitionParameters(m_Parameters);
    SetBackend(m_Backend, backend, device);
    m_Image.emplace(image);
    m_Labels.emplace(labels, PyBUF_WRITABLE);
    m_Valid.emplace(valid);
    m_Initial.emplace(initial);
    m_Input.Image = *m_Image->Get();
    m_Input.ValidMask = m_Valid->Get();
    m_Input.InitialLabels = m_Initial->Get();
  }

  /** Writes the labels, and makes the map unless `progress` returns false. Does not need the lock. */
  void
  Run(const std::function<bool(float)> & progress)
  {
    const auto & labels = *m_Labels->Get();
    const auto   threads =
      m_NumberOfThreads > 0 ? m_NumberOfThreads : itk::MultiThreaderBase::New()->GetNumberOfWorkUnits();
    itk::CudaRegionPartitionResult                     result;
    const itk::CudaDetail::CudaRegionPartitionObserver observer{ {}, progress };
    m_Backend.Run(
      itk::CudaDetail::CudaRegionPartitionUnsupportedReason(m_Input),
      itk::CudaDetail::CudaRegionPartitionWorkingSet(m_Input, m_Parameters),
      progress,
      [&](int device) {
        result = itk::CudaDetail::CudaRegionPartitionOnDevice(m_Input, m_Parameters, labels, threads, device, observer);
      },
      [&] { result = itk::CudaDetail::CudaRegionPartitionOnHost(m_Input, m_Parameters, labels, threads, observer); });
    m_Map->SetResult(std::move(result), m_Map->GetGeometry());
  }

  /** Returns (map, number of looks, description, description of one region, iterations, stop, backend used, reason). */
  PyObject *
  GetResult() const
  {
    const itk::CudaRegionPartitionResult & result = m_Map->GetResult();
    return Py_BuildValue("(NdddINss)",
                         WrapMap(m_Map),
                         result.NumberOfLooks,
                         result.Description,
                         result.DescriptionOfOneRegion,
                         static_cast<unsigned int>(result.NumberOfIterations),
                         AsPython(result.Stop),
                         itk::CudaBackendToString(m_Backend.Used).c_str(),
                         m_Backend.Reason.c_str());
  }

private:
  std::optional<const Plane>                     m_Image;
  std::optional<const Plane>                     m_Labels;
  std::optional<const Plane>                     m_Valid;
  std::optional<const Plane>                     m_Initial;
  itk::CudaDetail::CudaRegionPartitionInput      m_Input;
  itk::CudaDetail::CudaRegionPartitionParameters m_Parameters;
  unsigned int                                   m_NumberOfThreads;
  itk::CudaDetail::CudaFilterBackend             m_Backend;
  const CudaRegionPartition::Pointer             m_Map{ CudaRegionPartition::New() };
};

/** Runs divisions concurrently, in threads that do not use Python. A Python thread would wait for the interpreter's
 * lock after each division, and then for memory, because the interpreter's code and data have left the cache of its
 * processor. A thread is created when a division finds no idle one, and lives until End(). */
class Divisions
{
public:
  explicit Divisions(size_t atOnce)
    : m_AtOnce(atOnce)
  {}

  Divisions(const Divisions &) = delete;
  Divisions &
  operator=(const Divisions &) = delete;

  void
  Start(PyObject * job)
  {
    auto              division = std::make_unique<Division>(job);
    Call              call([this, held = division.get()] { held->Run([this](float) { return !m_HasEnded; }); });
    std::future<void> end = call.get_future();
    m_Waiting.push_back({ std::move(division), std::move(end) });
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (m_Calls.size() >= m_NumberOfIdleThreads && m_Threads.size() < m_AtOnce)
    {
      m_Threads.emplace_back([this] { this->Serve(); });
    }
    m_Calls.push_back(std::move(call));
    m_HasChanged.notify_one();
  }

  /** Waits for the next division, in the order in which they were started, and returns its result. */
  PyObject *
  FinishNext()
  {
    {
      WithoutLock without;
      while (m_Waiting.front().End.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
      {
        without.CheckSignals();
      }
    }
    Waiting next = std::move(m_Waiting.front());
    m_Waiting.pop_front();
    next.End.get();
    return next.What->GetResult();
  }

  /** Discards the divisions that have not begun, stops the running ones and waits for them. Does not need the lock. */
  void
  End()
  {
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_Calls.clear();
      m_HasEnded = true;
    }
    m_HasChanged.notify_all();
    for (std::thread & thread : m_Threads)
    {
      thread.join();
    }
    m_Threads.clear();
  }

private:
  using Call = std::packaged_task<void()>;
  struct Waiting
  {
    std::unique_ptr<Division> What;
    std::future<void>         End;
  };

  /** The function that each thread runs. */
  void
  Serve()
  {
    while (this->RunNext())
    {}
  }
  /** Waits for a call and runs it. \return false after End() */
  bool
  RunNext()
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    ++m_NumberOfIdleThreads;
    m_HasChanged.wait(lock, [this] { return m_HasEnded || !m_Calls.empty(); });
    --m_NumberOfIdleThreads;
    if (m_Calls.empty())
    {
      return false;
    }
    Call call = std::move(m_Calls.front());
    m_Calls.pop_front();
    lock.unlock();
    call();
    return true;
  }

  const size_t             m_AtOnce;
  std::deque<Waiting>      m_Waiting; // the divisions that FinishNext() has not waited for
  std::vector<std::thread> m_Threads;
  std::atomic<bool>        m_HasEnded{ false };
  std::mutex               m_Mutex; // guards the members below, and changes of m_HasEnded
  std::condition_variable  m_HasChanged;
  std::deque<Call>         m_Calls; // calls that no thread has begun
  size_t                   m_NumberOfIdleThreads{ 0 };
};

/** Calls archive() with each member of a region. */
template <typename TArchive, typename TRegion>
void
VisitRegion(TArchive & archive, TRegion & region)
{
  archive(region.NumberOfPixels);
  archive(region.Mean);
  archive(region.MeanSquare);
  archive(region.Variance);
  archive(region.Area);
  archive(region.Perimeter);
  archive(region.BoundingBox);
  archive(region.Description);
  archive(region.Sum);
  archive(region.SumOfSquares);
  archive(region.Neighbors);
}

/** Calls archive() with each member of a result. */
template <typename TArchive, typename TResult>
void
VisitResult(TArchive & archive, TResult & result)
{
  archive(result.Nodes);
  archive(result.Edges);
  archive(result.Merges);
  archive(result.Description);
  archive(result.DescriptionOfOneRegion);
  archive(result.NumberOfLooks);
  archive(result.NumberOfIterations);
  archive(result.Stop);
  archive(result.Regions);
}

/** Appends the bytes of numbers, of structures of numbers, of regions, and of vectors of these. */
struct StateWriter
{
  std::string Bytes;

  template <typename T>
  void
  operator()(const T & value)
  {
    static_assert(std::is_trivially_copyable<T>::value, "only plain bytes can be copied");
    Bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
  void
  operator()(const itk::CudaPartitionRegion & region)
  {
    VisitRegion(*this, region);
  }
  template <typename T>
  void
  operator()(const std::vector<T> & values)
  {
    (*this)(static_cast<uint64_t>(values.size()));
    for (const T & value : values)
    {
      (*this)(value);
    }
  }
};

/** Reads back what StateWriter wrote. Throws ExceptionObject if the bytes end too early. */
struct StateReader
{
  const char * Next;
  uint64_t     Left;

  template <typename T>
  void
  operator()(T & value)
  {
    static_assert(std::is_trivially_copyable<T>::value, "only plain bytes can be copied");
    this->Require(sizeof(T));
    std::memcpy(&value, Next, sizeof(T));
    Next += sizeof(T);
    Left -= sizeof(T);
  }
  void
  operator()(itk::CudaPartitionRegion & region)
  {
    VisitRegion(*this, region);
  }
  template <typename T>
  void
  operator()(std::vector<T> & values)
  {
    uint64_t count = 0;
    (*this)(count);
    this->Require(count); // each element has a byte or more
    values.resize(count);
    for (T & value : values)
    {
      (*this)(value);
    }
  }
  void
  Require(uint64_t bytes) const
  {
    if (bytes > Left)
    {
      itkGenericExceptionMacro("The state of a partition ends too early: it needs " << bytes << " more bytes and has "
                                                                                    << Left);
    }
  }
};

PyObject *
GetState(const CudaRegionPartition & map)
{
  StateWriter writer;
  VisitResult(writer, map.GetResult());
  return PyBytes_FromStringAndSize(writer.Bytes.data(), static_cast<Py_ssize_t>(writer.Bytes.size()));
}

PyObject *
Restore(PyObject * state)
{
  char *     bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(state, &bytes, &size) != 0)
  {
    throw PythonError();
  }
  StateReader                    reader{ bytes, static_cast<uint64_t>(size) };
  itk::CudaRegionPartitionResult result;
  VisitResult(reader, result);
  const auto map = CudaRegionPartition::New();
  map->SetResult(std::move(result), map->GetGeometry());
  return WrapMap(map);
}

/** Returns the elements' bytes, of which NumPy makes an array. */
template <typename T>
PyObject *
AsBytes(const std::vector<T> & elements)
{
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(elements.data()),
                                   static_cast<Py_ssize_t>(elements.size() * sizeof(T)));
}

/** A function of Python that returns get(map). */
template <auto VGet>
PyObject *
OfMap(PyObject * capsule)
{
  return VGet(ReadCapsule<CudaRegionPartition>(capsule, MapName));
}

PyObject *
GetCounts(const CudaRegionPartition & map)
{
  return Py_BuildValue("(nnn)",
                       static_cast<Py_ssize_t>(map.GetNumberOfRegions()),
                       static_cast<Py_ssize_t>(map.GetNumberOfNodes()),
                       static_cast<Py_ssize_t>(map.GetNumberOfEdges()));
}

PyObject *
GetNodes(const CudaRegionPartition & map)
{
  return AsBytes(map.GetNodes());
}

PyObject *
GetEdges(const CudaRegionPartition & map)
{
  return AsBytes(map.GetEdges());
}

PyObject *
GetMerges(const CudaRegionPartition & map)
{
  return AsBytes(map.GetMerges());
}

PyObject *
GetRegions(const CudaRegionPartition & map)
{
  return AsPython(map.GetRegions());
}

PyObject *
GetRings(PyObject * arguments)
{
  PyObject *   map;
  unsigned int region;
  ParseTuple(arguments, "OI:partition_rings", &map, &region);
  const auto      rings = ReadCapsule<CudaRegionPartition>(map, MapName).GetRings(region);
  const Reference list(PyList_New(0));
  for (const auto & ring : rings)
  {
    const Reference bytes(AsBytes(ring));
    if (PyList_Append(list.Get(), bytes.Get()) != 0)
    {
      throw PythonError();
    }
  }
  return Py_NewRef(list.Get());
}

PyObject *
Merge(PyObject * arguments)
{
  PyObject *         capsule;
  double             nats;
  unsigned long long number;
  ParseTuple(arguments, "OdK:partition_merge", &capsule, &nats, &number);
  const auto &                 map = ReadCapsule<CudaRegionPartition>(capsule, MapName);
  std::vector<uint32_t>        regions;
  CudaRegionPartition::Pointer merged;
  {
    const WithoutLock without;
    regions = number > 0 ? map.GetRegionsAfterMergesTo(number) : map.GetRegionsAfterMerges(nats);
    merged = number > 0 ? map.GetMergedTo(number) : map.GetMerged(nats);
  }
  return Py_BuildValue("(NNd)", AsBytes(regions), WrapMap(merged), merged->GetDescription());
}

PyObject *
Divide(PyObject * arguments)
{
  PyObject * job;
  PyObject * progress;
  ParseTuple(arguments, "O!O:divide", &PyTuple_Type, &job, &progress);
  Division division(job);
  {
    WithoutLock without;
    division.Run([&](float share) {
      without.ReportProgress(progress, share);
      return true;
    });
    without.ReportProgress(progress, 1.0f);
  }
  return division.GetResult();
}

PyObject *
NewDivisions(PyObject * atOnce)
{
  auto             divisions = std::make_unique<Divisions>(PyLong_AsSize_t(atOnce));
  PyObject * const capsule = PyCapsule_New(divisions.get(), DivisionsName, [](PyObject * self) {
    const std::unique_ptr<Divisions> held(static_cast<Divisions *>(PyCapsule_GetPointer(self, DivisionsName)));
    const WithoutLock                without;
    held->End();
  });
  if (capsule)
  {
    divisions.release();
  }
  return capsule;
}

void
StartDivision(PyObject * arguments)
{
  PyObject * divisions;
  PyObject * job;
  ParseTuple(arguments, "OO!:start_division", &divisions, &PyTuple_Type, &job);
  ReadCapsule<Divisions>(divisions, DivisionsName).Start(job);
}

PyObject *
FinishDivision(PyObject * divisions)
{
  return ReadCapsule<Divisions>(divisions, DivisionsName).FinishNext();
}

void
EndDivisions(PyObject * divisions)
{
  auto &            held = ReadCapsule<Divisions>(divisions, DivisionsName);
  const WithoutLock without;
  held.End();
}
} // namespace

PyMethodDef PartitionMethods[] = {
  { "divide",
    Call<Divide>,
    METH_VARARGS,
    "divide(job, progress)\n--\n\n"
    "Runs CudaRegionPartitionImageFilter's search on an array, and writes the labels, of contiguous uint32. `job` is "
    "a\n"
    "tuple (image, labels, valid_mask, initial_labels, first_index, law, number_of_looks, foreground_threshold,\n"
    "segment_cost, block_size, minimum_number_of_pixels, maximum_number_of_iterations, allow_merging, labels_only,\n"
    "backend, device_index, number of threads or 0). `progress` is None or a function of the share that is done.\n\n"
    "Returns (map, number of looks, description, description of one region, iterations, stop, backend used, reason)." },
  { "new_divisions",
    Call<NewDivisions>,
    METH_O,
    "new_divisions(at_once)\n--\n\nReturns a capsule that runs at most `at_once` jobs of divide() concurrently." },
  { "start_division", Call<StartDivision>, METH_VARARGS, "start_division(divisions, job)\n--\n\nQueues a job." },
  { "finish_division",
    Call<FinishDivision>,
    METH_O,
    "finish_division(divisions)\n--\n\n"
    "Waits for the next job, in the order in which they were started, and returns its result as divide() does." },
  { "end_divisions",
    Call<EndDivisions>,
    METH_O,
    "end_divisions(divisions)\n--\n\nDiscards jobs that have not begun, stops the running ones and waits for them." },
  { "partition_counts",
    Call<OfMap<GetCounts>>,
    METH_O,
    "partition_counts(map)\n--\n\nReturns (regions, nodes, edges)." },
  { "partition_nodes",
    Call<OfMap<GetNodes>>,
    METH_O,
    "partition_nodes(map)\n--\n\nReturns the bytes of (x, y) of int32." },
  { "partition_edges",
    Call<OfMap<GetEdges>>,
    METH_O,
    "partition_edges(map)\n--\n\nReturns the bytes of (start, end, left, right) of uint32." },
  { "partition_merges",
    Call<OfMap<GetMerges>>,
    METH_O,
    "partition_merges(map)\n--\n\nReturns the bytes of (first, second, change) of uint32, uint32 and float64." },
  { "partition_regions",
    Call<OfMap<GetRegions>>,
    METH_O,
    "partition_regions(map)\n--\n\nReturns a list of dictionaries." },
  { "partition_rings",
    Call<GetRings>,
    METH_VARARGS,
    "partition_rings(map, region)\n--\n\nReturns a list with the bytes of (x, y) of int32 of each ring." },
  { "partition_merge",
    Call<Merge>,
    METH_VARARGS,
    "partition_merge(map, nats, number)\n--\n\n"
    "Merges down to `number` regions, or if that is 0, up to a change of `nats`. Returns (bytes of the new number of\n"
    "each region, of uint32, map, description)." },
  { "partition_state",
    Call<OfMap<GetState>>,
    METH_O,
    "partition_state(map)\n--\n\nReturns bytes for partition_restore()." },
  { "partition_restore",
    Call<Restore>,
    METH_O,
    "partition_restore(state)\n--\n\nReturns the map of partition_state()." },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters
