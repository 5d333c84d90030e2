// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/SlabSession.h"

#include "runtime/memory/MemoryGate.h"
#include "runtime/Process.h"
#include "itkMacro.h"

#include <algorithm>
#include <cstring>
#include <utility>

// Implements SlabSession, which copies the planes of a run to the requests of a pipeline.

namespace itk::cuda
{
/** The time of a request, at whose end the reservation is paused. */
class SlabSession::ActiveScope
{
public:
  explicit ActiveScope(SlabSession & session)
    : m_Session(session)
  {
    if (m_Session.m_Reservation)
    {
      m_Session.m_Reservation->Resume();
    }
  }

  ~ActiveScope()
  {
    if (m_Session.m_Reservation)
    {
      m_Session.m_Reservation->Pause();
    }
  }

private:
  SlabSession & m_Session;
};

SlabSession::SlabSession(ReserveFunction reserve,
                         MakeRunFunction makeRun,
                         size_t          firstPlane,
                         size_t          endPlane,
                         size_t          bytesOfPlane)
  : m_Reserve(std::move(reserve))
  , m_MakeRun(std::move(makeRun))
  , m_FirstPlane(firstPlane)
  , m_EndPlane(endPlane)
  , m_BytesOfPlane(bytesOfPlane)
  , m_NextPlane(firstPlane)
{}

SlabSession::~SlabSession()
{
  if (m_Run && m_Process != GetProcessId())
  {
    // A forked process has the objects, but neither the run's threads nor its device, and must not enter the gate.
    (void)m_Run.release();
    (void)new std::shared_ptr<MemoryReservation>(std::move(m_Reservation));
  }
}

void
SlabSession::Produce(size_t planes, void * pixels, const CudaSlabSource & source, const CudaProgressFunction & progress)
{
  const ActiveScope scope(*this);
  m_Source = &source;
  m_Progress = &progress;
  m_Pixels = static_cast<unsigned char *>(pixels);
  m_Begin = m_NextPlane;
  m_Wanted = planes;
  try
  {
    this->Begin();
    while (m_Run && (m_Wanted > 0 || m_NextPlane == m_EndPlane))
    {
      this->TakePlanes();
    }
  }
  catch (...)
  {
    this->End();
    throw;
  }
  if (m_Wanted > 0)
  {
    itkGenericExceptionMacro("A run in slabs ended before plane " << m_NextPlane << " of " << m_EndPlane);
  }
}

void
SlabSession::Begin()
{
  if (m_Run || m_HasEnded || m_Wanted == 0)
  {
    return;
  }
  m_Process = GetProcessId();
  const CudaProgressFunction report = [this](float done) { this->ReportProgress(done); };
  m_Reservation = m_Reserve ? m_Reserve(report) : nullptr;
  m_Run = m_MakeRun([this](size_t first, size_t planes, void * pixels) { (*m_Source)(first, planes, pixels); }, report);
}

void
SlabSession::End()
{
  m_HasEnded = true;
  m_Run.reset();
  m_Reservation.reset();
}

/** Copies planes of the run to the request. Ends the session if there are none left. */
void
SlabSession::TakePlanes()
{
  if (m_Rest.Number == 0)
  {
    m_Rest = m_Run->Next();
  }
  if (m_Rest.Number == 0)
  {
    m_Report = m_Run->GetReport();
    this->End();
    return;
  }
  const size_t count = std::min(m_Rest.Number, m_Wanted);
  const size_t bytes = count * m_BytesOfPlane;
  if (m_Pixels)
  {
    std::memcpy(m_Pixels, m_Rest.Pixels, bytes);
    m_Pixels += bytes;
  }
  m_Rest = { m_Rest.First + count, m_Rest.Number - count, static_cast<const unsigned char *>(m_Rest.Pixels) + bytes };
  m_Wanted -= count;
  m_NextPlane += count;
}

void
SlabSession::ReportProgress(float done) const
{
  if (*m_Progress)
  {
    const size_t given = m_NextPlane - m_Begin;
    const size_t asked = given + m_Wanted;
    const bool   isAll = asked == m_EndPlane - m_FirstPlane;
    (*m_Progress)(isAll ? done : static_cast<float>(given) / static_cast<float>(std::max<size_t>(asked, 1)));
  }
}
} // namespace itk::cuda
