// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailSlabRequests.h"

#include "itkCudaError.h"
#include "gaussian/slabs/Slabs.h"
#include "runtime/image/Views.h"
#include "runtime/run/SlabSession.h"
#include "runtime/transfer/StridedBytes.h"

#include <algorithm>
#include <cstring>
#include <set>

// Runs filters in slabs for the requests of a pipeline. A session can continue with the next request if the filter
// and its inputs have not changed.

namespace itk::CudaDetail
{
namespace
{
/** Returns the number of chunks on either side that a chunk needs, for the report; 0 stands for all chunks. */
unsigned int
GetReportedLookAhead(const CudaGaussianSlabShape & shape)
{
  return shape.NeedsAllChunks ? 0 : shape.LookAhead;
}

/** Returns the time of the latest change of the filter, of the filters that produce its inputs, and of input images
 * without a source. The times of images with a source do not count, because such an image is modified whenever a part
 * of it is produced. */
ModifiedTimeType
GetTimeOfChange(ProcessObject & filter, std::set<const ProcessObject *> && seen = {})
{
  ModifiedTimeType time = filter.GetMTime();
  if (!seen.insert(&filter).second)
  {
    return time;
  }
  for (const auto & input : filter.GetInputs())
  {
    if (input)
    {
      ProcessObject * const source = input->GetSource().GetPointer();
      time = std::max(time, source ? GetTimeOfChange(*source, std::move(seen)) : input->GetMTime());
    }
  }
  return time;
}

/** Makes the report of a run that has not ended. */
CudaSlabReport
MakeFirstReport(const CudaGaussianSlabShape & shape, const CudaSlabOptions & options)
{
  CudaSlabReport report;
  report.Used = shape.NeedsAllChunks ? CudaSlabReport::TwoSweeps : CudaSlabReport::OneSweep;
  report.OnHost = options.OnHost;
  report.NumberOfSlabs = shape.NumberOfChunks;
  report.ChunksPerSlab = 1;
  report.LookAhead = GetReportedLookAhead(shape);
  report.Devices = options.Devices;
  return report;
}
} // namespace

void
CudaCopyPixels(const CudaImageView & view, void * pixels)
{
  const cuda::StridedBytes stream(view, 0);
  stream.Gather(static_cast<char *>(pixels), 0, stream.GetNumberOfBytes());
}

bool
CudaRunInSlabs(const CudaGaussianPlan &     plan,
               const CudaImageView &        input,
               const CudaImageView &        output,
               CudaFilterBackend &          backend,
               MultiThreaderBase *          threader,
               const CudaProgressFunction & progress)
{
  const CudaSlabOptions options = backend.MakeSlabOptions(threader);
  const auto run = [&] { backend.SlabReport = CudaGaussianFilterSlabs(plan, input, output, options, progress); };
  if (!options.OnHost)
  {
    return backend.TryOnDevice(run, progress);
  }
  run();
  return true;
}

void
CudaSlabRequests::Begin(bool streams, ProcessObject & filter)
{
  const ModifiedTimeType time = streams ? GetTimeOfChange(filter) : 0;
  if (time != m_Time)
  {
    this->End();
  }
  m_Streams = streams;
  m_Time = time;
}

void
CudaSlabRequests::End()
{
  m_Session.reset();
  m_States.reset();
  m_Overlap = {};
}

CudaSlabRequests::Planes
CudaSlabRequests::GetFirstInput(const CudaGaussianSlabShape & shape,
                                size_t                        first,
                                const Planes &                held,
                                const Planes &                heldOfInput) const
{
  const size_t last = shape.NumberOfPlanes;
  const size_t next = m_Session ? m_Session->GetNextPlane() : 0;
  const bool   overlaps = first >= held.first && first < next && held.first + held.second == next;
  if (!m_Session || !(first == next || overlaps))
  {
    const bool startsAtFirst = first < shape.ChunkLength || shape.NeedsAllChunks;
    return { 0, startsAtFirst ? std::min(shape.ChunkLength, last) : 1 };
  }
  const size_t begin = m_LastInput.first + m_LastInput.second;
  // Within a chunk, the engine requests input only after the rest of the chunk has been output and released. An empty
  // range keeps a valid first plane, because ITK makes no pixels for an empty region.
  if (begin >= last || next % shape.ChunkLength != 0)
  {
    return { std::min(begin, last - 1), 0 };
  }
  const size_t endOfInput = heldOfInput.first + heldOfInput.second;
  const bool   isHeld = begin >= heldOfInput.first && begin < endOfInput;
  return { begin, isHeld ? endOfInput - begin : std::min(shape.ChunkLength, last - begin) };
}

void
CudaSlabRequests::KeepOverlap(size_t first, const Planes & held, const void * pixels, size_t bytesOfPlane)
{
  m_Overlap = {};
  const size_t end = held.first + held.second;
  if (m_Session && end == m_Session->GetNextPlane() && first >= held.first && first < end)
  {
    const auto * const begin = static_cast<const unsigned char *>(pixels) + (first - held.first) * bytesOfPlane;
    m_Overlap.assign(begin, begin + (end - first) * bytesOfPlane);
    m_OverlapBegin = first;
  }
}

/** Copies the first planes of the request from those that were kept. Returns their number; the session produces the
 * others. */
size_t
CudaSlabRequests::TakeOverlap(const Planes & planes, void * pixels, size_t bytesOfPlane)
{
  if (m_Overlap.empty() || m_OverlapBegin != planes.first)
  {
    return 0;
  }
  const size_t count = std::min(planes.second, m_Overlap.size() / bytesOfPlane);
  std::memcpy(pixels, m_Overlap.data(), count * bytesOfPlane);
  m_Overlap = {};
  return count;
}

void
CudaSlabRequests::BeginSession(const RunArguments &          arguments,
                               const CudaGaussianSlabShape & shape,
                               size_t                        first,
                               const CudaFilterBackend &     backend)
{
  m_Session.reset(); // frees its memory before the new session allocates
  m_LastInput = { 0, 0 };
  if (!m_States)
  {
    m_States = CudaMakeSlabStates();
  }
  CudaSlabOptions options = backend.MakeSlabOptions(arguments.Threader);
  options.ChunksPerSlab = 1;
  options.FirstPlane = first / shape.ChunkLength * shape.ChunkLength;
  options.States = m_States;
  cuda::SlabSession::ReserveFunction reserve;
  if (!options.OnHost)
  {
    reserve = [backend](const CudaProgressFunction & progress) { return CudaReserveMemory(backend, progress); };
  }
  m_Session = std::make_shared<cuda::SlabSession>(
    reserve,
    [arguments, options](const CudaSlabSource & source, const CudaProgressFunction & progress) {
      const cuda::SlabEndpoints endpoints{ arguments.InputShape, arguments.OutputShape, source };
      return cuda::gaussian::MakeSlabRun({ arguments.Plan, endpoints, options, progress });
    },
    options.FirstPlane,
    shape.NumberOfPlanes,
    cuda::GetBytesOfPlane(arguments.OutputShape, shape.Axis));
}

void
CudaSlabRequests::ProduceBySession(const Planes &               planes,
                                   void *                       pixels,
                                   const CudaSlabSource &       source,
                                   const CudaProgressFunction & progress)
{
  const CudaSlabSource noted = [&](size_t first, size_t count, void * to) {
    source(first, count, to);
    m_LastInput = { first, count };
  };
  if (planes.first > m_Session->GetNextPlane())
  {
    m_Session->Produce(planes.first - m_Session->GetNextPlane(), nullptr, noted, progress);
  }
  m_Session->Produce(planes.second, pixels, noted, progress);
}

void
CudaSlabRequests::Produce(const RunArguments &         arguments,
                          const Planes &               planes,
                          void *                       pixels,
                          const CudaSlabSource &       source,
                          CudaFilterBackend &          backend,
                          const CudaProgressFunction & progress)
{
  const CudaGaussianSlabShape shape =
    CudaGetGaussianSlabShape(arguments.Plan, arguments.InputShape, arguments.OutputShape);
  const size_t          bytesOfPlane = cuda::GetBytesOfPlane(arguments.OutputShape, shape.Axis);
  const size_t          taken = this->TakeOverlap(planes, pixels, bytesOfPlane);
  const Planes          rest{ planes.first + taken, planes.second - taken };
  unsigned char * const pixelsOfRest = static_cast<unsigned char *>(pixels) + taken * bytesOfPlane;
  if (rest.second == 0)
  {
    return;
  }
  const bool begins = !m_Session || m_Session->GetNextPlane() != rest.first;
  try
  {
    if (begins)
    {
      this->BeginSession(arguments, shape, rest.first, backend);
      backend.SlabReport = MakeFirstReport(shape, backend.MakeSlabOptions(arguments.Threader));
    }
    const size_t begin = m_Session->GetNextPlane();
    try
    {
      this->ProduceBySession(rest, pixelsOfRest, source, progress);
    }
    catch (const CudaError & error)
    {
      // Falls back to the host only if nothing has come from the device.
      if (!begins || m_Session->GetNextPlane() != begin || !backend.FallBackToHost(error))
      {
        throw;
      }
      this->BeginSession(arguments, shape, rest.first, backend);
      backend.SlabReport = MakeFirstReport(shape, backend.MakeSlabOptions(arguments.Threader));
      this->ProduceBySession(rest, pixelsOfRest, source, progress);
    }
  }
  catch (...)
  {
    this->End();
    throw;
  }
  if (m_Session->IsDone())
  {
    backend.SlabReport = m_Session->GetReport();
    this->End();
  }
}
} // end namespace itk::CudaDetail
