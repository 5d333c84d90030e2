// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionEdgeGraph_h
#define itkCudaPartitionEdgeGraph_h

#include "itkCudaHostDevice.h"
#include "itkCudaPartitionGraphSteps.h"
#include "itkCudaPartitionModel.h"
#include "itkCudaPartitionSets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

// The merging of neighbours as loops over a list of edges, for processors whose passes run all at once. RegionGraph
// does the same on the host, with links that each region keeps. Its results are the same to the byte: changes of a
// merge are the same function of the same sums, and all else is integers.
namespace itk::cuda::partition
{
/** Two regions as one number, which orders edges by the smaller region and then by the larger one. */
struct EdgeCode
{
  int Bits; // of a region's number

  static EdgeCode
  Of(size_t numberOfRegions)
  {
    int bits = 1;
    while ((size_t{ 1 } << bits) < numberOfRegions)
    {
      ++bits;
    }
    return { bits };
  }
  ITK_CUDA_HOST_DEVICE uint64_t
  Encode(uint32_t x, uint32_t y) const
  {
    return x < y ? (static_cast<uint64_t>(x) << Bits) | y : (static_cast<uint64_t>(y) << Bits) | x;
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetFirst(uint64_t key) const
  {
    return static_cast<uint32_t>(key >> Bits);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetSecond(uint64_t key) const
  {
    return static_cast<uint32_t>(key & ((uint64_t{ 1 } << Bits) - 1));
  }
};

/** A list of edges in memory of a processor. */
struct EdgeView
{
  uint64_t * Keys;
  uint32_t * Cracks;
  double *   Changes; // of the description by the merge, less what its boundary is worth
};

/** The regions, and the edges between them in any order. Each pair of neighbours has one edge. */
struct GraphView
{
  static constexpr uint32_t None = 0xffffffffu;

  EdgeCode   Code;
  EdgeView   Edges;
  Moments *  Sums;
  double *   Descriptions;
  uint32_t * Parents; // itself, or the smaller region that it became part of
  uint32_t * Rounds;  // the last round in which it merged
  uint64_t * Best;    // the lowest change, as GetOrder()
  uint32_t * Choices; // the neighbour to merge with
  uint32_t   Round;   // 0 before the first one

  /** Negative changes as integers: larger for lower changes. */
  static ITK_CUDA_HOST_DEVICE uint64_t
  GetOrder(double change)
  {
    uint64_t bits;
    memcpy(&bits, &change, sizeof(bits));
    return bits;
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetFirst(size_t edge) const
  {
    return Code.GetFirst(Edges.Keys[edge]);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetSecond(size_t edge) const
  {
    return Code.GetSecond(Edges.Keys[edge]);
  }
};

// Loops over the edges or regions of a graph. What passes of one loop write is read by the next loop only, but for
// atomic operations, whose order does not matter.
namespace steps
{
struct BeginGraph
{
  GraphView Graph;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    Graph.Parents[region] = static_cast<uint32_t>(region);
    Graph.Rounds[region] = 0;
  }
};

/** Sums of regions that became part of others move to these. */
template <typename TAtomics>
struct ContractRegions
{
  GraphView Graph;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    const uint32_t root = Graph.Parents[region];
    if (root != region)
    {
      TAtomics::Add(Graph.Sums[root], Graph.Sums[region]);
      Graph.Sums[region] = {};
    }
  }
};

struct DescribeRegions
{
  GraphView Graph;
  Model     Law;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    Graph.Descriptions[region] = Law.Describe(Graph.Sums[region]);
  }
};

/** Neighbours become one where all pixels of both have the same value. */
template <typename TAtomics>
struct UniteOfOneValue
{
  GraphView       Graph;
  const uint8_t * IsOfOneValue;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    if (IsOfOneValue[u] != 0 && IsOfOneValue[v] != 0 && GetValue(u) == GetValue(v))
    {
      Unite<TAtomics>(Graph.Parents, u, v);
    }
  }

private:
  ITK_CUDA_HOST_DEVICE uint64_t
  GetValue(uint32_t region) const
  {
    return Graph.Sums[region].Sum / static_cast<uint64_t>(Graph.Sums[region].Count);
  }
};

/** Finds whether there are regions without valid pixels. */
struct FindEmpty
{
  GraphView  Graph;
  uint32_t * Found;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    Graph.Choices[region] = GraphView::None;
    if (Graph.Parents[region] == region && Graph.Sums[region].Count == 0)
    {
      *Found = 1;
    }
  }
};

/** Neighbours without valid pixels become one. */
template <typename TAtomics>
struct UniteEmpty
{
  GraphView Graph;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    if (Graph.Sums[u].Count == 0 && Graph.Sums[v].Count == 0)
    {
      Unite<TAtomics>(Graph.Parents, u, v);
    }
  }
};

