// SPDX-License-Identifier: Apache-2.0

// How images are cut into slabs, and how large the parts of an image are, in tables.

#include "gaussian/slabs/Slabs.h"
#include "runtime/run/Parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace
{
using itk::cuda::DealParts;
using itk::cuda::GetPlanesOfDealtPart;
using itk::cuda::GetPlanesOfPart;
using itk::cuda::PartRun;
using itk::cuda::RunParts;
using itk::cuda::gaussian::SlabCut;
using itk::cuda::gaussian::SlabGeometry;

/** A slab as {first chunk, number of planes, last slab that its result requires, whether it has a result}. */
using Slab = std::vector<size_t>;

std::vector<Slab>
List(const SlabCut & cut)
{
  std::vector<Slab> slabs;
  for (size_t i = 0; i < cut.Slabs.size(); ++i)
  {
    const auto & slab = cut.Slabs[i];
    slabs.push_back({ cut.Chunks[i].Begin, slab.NumberOfPlanes, slab.LastRequiredSlab, slab.HasResult ? 1u : 0u });
    EXPECT_EQ(slab.FirstPlane, cut.Chunks[i].Begin * itk::CudaSlabChunkLength);
  }
  return slabs;
}

/** A part of an image of 900 planes, which are eight chunks of 128 planes but for the last one. */
SlabGeometry
MakeGeometry(unsigned int lookAhead, size_t firstChunk, size_t endChunk)
{
  SlabGeometry geometry;
  geometry.Shape.NumberOfPlanes = 900;
  geometry.Shape.NumberOfChunks = 8;
  geometry.Shape.LookAhead = lookAhead;
  geometry.Shape.NeedsAllChunks = lookAhead == 0;
  geometry.FirstChunk = firstChunk;
  geometry.EndChunk = endChunk;
  return geometry;
}

TEST(SlabPlans, ImagesAreCutIntoSlabs)
{
  struct Row
  {
    unsigned int      LookAhead; // 0: all chunks
    size_t            FirstChunk, EndChunk, ChunksPerSlab, SlabsAhead;
    std::vector<Slab> Expected;
  };
  const std::vector<Row> rows{
    { 1, 0, 8, 4, 1, { { 0, 512, 1, 1 }, { 4, 388, 1, 1 } } },
    { 1, 0, 8, 3, 1, { { 0, 384, 1, 1 }, { 3, 384, 2, 1 }, { 6, 132, 2, 1 } } },
    { 1, 0, 8, 8, 0, { { 0, 900, 0, 1 } } },
    { 3, 0, 8, 2, 2, { { 0, 256, 2, 1 }, { 2, 256, 3, 1 }, { 4, 256, 3, 1 }, { 6, 132, 3, 1 } } },
    { 1, 2, 4, 1, 1, { { 1, 128, 1, 0 }, { 2, 128, 2, 1 }, { 3, 128, 3, 1 }, { 4, 128, 3, 0 } } },
    { 2, 1, 7, 4, 1, { { 0, 128, 1, 0 }, { 1, 512, 2, 1 }, { 5, 256, 3, 1 }, { 7, 4, 3, 0 } } },
    { 0, 2, 4, 1, 0, { { 2, 128, 0, 1 }, { 3, 128, 1, 1 } } },
  };
  for (const Row & row : rows)
  {
    const auto    geometry = MakeGeometry(row.LookAhead, row.FirstChunk, row.EndChunk);
    const SlabCut cut = CutToFilter(geometry, row.ChunksPerSlab);
    EXPECT_EQ(List(cut), row.Expected) << "row " << &row - rows.data();
    EXPECT_EQ(cut.SlabsAhead, row.SlabsAhead) << "row " << &row - rows.data();
  }
}

TEST(SlabPlans, OnlyPlansThatNeedAllChunksAreSwept)
{
  EXPECT_TRUE(CutToSweep(MakeGeometry(3, 0, 8), 2).Slabs.empty());
  EXPECT_EQ(List(CutToSweep(MakeGeometry(0, 2, 4), 3)),
            (std::vector<Slab>{ { 0, 384, 0, 0 }, { 3, 384, 1, 0 }, { 6, 132, 2, 0 } }));
}

TEST(SlabPlans, PartsAreFewAndOfEqualSize)
{
  struct Row
  {
    size_t Length, Unit, Bytes, Expected;
  };
  // A part needs 100 bytes, and 10 for each plane.
  for (const Row & row : std::vector<Row>{ { 50, 1, 600, 50 },
                                           { 50, 1, 599, 25 },
                                           { 50, 1, 350, 25 },
                                           { 50, 1, 349, 17 },
                                           { 50, 1, 110, 1 },
                                           { 50, 1, 0, 1 },
                                           { 50, 50, 0, 50 },
                                           { 900, 128, 9100, 900 },
                                           { 900, 128, 9099, 512 },
                                           { 900, 128, 5219, 384 },
                                           { 900, 128, 0, 128 },
                                           { 0, 1, 0, 0 } })
  {
    const PartRun run{ row.Length, row.Unit, [](size_t planes) { return 100 + 10 * planes; }, nullptr };
    EXPECT_EQ(GetPlanesOfPart(run, row.Bytes), row.Expected) << row.Length << ", " << row.Bytes << " bytes";
  }
}

TEST(SlabPlans, PartsFollowEachOther)
{
  std::vector<std::pair<size_t, size_t>> parts;
  std::vector<float>                     shares;
  const PartRun                          run{ 10, 1, nullptr, [&](size_t first, size_t planes, const auto & progress) {
                      parts.emplace_back(first, planes);
                      progress(0.5f);
                      progress(1.0f);
                    } };
  RunParts(run, 4, [&shares](float share) { shares.push_back(share); });
  EXPECT_EQ(parts, (std::vector<std::pair<size_t, size_t>>{ { 0, 4 }, { 4, 4 }, { 8, 2 } }));
  EXPECT_EQ(shares, (std::vector<float>{ 0.2f, 0.4f, 0.6f, 0.8f, 0.9f, 1.0f }));
  RunParts(run, 10, nullptr);
  EXPECT_EQ(parts.size(), 4u);
}

TEST(SlabPlans, PartsThatAreDealtAreAsManyForEachWorker)
{
  const PartRun run{ 1000, 10, [](size_t planes) { return planes; }, nullptr };
  EXPECT_EQ(GetPlanesOfDealtPart(run, 1000, 3), 1000u) << "one part is enough";
  EXPECT_EQ(GetPlanesOfDealtPart(run, 999, 1), 500u);
  EXPECT_EQ(GetPlanesOfDealtPart(run, 999, 2), 500u);
  EXPECT_EQ(GetPlanesOfDealtPart(run, 999, 3), 340u);
  EXPECT_EQ(GetPlanesOfDealtPart(run, 330, 2), 250u);
  EXPECT_EQ(GetPlanesOfDealtPart(run, 0, 7), 10u) << "no part is smaller than a unit";
  const PartRun none{ 0, 1, [](size_t) { return size_t{ 0 }; }, nullptr };
  EXPECT_EQ(GetPlanesOfDealtPart(none, 0, 2), 0u);
}

/** Workers run each part once, with any number of parts and workers, and only the calling thread sees the progress,
 * which grows up to 1. */
TEST(SlabPlans, PartsAreDealtToWorkers)
{
  for (const size_t number : { 1, 2, 5 })
  {
    for (const size_t planes : { 1, 3, 40 })
    {
      constexpr size_t                 length = 40;
      std::vector<std::atomic<size_t>> runs(length);
      std::vector<std::thread::id>     threads(number);
      std::vector<PartRun>             workers;
      for (size_t worker = 0; worker < number; ++worker)
      {
        workers.push_back({ length, 1, nullptr, [&, worker](size_t first, size_t count, const auto & progress) {
                             threads[worker] = std::this_thread::get_id();
                             EXPECT_LE(first + count, length);
                             for (size_t plane = first; plane < first + count; ++plane)
                             {
                               ++runs[plane];
                               progress(static_cast<float>(plane - first + 1) / static_cast<float>(count));
                             }
                           } });
      }
      float      last = 0.0f;
      const auto caller = std::this_thread::get_id();
      DealParts(workers, planes, [&](float share) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_GE(share, last);
        last = share;
      });
      EXPECT_EQ(last, 1.0f);
      for (const auto & count : runs)
      {
        EXPECT_EQ(count, 1u);
      }
      const bool isDealt = number > 1 && planes < length;
      for (const std::thread::id & thread : threads)
      {
        EXPECT_FALSE(isDealt && thread == caller);
      }
      DealParts(workers, planes, nullptr);
    }
  }
}

