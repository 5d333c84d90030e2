// SPDX-License-Identifier: Apache-2.0
#include "partition/map/Map.h"

#include <algorithm>

namespace itk::cuda::partition
{
namespace
{
/** Number of rows that are filled together. */
constexpr int32_t RowsOfBand = 64;

/** The crossing of an edge with the centre line of a row: the first pixel to its right, and the distance of the
 * crossing to the left of that pixel's centre, Numerator / Denominator < 1. */
struct Crossing
{
  int32_t  Row;
  int32_t  Column;
  int64_t  Numerator;
  int64_t  Denominator;
  uint32_t Region; // to the right

  friend bool
  operator<(const Crossing & x, const Crossing & y)
  {
    if (x.Row != y.Row)
    {
      return x.Row < y.Row;
    }
    if (x.Column != y.Column)
    {
      return x.Column < y.Column;
    }
    // The crossing farther to the left comes first. All factors are at most 2^31.
    return x.Numerator * y.Denominator > y.Numerator * x.Denominator;
  }
};

/** The edges that cross each band of rows: band b contains First[b] to First[b + 1] - 1 of Edges. */
struct EdgesOfBands
{
  std::vector<size_t>   First;
  std::vector<uint32_t> Edges;

  explicit EdgesOfBands(const MapData & map)
    : First(static_cast<size_t>((map.Height - 1) / RowsOfBand) + 2, 0)
  {
    ForBands(map, [this](size_t band, uint32_t) { ++First[band + 1]; });
    for (size_t band = 1; band < First.size(); ++band)
    {
      First[band] += First[band - 1];
    }
    Edges.resize(First.back());
    std::vector<size_t> next(First);
    ForBands(map, [this, &next](size_t band, uint32_t edge) { Edges[next[band]++] = edge; });
  }

private:
  template <typename TFunction>
  static void
  ForBands(const MapData & map, const TFunction & function)
  {
    for (uint32_t i = 0; i < map.Edges.size(); ++i)
    {
      const MapEdge & edge = map.Edges[i];
      if (!edge.IsAlive() || map.At(edge.Start).Y == map.At(edge.End).Y)
      {
        continue;
      }
      const region::LatticeBox box = region::BoxOf(map.At(edge.Start), map.At(edge.End));
      for (int32_t band = box.MinimumY / RowsOfBand; band <= (box.MaximumY - 1) / RowsOfBand; ++band)
      {
        function(static_cast<size_t>(band), i);
      }
    }
  }
};

/** Appends the crossings of an edge with the rows first to last - 1. */
void
AddCrossings(const MapData &         map,
             const MapEdge &         mapEdge,
             int32_t                 first,
             int32_t                 last,
             std::vector<Crossing> & crossings)
{
  const region::LatticeEdge edge = region::MakeEdge(map.At(mapEdge.Start), map.At(mapEdge.End));
  const int32_t             begin = region::Maximum(first, edge.Top.Y) - edge.Top.Y;
  const int32_t             end = region::Minimum(last, edge.Top.Y + edge.NumberOfRows) - edge.Top.Y;
  const int64_t             denominator = 2 * static_cast<int64_t>(edge.NumberOfRows);
  region::CrossingWalker    walker(edge, begin, 1);
  for (int32_t row = begin; row < end; ++row, walker.Advance())
  {
    const int32_t column = walker.GetColumn();
    // column + 1/2 - X, X = Top.X + (2 row + 1) dX / (2 dY)
    const int64_t numerator = static_cast<int64_t>(column - edge.Top.X) * denominator + edge.NumberOfRows -
                              (2 * static_cast<int64_t>(row) + 1) * edge.DeltaX;
    crossings.push_back(
      { edge.Top.Y + row, column, numerator, denominator, edge.Upward ? mapEdge.Left : mapEdge.Right });
  }
}

class BandFiller
{
public:
  BandFiller(const MapData & map, const EdgesOfBands & bands, std::vector<uint32_t> & labels)
    : m_Map(map)
    , m_Bands(bands)
    , m_Labels(labels)
  {}

  void
  Fill(size_t band)
  {
    const int32_t first = static_cast<int32_t>(band) * RowsOfBand;
    const int32_t last = region::Minimum(first + RowsOfBand, m_Map.Height);
    m_Crossings.clear();
    for (size_t i = m_Bands.First[band]; i < m_Bands.First[band + 1]; ++i)
    {
      AddCrossings(m_Map, m_Map.Edges[m_Bands.Edges[i]], first, last, m_Crossings);
    }
    std::sort(m_Crossings.begin(), m_Crossings.end());
    for (size_t i = 0; i < m_Crossings.size(); ++i)
    {
      const Crossing & crossing = m_Crossings[i];
      const bool       isLast = i + 1 == m_Crossings.size() || m_Crossings[i + 1].Row != crossing.Row;
      const int32_t    end = isLast ? m_Map.Width : m_Crossings[i + 1].Column;
      const auto       row = m_Labels.begin() + static_cast<ptrdiff_t>(crossing.Row) * m_Map.Width;
      std::fill(row + crossing.Column, row + end, crossing.Region);
    }
  }

private:
  const MapData &         m_Map;
  const EdgesOfBands &    m_Bands;
  std::vector<uint32_t> & m_Labels;
  std::vector<Crossing>   m_Crossings;
};
} // namespace

std::vector<uint32_t>
RasterizeMap(const MapData & map, const region::Threads & threads, std::vector<uint32_t> labels)
{
  labels.resize(static_cast<size_t>(map.Width) * static_cast<size_t>(map.Height));
  const EdgesOfBands bands(map);
  threads.ForRanges(bands.First.size() - 1, 1, [&](size_t begin, size_t end) {
    BandFiller filler(map, bands, labels);
    for (size_t band = begin; band < end; ++band)
    {
      filler.Fill(band);
    }
  });
  return labels;
}
} // namespace itk::cuda::partition