/** The neighbour of the smallest number of regions without valid pixels that touch each other. */
template <typename TAtomics>
struct ChooseForEmpty
{
  GraphView Graph;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    const bool     uIsEmpty = Graph.Sums[u].Count == 0;
    if (uIsEmpty != (Graph.Sums[v].Count == 0))
    {
      const uint32_t empty = uIsEmpty ? u : v;
      TAtomics::Minimum(Graph.Choices[FindRoot(Graph.Parents, empty)], uIsEmpty ? v : u);
    }
  }
};

/** They join it. Only their roots have a choice. */
template <typename TAtomics>
struct JoinChoice
{
  GraphView Graph;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    if (Graph.Choices[region] != GraphView::None)
    {
      Unite<TAtomics>(Graph.Parents, static_cast<uint32_t>(region), Graph.Choices[region]);
    }
  }
};

// A round: Prepare, Offer, Choose and Merge.

struct Prepare
{
  GraphView Graph;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    this->Reset(Graph.GetFirst(edge));
    this->Reset(Graph.GetSecond(edge));
  }

private:
  ITK_CUDA_HOST_DEVICE void
  Reset(uint32_t region) const
  {
    Graph.Best[region] = 0;
    Graph.Choices[region] = GraphView::None;
  }
};

/** Finds the lowest change of each region. */
template <typename TAtomics>
struct Offer
{
  GraphView Graph;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const double change = Graph.Edges.Changes[edge];
    if (change < 0.0)
    {
      const uint64_t order = GraphView::GetOrder(change);
      TAtomics::Maximum(Graph.Best[Graph.GetFirst(edge)], order);
      TAtomics::Maximum(Graph.Best[Graph.GetSecond(edge)], order);
    }
  }
};

/** Finds the smallest neighbour with that change. */
template <typename TAtomics>
struct Choose
{
  GraphView Graph;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const double change = Graph.Edges.Changes[edge];
    if (change < 0.0)
    {
      const uint64_t order = GraphView::GetOrder(change);
      const uint32_t u = Graph.GetFirst(edge);
      const uint32_t v = Graph.GetSecond(edge);
      if (Graph.Best[u] == order)
      {
        TAtomics::Minimum(Graph.Choices[u], v);
      }
      if (Graph.Best[v] == order)
      {
        TAtomics::Minimum(Graph.Choices[v], u);
      }
    }
  }
};

/** Two regions that chose each other become one: no region is in two such pairs. */
template <typename TAtomics>
struct Merge
{
  GraphView  Graph;
  Model      Law;
  uint32_t * NumberOfPairs;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    if (Graph.Choices[u] == v && Graph.Choices[v] == u)
    {
      Graph.Sums[u] += Graph.Sums[v];
      Graph.Descriptions[u] = Law.Describe(Graph.Sums[u]);
      Graph.Parents[v] = u;
      Graph.Rounds[u] = Graph.Round;
      Graph.Rounds[v] = Graph.Round;
      TAtomics::Add(*NumberOfPairs, 1u);
    }
  }
};

