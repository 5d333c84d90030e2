// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_DisjointSets_h
#define CudaFilters_partition_executor_DisjointSets_h

#include "runtime/HostDevice.h"

#include <cstddef>
#include <cstdint>

// Disjoint sets of things that are numbered from 0, for processors whose passes run all at once. Each thing has a
// parent in its set that is not larger. The smallest one of a set is its root, whichever order the passes have.
namespace itk::cuda::partition
{
/** Other passes may change parents meanwhile, to others of the set that are smaller than the thing. The way therefore
 * ends. */
ITK_CUDA_HOST_DEVICE inline uint32_t
FindRoot(const uint32_t * parents, uint32_t i)
{
  for (uint32_t parent = parents[i]; parent != i; parent = parents[i])
  {
    i = parent;
  }
  return i;
}

/** As FindRoot(), and halves the way: many neighbours with one root would otherwise make long ones (Jaiganesh and
 * Burtscher, A high-performance connected components implementation for GPUs, HPDC 2018). */
ITK_CUDA_HOST_DEVICE inline uint32_t
FindRootAndHalve(uint32_t * parents, uint32_t i)
{
  uint32_t parent = parents[i];
  while (parent != i)
  {
    const uint32_t next = parents[parent];
    if (next != parent)
    {
      parents[i] = next;
    }
    i = parent;
    parent = next;
  }
  return i;
}

/** Makes one set of two. */
ITK_CUDA_AS_ARGUMENTS
template <typename TAtomics>
ITK_CUDA_HOST_DEVICE void
Unite(uint32_t * parents, uint32_t i, uint32_t j)
{
  uint32_t u = FindRootAndHalve(parents, i);
  uint32_t v = FindRootAndHalve(parents, j);
  while (u != v)
  {
    const uint32_t upper = u < v ? u : v;
    const uint32_t lower = u < v ? v : u;
    const uint32_t parent = TAtomics::Minimum(parents[lower], upper);
    // If another pass gave `lower` a parent meanwhile, that one's set is left to unite. It is smaller than `lower`: the
    // larger of the two falls in each turn. No set is lost either if a pass that halves its way writes to `lower` now:
    // it writes a member of that one's set.
    u = FindRootAndHalve(parents, upper);
    v = parent == lower ? u : FindRootAndHalve(parents, parent);
  }
}

namespace steps
{
struct BeginSets
{
  uint32_t * Parents;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Parents[i] = static_cast<uint32_t>(i);
  }
};

struct FlattenSets
{
  uint32_t * Parents;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Parents[i] = FindRoot(Parents, static_cast<uint32_t>(i));
  }
};

struct IsRoot
{
  const uint32_t * Parents;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t i) const
  {
    return Parents[i] == i ? 1 : 0;
  }
};

struct NumberThings
{
  const uint32_t * Parents;
  const uint32_t * Ranks; // roots before each thing
  uint32_t *       Numbers;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Numbers[i] = Ranks[Parents[i]] + 1;
  }
};
} // namespace steps

/** Makes the root the parent of each thing. */
template <typename TProcessor>
void
FlattenSets(const TProcessor & processor, uint32_t * parents, size_t number)
{
  processor.For(number, steps::FlattenSets{ parents });
}

/** Number, from 1, of the set of each thing, in the order of the sets' roots; and how many sets there are. The parents
 * become roots. */
template <typename TProcessor>
size_t
NumberSets(const TProcessor & processor, uint32_t * parents, size_t number, uint32_t * numbers)
{
  const auto ranks = processor.template Allocate<uint32_t>(number + 1);
  FlattenSets(processor, parents, number);
  const size_t sets = processor.SumAndRead(steps::IsRoot{ parents }, number, ranks.Get());
  processor.For(number, steps::NumberThings{ parents, ranks.Get(), numbers });
  return sets;
}
} // namespace itk::cuda::partition

#endif
