// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/GaussianSlabRun.h"

#include "runtime/image/Components.h"
#include "runtime/run/Progress.h"
#include "runtime/transfer/StridedBytes.h"
#include "itkMacro.h"

// Runs a plan in slabs over the steps of the host or of devices.

namespace itk::cuda::gaussian
{
/** The share of the progress at the end of a first sweep. */
constexpr float SweepEnd = 0.4f;

GaussianSlabRun::GaussianSlabRun(const SlabRunArguments & arguments, CudaSlabStates::Location location)
  : m_Plan(arguments.Plan)
  , m_Geometry(MakeSlabGeometry(m_Plan, arguments.Endpoints.Input, arguments.Endpoints.Output, arguments.Options))
  , m_Axis(m_Geometry.Shape.Axis)
  , m_Endpoints{ arguments.Endpoints.Input, arguments.Endpoints.Output, {}, m_Axis }
  , m_Type(cuda::GetComputeType(m_Endpoints.Input, m_Endpoints.Output))
  , m_States(arguments.Options.States)
  , m_Progress(arguments.Progress)
  , m_Location(location)
  , m_Source(arguments.Endpoints.Source)
{
  if (m_Source)
  {
    m_Endpoints.Source = [this](size_t first, size_t planes, void * pixels) {
      m_Source(first, planes, pixels);
      m_BytesOfSource += planes * m_Geometry.BytesOfInputPlane;
      if (first == 0)
      {
        this->NoteFirstPlane(pixels);
      }
    };
  }
}

void
GaussianSlabRun::Cut(size_t chunksPerSlab)
{
  m_FilterCut = CutToFilter(m_Geometry, chunksPerSlab);
  m_SweepCut = CutToSweep(m_Geometry, chunksPerSlab);
}

SlabPlanes
GaussianSlabRun::Next()
{
  m_IsComplete = m_IsComplete || (!m_Cut && !this->Begin());
  return m_IsComplete ? SlabPlanes{} : this->NextOfSlabs();
}

bool
GaussianSlabRun::Begin()
{
  const bool needsAllChunks = m_Geometry.Shape.NeedsAllChunks;
  const bool hasStates = m_States && m_States->ComputedOn == m_Location;
  const bool hasStarts = hasStates && (m_States->Starts || m_States->AreOfPart());
  if (m_States && !m_States->Bytes.empty() && !hasStates)
  {
    itkGenericExceptionMacro("The states of slabs were computed on a "
                             << (m_Location == CudaSlabStates::Host ? "device, and this run is on the host"
                                                                    : "host, and this run is on a device"));
  }
  this->Allocate();
  if (m_States && !hasStates && !m_Source)
  {
    std::vector<char>  pixels(m_Geometry.BytesOfInputPlane);
    const StridedBytes plane(Slice(m_Endpoints.Input, m_Axis, 0, 1), 0);
    plane.Gather(pixels.data(), 0, pixels.size());
    this->NoteFirstPlane(pixels.data());
  }
  const bool isForOthers = m_States && m_States->Task != CudaSlabStates::Filter;
  if (hasStates)
  {
    this->KeepFirstPlane(ViewAdjacent(Slice(m_Endpoints.Input, m_Axis, 0, 1), m_States->FirstPlane.data()));
  }
  else if ((isForOthers || !needsAllChunks) && this->BeginsBehindFirstPlane())
  {
    this->RequestFirstPlane();
  }
  if (isForOthers)
  {
    this->ComputeStatesOfOthers();
    return false;
  }
  if (needsAllChunks && !hasStarts)
  {
    this->Sweep();
  }
  else if (needsAllChunks && m_States->AreOfPart())
  {
    this->SetBytesOfStates(m_States->Bytes);
  }
  else if (needsAllChunks)
  {
    this->SetStartStates(m_States->Starts);
  }
  m_Cut = &m_FilterCut;
  this->StartSlabs(GetPartOfProgress(m_Progress, needsAllChunks && !hasStarts ? SweepEnd : 0.0f, 1.0f));
  return true;
}

void
GaussianSlabRun::ComputeStatesOfOthers()
{
  if (m_States->Task == CudaSlabStates::Sweep)
  {
    this->SweepPlanes(1.0f);
  }
  else
  {
    this->SetBytesOfStates(m_States->Bytes);
    this->ConvertToStartStates();
  }
  m_States->Bytes = this->GetBytesOfStates();
}

void
GaussianSlabRun::SweepPlanes(float endOfProgress)
{
  m_Cut = &m_SweepCut;
  this->StartSlabs(GetPartOfProgress(m_Progress, 0.0f, endOfProgress));
  this->NextOfSlabs(); // no planes, but all slabs are done
}

void
GaussianSlabRun::Sweep()
{
  this->SweepPlanes(SweepEnd);
  this->ConvertToStartStates();
  if (m_States)
  {
    m_States->Starts = this->GetStartStates();
  }
}

void
GaussianSlabRun::NoteFirstPlane(const void * pixels)
{
  if (m_States && m_States->ComputedOn != m_Location)
  {
    const auto * const begin = static_cast<const unsigned char *>(pixels);
    m_States->FirstPlane.assign(begin, begin + m_Geometry.BytesOfInputPlane);
    m_States->Starts.reset(); // those of another place
    m_States->ComputedOn = m_Location;
  }
}

/** Reads the first plane alone. */
void
GaussianSlabRun::RequestFirstPlane()
{
  const CudaImageView plane = Slice(m_Endpoints.Input, m_Axis, 0, 1);
  if (!m_Source)
  {
    this->KeepFirstPlane(plane);
    return;
  }
  std::vector<unsigned char> pixels(m_Geometry.BytesOfInputPlane);
  m_Endpoints.Source(0, 1, pixels.data());
  this->KeepFirstPlane(ViewAdjacent(plane, pixels.data()));
}

CudaSlabReport
GaussianSlabRun::GetReport() const
{
  CudaSlabReport report;
  report.Used = m_Geometry.Shape.NeedsAllChunks ? CudaSlabReport::TwoSweeps : CudaSlabReport::OneSweep;
  report.NumberOfSlabs = m_Geometry.GetNumberOfSlabs();
  report.ChunksPerSlab = m_Geometry.ChunksPerSlab;
  report.LookAhead = m_Geometry.Shape.LookAhead;
  return report;
}
} // namespace itk::cuda::gaussian