/** What becomes of an edge after a round. Edges of regions that merged get new ends; those within a region are dropped.
 * As numbers to be added up: 1 for an edge that stays, 2^32 for one that changes. */
struct Classify
{
  static constexpr uint64_t Stays = 1;
  static constexpr uint64_t IsChanged = uint64_t{ 1 } << 32;

  GraphView Graph;

  ITK_CUDA_HOST_DEVICE uint64_t
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    if (Graph.Rounds[u] != Graph.Round && Graph.Rounds[v] != Graph.Round)
    {
      return Stays;
    }
    return Graph.Parents[u] != Graph.Parents[v] ? IsChanged : 0;
  }
};

/** Puts edges that stay to the front of a list, and the others with new ends into another one. */
struct Distribute
{
  GraphView        Graph;
  const uint64_t * Ranks; // sums of Classify before each edge
  EdgeView         Staying;
  uint64_t *       ChangedKeys;
  uint32_t *       ChangedCracks;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint64_t what = Classify{ Graph }(edge);
    if (what == Classify::Stays)
    {
      const uint64_t to = Ranks[edge] & 0xffffffffu;
      Staying.Keys[to] = Graph.Edges.Keys[edge];
      Staying.Cracks[to] = Graph.Edges.Cracks[edge];
      Staying.Changes[to] = Graph.Edges.Changes[edge];
    }
    else if (what == Classify::IsChanged)
    {
      const uint64_t to = Ranks[edge] >> 32;
      ChangedKeys[to] = Graph.Code.Encode(Graph.Parents[Graph.GetFirst(edge)], Graph.Parents[Graph.GetSecond(edge)]);
      ChangedCracks[to] = Graph.Edges.Cracks[edge];
    }
  }
};

/** Changes of the edges from number First on. */
struct FindChanges
{
  GraphView Graph;
  Model     Law;
  size_t    First;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const size_t   edge = First + i;
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    Graph.Edges.Changes[edge] = ChangeByMerge(
      Law, Graph.Sums[u], Graph.Sums[v], Graph.Descriptions[u], Graph.Descriptions[v], Graph.Edges.Cracks[edge]);
  }
};

/** Sums of the regions that are left, by their numbers from 1. */
struct CollectSums
{
  GraphView        Graph;
  const uint32_t * Numbers;
  Moments *        Sums;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    if (Graph.Parents[region] == region)
    {
      Sums[Numbers[region]] = Graph.Sums[region];
    }
    if (region == 0)
    {
      Sums[0] = {};
    }
  }
};
} // namespace steps

/** \class EdgeGraph
 * \brief Regions and their neighbours, which merge in rounds, as RegionGraph, on a processor.
 *
 * A processor has arrays in its memory, and loops whose passes run in any order or at once. It sorts by keys, adds up
 * what has one key, and makes sums of all values before each. The device is one (itkCudaPartitionProcessor.cuh). Tests
 * have another one, which takes passes in a random order on the host.
 *
 * Only edges of regions that merged are sorted again. A round otherwise reads the edges a few times.
 */
template <typename TProcessor>
class EdgeGraph
{
public:
  template <typename T>
  using Array = typename TProcessor::template Array<T>;
  using Atomics = typename TProcessor::Atomics;

  /** An edge to begin with. */
  struct EdgeList
  {
    Array<uint64_t> Keys; // as EdgeCode::Of() the number of regions
    Array<uint32_t> Cracks;
    size_t          Number{ 0 };
  };