/** Counts the workers that are at work. */
class Entry
{
public:
  explicit Entry(std::atomic<int> & number)
    : m_Number(number)
  {
    ++m_Number;
  }
  ~Entry() { --m_Number; }

private:
  std::atomic<int> & m_Number;
};

/** An exception of a worker or of the progress arrives once the others have ended. */
TEST(SlabPlans, WhatAWorkerOrTheProgressThrowsArrives)
{
  std::atomic<int>     running{ 0 };
  bool                 fails = true;
  std::vector<PartRun> workers;
  for (size_t worker = 0; worker < 3; ++worker)
  {
    workers.push_back({ 1000, 1, nullptr, [&](size_t first, size_t, const auto & progress) {
                         const Entry entry(running);
                         progress(0.5f);
                         if (fails && first == 7)
                         {
                           throw std::out_of_range("plane 7");
                         }
                       } });
  }
  for (unsigned int run = 0; run < 20; ++run)
  {
    EXPECT_THROW(DealParts(workers, 1, nullptr), std::out_of_range);
    EXPECT_EQ(running, 0);
  }
  fails = false;
  EXPECT_THROW(DealParts(workers,
                         1,
                         [](float share) {
                           if (share > 0.01f)
                           {
                             throw std::domain_error("aborted");
                           }
                         }),
               std::domain_error);
  EXPECT_EQ(running, 0);
  DealParts(workers, 1, nullptr);
}
} // namespace
