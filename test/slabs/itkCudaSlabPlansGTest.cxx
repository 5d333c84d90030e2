// SPDX-License-Identifier: Apache-2.0

// How images are cut into slabs, and how large the parts of an image are, in tables.

#include "gaussian/slabs/Slabs.h"
#include "runtime/run/Parts.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace
{
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
} // namespace
