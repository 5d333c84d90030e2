// SPDX-License-Identifier: Apache-2.0
// A run that is paused between requests, with an engine that copies planes.
#include "itkCudaDetailSlabRequests.h"
#include "runtime/memory/MemoryGate.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using itk::CudaSlabReport;
using itk::CudaSlabSink;
using itk::CudaSlabSource;
using itk::CudaDetail::CudaSlabSession;
using itk::cuda::MemoryGate;

constexpr size_t planesOfImage = 100;
constexpr size_t planesOfChunk = 8;

/** What an engine does: it asks for a chunk, and gives it. A plane is one number. */
struct Engine
{
  size_t FirstPlane{ 0 };
  bool   HasEnded{ false };
  bool   ThrowsAtEnd{ false };

  CudaSlabReport
  operator()(const CudaSlabSource &                    source,
             const CudaSlabSink &                      sink,
             const CudaSlabSession::ProgressFunction & progress)
  {
    struct End
    {
      bool & Flag;
      ~End() { Flag = true; }
    } const end{ HasEnded };
    std::vector<size_t> chunk(planesOfChunk);
    for (size_t first = FirstPlane; first < planesOfImage; first += planesOfChunk)
    {
      const size_t planes = std::min(planesOfChunk, planesOfImage - first);
      source(first, planes, chunk.data());
      sink(first, planes, chunk.data());
      progress(static_cast<float>(first + planes) / planesOfImage);
    }
    if (ThrowsAtEnd)
    {
      throw std::runtime_error("the engine failed");
    }
    CudaSlabReport report;
    report.NumberOfSlabs = 13;
    return report;
  }
};

class CudaSlabSessionThread : public testing::Test
{
protected:
  CudaSlabSession
  MakeSession(size_t firstPlane = 0)
  {
    m_Engine.FirstPlane = firstPlane;
    return { [this](const auto & source, const auto & sink, const auto & progress) {
              return m_Engine(source, sink, progress);
            },
             firstPlane,
             planesOfImage,
             sizeof(size_t) };
  }

  std::vector<size_t>
  Produce(CudaSlabSession & session, size_t planes)
  {
    std::vector<size_t> pixels(planes);
    session.Produce(
      planes,
      pixels.data(),
      [this](size_t first, size_t count, void * to) {
        m_IsUser = m_IsUser && std::this_thread::get_id() == m_User;
        m_Asked.push_back(first);
        if (first == m_BadPlane)
        {
          throw std::runtime_error("the source failed");
        }
        std::iota(static_cast<size_t *>(to), static_cast<size_t *>(to) + count, first);
      },
      [this](float share) {
        m_IsUser = m_IsUser && std::this_thread::get_id() == m_User;
        m_Shares.push_back(share);
        if (share >= m_AbortShare)
        {
          throw std::runtime_error("aborted");
        }
      });
    return pixels;
  }

  Engine                m_Engine;
  const std::thread::id m_User{ std::this_thread::get_id() };
  bool                  m_IsUser{ true };
  std::vector<size_t>   m_Asked;
  std::vector<float>    m_Shares;
  size_t                m_BadPlane{ planesOfImage };
  float                 m_AbortShare{ 2.0f };
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

TEST_F(CudaSlabSessionThread, Planes_come_in_pieces_and_are_asked_for_once)
{
  CudaSlabSession session = this->MakeSession();
  size_t          next = 0;
  for (const size_t planes : { 1, 7, 1, 30, 0, 61 })
  {
    EXPECT_EQ(session.GetNextPlane(), next);
    EXPECT_FALSE(session.IsDone());
    EXPECT_EQ(this->Produce(session, planes), MakePlanes(next, planes));
    next += planes;
  }
  EXPECT_TRUE(session.IsDone());
  EXPECT_EQ(session.GetReport().NumberOfSlabs, 13u);
  EXPECT_EQ(m_Asked.size(), 13u);
  EXPECT_TRUE(m_IsUser) << "source and progress are called by the thread that asks";
  EXPECT_EQ(m_Shares.back(), 1.0f);
}

TEST_F(CudaSlabSessionThread, No_more_is_asked_for_than_is_needed)
{
  CudaSlabSession session = this->MakeSession();
  this->Produce(session, 9);
  EXPECT_EQ(m_Asked, (std::vector<size_t>{ 0, 8 }));
  this->Produce(session, 7);
  EXPECT_EQ(m_Asked.size(), 2u);
}

TEST_F(CudaSlabSessionThread, Planes_may_be_dropped)
{
  CudaSlabSession session = this->MakeSession(16);
  session.Produce(
    10,
    nullptr,
    [](size_t first, size_t count, void * to) {
      std::iota(static_cast<size_t *>(to), static_cast<size_t *>(to) + count, first);
    },
    nullptr);
  EXPECT_EQ(this->Produce(session, 5), MakePlanes(26, 5));
}

TEST_F(CudaSlabSessionThread, A_session_that_is_not_finished_ends_its_engine)
{
  {
    CudaSlabSession session = this->MakeSession();
    this->Produce(session, 9);
    EXPECT_FALSE(m_Engine.HasEnded);
  }
  EXPECT_TRUE(m_Engine.HasEnded);
  this->MakeSession(); // nothing has begun
}

TEST_F(CudaSlabSessionThread, Exceptions_go_on_unchanged)
{
  CudaSlabSession first = this->MakeSession();
  m_BadPlane = 24;
  EXPECT_EQ(GetError([&] { this->Produce(first, planesOfImage); }), "the source failed");
  EXPECT_EQ(first.GetNextPlane(), 24u);
  EXPECT_FALSE(first.IsDone());
  EXPECT_TRUE(m_Engine.HasEnded);
  m_BadPlane = planesOfImage;
  m_AbortShare = 0.5f;
  CudaSlabSession second = this->MakeSession();
  EXPECT_EQ(GetError([&] { this->Produce(second, planesOfImage); }), "aborted");
  m_AbortShare = 2.0f;
  m_Engine.ThrowsAtEnd = true;
  CudaSlabSession third = this->MakeSession();
  this->Produce(third, planesOfImage - 1);
  EXPECT_EQ(GetError([&] { this->Produce(third, 1); }), "the engine failed");
}

TEST_F(CudaSlabSessionThread, What_the_engine_reserved_is_paused_between_requests)
{
  MemoryGate   gate;
  const auto   available = [] { return size_t{ 100 }; };
  unsigned int runsInSource = 0;
  {
    CudaSlabSession session(
      [&](
        const CudaSlabSource & source, const CudaSlabSink & sink, const CudaSlabSession::ProgressFunction & progress) {
        const MemoryGate::Reservation reservation(gate, 60, available, nullptr);
        return m_Engine(source, sink, progress);
      },
      0,
      planesOfImage,
      sizeof(size_t));
    std::vector<size_t> pixels(9);
    session.Produce(
      9,
      pixels.data(),
      [&](size_t, size_t, void *) { runsInSource = MemoryGate::GetNumberOfEnclosingRuns(); },
      nullptr);
    EXPECT_EQ(runsInSource, 1u) << "the source works for the run, and must not wait for it";
    EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 0u);
    const MemoryGate::Reservation other(gate, 60, available, [] { throw std::logic_error("waited for a paused run"); });
  }
  EXPECT_EQ(gate.GetEventuallyAvailable(available), 100u);
}
