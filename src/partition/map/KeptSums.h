// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_KeptSums_h
#define CudaFilters_partition_map_KeptSums_h

#include "partition/map/Geometry.h"
#include "partition/refine/Changes.h"

#include <cstddef>
#include <cstdint>

namespace itk::cuda::partition
{
/** The ends of a directed edge when its sums from the candidates around its tail were computed. The sums depend on
 * these positions only. */
struct KeptEdge
{
  LatticePoint At;
  LatticePoint Far;

  bool
  Is(const LatticePoint & at, const LatticePoint & far) const
  {
    using region::operator==;
    return At == at && Far == far;
  }
};

/** Sums by directed edge and candidate (a non-owning view). */
struct KeptSumsView
{
  KeptEdge * Edges; // null if no sums are kept
  Moments *  Sums;
};

/** \class KeptSums
 * \brief Keeps the sums of edges from candidate positions between the rounds and phases of moves.
 *
 * Most nodes that propose a move again have not moved, nor have their neighbours, so that a node finds most of its sums
 * here. An entry stays valid whatever happens to the map, because a node compares the positions. */
template <typename TExecutor>
class KeptSums
{
public:
  /** Makes room for the directed edges of a map, unless they would take too much memory. Keeps no sums then. */
  void
  Reserve(const TExecutor & executor, size_t numberOfEdges, size_t numberOfPixels)
  {
    const size_t number = 2 * numberOfEdges;
    if (number * (sizeof(KeptEdge) + NumberOfCandidates * sizeof(Moments)) > BytesPerPixel * numberOfPixels)
    {
      *this = {};
    }
    else if (number > m_Capacity)
    {
      m_Edges = executor.template Allocate<KeptEdge>(number);
      m_Sums = executor.template Allocate<Moments>(number * NumberOfCandidates);
      m_Capacity = number;
      executor.Fill(m_Edges.Get(), number, 0xff); // (-1, -1) is not a position of a node
    }
  }
  KeptSumsView
  View() const
  {
    return { m_Edges.Get(), m_Sums.Get() };
  }

private:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;

  static constexpr size_t BytesPerPixel = 12;

  Array<KeptEdge> m_Edges;
  Array<Moments>  m_Sums;
  size_t          m_Capacity{ 0 };
};
} // namespace itk::cuda::partition

#endif