  /** \param sums of the regions, which are numbered in the order of their first pixels
   * \param edges in any order; cracks of edges between the same regions are added up
   * \param isOfOneValue as RegionGraph has it; nullptr: of none */
  EdgeGraph(const TProcessor & processor,
            const Model &      model,
            Array<Moments>     sums,
            size_t             numberOfRegions,
            EdgeList           edges,
            const uint8_t *    isOfOneValue = nullptr)
    : m_Processor(processor)
    , m_Model(model)
    , m_NumberAtFirst(numberOfRegions)
    , m_NumberOfEdges(edges.Number)
    , m_Sums(std::move(sums))
    , m_Descriptions(processor.template Allocate<double>(numberOfRegions))
    , m_Parents(processor.template Allocate<uint32_t>(numberOfRegions))
    , m_Rounds(processor.template Allocate<uint32_t>(numberOfRegions))
    , m_Best(processor.template Allocate<uint64_t>(numberOfRegions))
    , m_Choices(processor.template Allocate<uint32_t>(numberOfRegions + 1)) // one more for the sum of all
    , m_Ranks(processor.template Allocate<uint64_t>(edges.Number + 1))
    , m_ChangedKeys(processor.template Allocate<uint64_t>(edges.Number))
    , m_ChangedCracks(processor.template Allocate<uint32_t>(edges.Number))
    , m_Counter(processor.template Allocate<uint32_t>(1))
  {
    m_Edges = { std::move(edges.Keys), std::move(edges.Cracks), processor.template Allocate<double>(edges.Number) };
    m_Others = { processor.template Allocate<uint64_t>(edges.Number),
                 processor.template Allocate<uint32_t>(edges.Number),
                 processor.template Allocate<double>(edges.Number) };
    m_Processor.For(m_NumberAtFirst, steps::BeginGraph{ this->View() });
    if (isOfOneValue != nullptr)
    {
      m_Processor.For(m_NumberOfEdges, steps::UniteOfOneValue<Atomics>{ this->View(), isOfOneValue });
      this->ContractRegions();
    }
    this->UpdateEdges();
    this->AbsorbRegionsWithoutPixels();
    m_Processor.Sum(steps::IsRoot{ m_Parents.Get() }, m_NumberAtFirst, m_Choices.Get());
    m_NumberOfRegions = m_Processor.Read(m_Choices.Get() + m_NumberAtFirst);
  }

  size_t
  GetNumberOfRegions() const
  {
    return m_NumberOfRegions;
  }

  /** Merges the pairs of one round, and returns their number. */
  size_t
  MergeRound()
  {
    if (m_Round == 0)
    {
      m_Processor.For(m_NumberAtFirst, steps::DescribeRegions{ this->View(), m_Model });
      m_Processor.For(m_NumberOfEdges, steps::FindChanges{ this->View(), m_Model, 0 });
    }
    ++m_Round;
    m_Processor.Fill(m_Counter.Get(), 1, 0);
    const GraphView graph = this->View();
    m_Processor.For(m_NumberOfEdges, steps::Prepare{ graph });
    m_Processor.For(m_NumberOfEdges, steps::Offer<Atomics>{ graph });
    m_Processor.For(m_NumberOfEdges, steps::Choose<Atomics>{ graph });
    m_Processor.For(m_NumberOfEdges, steps::Merge<Atomics>{ graph, m_Model, m_Counter.Get() });
    const size_t pairs = m_Processor.Read(m_Counter.Get());
    if (pairs > 0)
    {
      const size_t first = this->UpdateEdges();
      m_Processor.For(m_NumberOfEdges - first, steps::FindChanges{ this->View(), m_Model, first });
      m_NumberOfRegions -= pairs;
    }
    return pairs;
  }

  /** Number, from 1, of the region to which each of the original ones belongs: in the order of first pixels. */
  Array<uint32_t>
  NumberRegions()
  {
    Array<uint32_t> numbers = m_Processor.template Allocate<uint32_t>(m_NumberAtFirst);
    NumberSets(m_Processor, m_Parents.Get(), m_NumberAtFirst, numbers.Get());
    return numbers;
  }

  /** Sums of the regions by that number; [0] has none. */
  Array<Moments>
  GetSums(const Array<uint32_t> & numbers)
  {
    Array<Moments> sums = m_Processor.template Allocate<Moments>(m_NumberOfRegions + 1);
    m_Processor.For(m_NumberAtFirst, steps::CollectSums{ this->View(), numbers.Get(), sums.Get() });
    return sums;
  }

private:
  struct EdgeArrays
  {
    Array<uint64_t> Keys;
    Array<uint32_t> Cracks;
    Array<double>   Changes;

