// SPDX-License-Identifier: Apache-2.0
// Requests for planes one after the other, of a run that copies planes. itkCudaSlabPipelineGTest.cxx has what filters
// show of it.
#include "runtime/memory/MemoryGate.h"
#include "runtime/run/SlabSession.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using itk::CudaSlabReport;
using itk::CudaSlabSource;
using itk::CudaDetail::CudaProgressFunction;
using itk::cuda::MemoryGate;
using itk::cuda::MemoryReservation;
using itk::cuda::SlabPlanes;
using itk::cuda::SlabRun;
using itk::cuda::SlabSession;

constexpr size_t planesOfImage = 100;
constexpr size_t planesOfChunk = 8;

/** What the tests see of a run. */
struct Observed
{
  bool HasEnded{ false };
  bool ThrowsAtEnd{ false };
};

/** A run that asks for a chunk, and gives it. A plane is one number. */
class CopyingRun : public SlabRun
{
public:
  CopyingRun(size_t firstPlane, CudaSlabSource source, CudaProgressFunction progress, Observed & observed)
    : m_Next(firstPlane)
    , m_Source(std::move(source))
    , m_Progress(std::move(progress))
    , m_Observed(observed)
  {}

  ~CopyingRun() override { m_Observed.HasEnded = true; }

  SlabPlanes
  Next() override
  {
    if (m_HasGiven)
    {
      m_Progress(static_cast<float>(m_Next) / planesOfImage);
    }
    if (m_Next == planesOfImage)
    {
      if (m_Observed.ThrowsAtEnd)
      {
        throw std::runtime_error("the run failed");
      }
      return {};
    }
    const size_t planes = std::min(planesOfChunk, planesOfImage - m_Next);
    m_Source(m_Next, planes, m_Chunk.data());
    m_HasGiven = true;
    m_Next += planes;
    return { m_Next - planes, planes, m_Chunk.data() };
  }

  CudaSlabReport
  GetReport() const override
  {
    CudaSlabReport report;
    report.NumberOfSlabs = 13;
    return report;
  }

private:
  size_t                     m_Next;
  bool                       m_HasGiven{ false };
  std::vector<size_t>        m_Chunk = std::vector<size_t>(planesOfChunk);
  const CudaSlabSource       m_Source;
  const CudaProgressFunction m_Progress;
  Observed &                 m_Observed;
};

class CudaSlabSession : public testing::Test
{
protected:
  std::unique_ptr<SlabSession>
  MakeSession(size_t firstPlane = 0, SlabSession::ReserveFunction reserve = nullptr)
  {
    return std::make_unique<SlabSession>(
      std::move(reserve),
      [this, firstPlane](const CudaSlabSource & source, const CudaProgressFunction & progress) {
        return std::make_unique<CopyingRun>(firstPlane, source, progress, m_Observed);
      },
      firstPlane,
      planesOfImage,
      sizeof(size_t));
  }

  std::vector<size_t>
  Produce(SlabSession & session, size_t planes)
  {
    std::vector<size_t> pixels(planes);
    session.Produce(
      planes,
      pixels.data(),
      [this](size_t first, size_t count, void * to) {
        m_Asked.push_back(first);
        m_RunsInSource = MemoryGate::GetNumberOfEnclosingRuns();
        std::iota(static_cast<size_t *>(to), static_cast<size_t *>(to) + count, first);
      },
      [this](float share) { m_Shares.push_back(share); });
    return pixels;
  }

  Observed            m_Observed;
  std::vector<size_t> m_Asked;
  std::vector<float>  m_Shares;
  unsigned int        m_RunsInSource{ 0 };
};

std::vector<size_t>
MakePlanes(size_t first, size_t count)
{
  std::vector<size_t> planes(count);
  std::iota(planes.begin(), planes.end(), first);
  return planes;
}

template <typename TFunction>
std::string
GetError(const TFunction & function)
{
  try
  {
    function();
  }
  catch (const std::exception & error)
  {
    return error.what();
  }
  return {};
}
} // namespace

TEST_F(CudaSlabSession, Planes_come_in_pieces_and_are_asked_for_once)
{
  const auto session = this->MakeSession();
  size_t     next = 0;
  for (const size_t planes : { 1, 7, 1, 30, 0, 61 })
  {
    EXPECT_EQ(session->GetNextPlane(), next);
    EXPECT_FALSE(session->IsDone());
    EXPECT_EQ(this->Produce(*session, planes), MakePlanes(next, planes));
    next += planes;
  }
  EXPECT_TRUE(session->IsDone());
  EXPECT_EQ(session->GetReport().NumberOfSlabs, 13u);
  EXPECT_EQ(m_Asked.size(), 13u);
  EXPECT_EQ(m_Shares.back(), 1.0f);
}

TEST_F(CudaSlabSession, Planes_may_be_dropped)
{
  const auto session = this->MakeSession(16);
  session->Produce(
    10,
    nullptr,
    [](size_t first, size_t count, void * to) {
      std::iota(static_cast<size_t *>(to), static_cast<size_t *>(to) + count, first);
    },
    nullptr);
  EXPECT_EQ(this->Produce(*session, 5), MakePlanes(26, 5));
}

TEST_F(CudaSlabSession, What_a_run_throws_at_its_end_arrives)
{
  m_Observed.ThrowsAtEnd = true;
  const auto session = this->MakeSession();
  this->Produce(*session, planesOfImage - 1);
  EXPECT_EQ(GetError([&] { this->Produce(*session, 1); }), "the run failed");
  EXPECT_TRUE(m_Observed.HasEnded);
}

TEST_F(CudaSlabSession, Requests_may_come_from_different_threads)
{
  const auto session = this->MakeSession();
  for (size_t next = 0; next < planesOfImage; next += 20)
  {
    std::thread([&] { EXPECT_EQ(this->Produce(*session, 20), MakePlanes(next, 20)); }).join();
  }
  EXPECT_TRUE(session->IsDone());
}

TEST_F(CudaSlabSession, A_reservation_is_paused_between_requests)
{
  MemoryGate gate;
  const auto available = [] { return size_t{ 100 }; };
  for (const size_t planes : { size_t{ 9 }, planesOfImage })
  {
    const auto session = this->MakeSession(0, [&](const CudaProgressFunction &) {
      return std::make_shared<MemoryReservation>(gate, 60, available, nullptr);
    });
    for (const size_t count : { size_t{ 1 }, planes - 1 })
    {
      this->Produce(*session, count);
      EXPECT_EQ(m_RunsInSource, 1u) << "the source works for the run, and must not wait for it";
      EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 0u);
      const MemoryReservation other(gate, 60, available, [] { throw std::logic_error("waited for a paused run"); });
    }
    EXPECT_EQ(session->IsDone(), planes == planesOfImage);
  }
  EXPECT_EQ(gate.GetEventuallyAvailable(available), 100u);
}