    EdgeView
    View() const
    {
      return { Keys.Get(), Cracks.Get(), Changes.Get() };
    }
  };

  const TProcessor & m_Processor;
  const Model        m_Model;
  const size_t       m_NumberAtFirst;
  size_t             m_NumberOfRegions{ 0 };
  size_t             m_NumberOfEdges;
  uint32_t           m_Round{ 0 };
  EdgeArrays         m_Edges;
  EdgeArrays         m_Others;
  Array<Moments>     m_Sums;
  Array<double>      m_Descriptions;
  Array<uint32_t>    m_Parents;
  Array<uint32_t>    m_Rounds;
  Array<uint64_t>    m_Best;
  Array<uint32_t>    m_Choices;
  Array<uint64_t>    m_Ranks;
  Array<uint64_t>    m_ChangedKeys;
  Array<uint32_t>    m_ChangedCracks;
  Array<uint32_t>    m_Counter;

  GraphView
  View() const
  {
    return { EdgeCode::Of(m_NumberAtFirst),
             m_Edges.View(),
             m_Sums.Get(),
             m_Descriptions.Get(),
             m_Parents.Get(),
             m_Rounds.Get(),
             m_Best.Get(),
             m_Choices.Get(),
             m_Round };
  }

  /** Gives the edges of regions that merged their new ends, and makes one of those with the same ends. Returns the
   * number of the first one that may have changed. */
  size_t
  UpdateEdges()
  {
    const GraphView graph = this->View();
    m_Processor.Sum(steps::Classify{ graph }, m_NumberOfEdges, m_Ranks.Get());
    const uint64_t numbers = m_Processor.Read(m_Ranks.Get() + m_NumberOfEdges);
    const auto     staying = static_cast<size_t>(numbers & 0xffffffffu);
    const auto     changed = static_cast<size_t>(numbers >> 32);
    m_Processor.For(
      m_NumberOfEdges,
      steps::Distribute{ graph, m_Ranks.Get(), m_Others.View(), m_ChangedKeys.Get(), m_ChangedCracks.Get() });
    // The old list has been read, and takes the sorted edges.
    m_Processor.SortByKeys(m_ChangedKeys.Get(),
                           m_ChangedCracks.Get(),
                           changed,
                           2 * graph.Code.Bits,
                           m_Edges.Keys.Get(),
                           m_Edges.Cracks.Get());
    const size_t combined = m_Processor.AddByKeys(m_Edges.Keys.Get(),
                                                  m_Edges.Cracks.Get(),
                                                  changed,
                                                  m_Others.Keys.Get() + staying,
                                                  m_Others.Cracks.Get() + staying);
    std::swap(m_Edges, m_Others);
    m_NumberOfEdges = staying + combined;
    return staying;
  }

  void
  ContractRegions()
  {
    FlattenSets(m_Processor, m_Parents.Get(), m_NumberAtFirst);
    m_Processor.For(m_NumberAtFirst, steps::ContractRegions<Atomics>{ this->View() });
  }

  void
  AbsorbRegionsWithoutPixels()
  {
    m_Processor.Fill(m_Counter.Get(), 1, 0);
    m_Processor.For(m_NumberAtFirst, steps::FindEmpty{ this->View(), m_Counter.Get() });
    if (m_Processor.Read(m_Counter.Get()) == 0)
    {
      return;
    }
    m_Processor.For(m_NumberOfEdges, steps::UniteEmpty<Atomics>{ this->View() });
    m_Processor.For(m_NumberOfEdges, steps::ChooseForEmpty<Atomics>{ this->View() });
    m_Processor.For(m_NumberAtFirst, steps::JoinChoice<Atomics>{ this->View() });
    this->ContractRegions();
    this->UpdateEdges();
  }
};
} // namespace itk::cuda::partition

#endif
