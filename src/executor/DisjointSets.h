// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DisjointSets_h
#define CudaFilters_executor_DisjointSets_h

#include "runtime/HostDevice.h"

#include <cstddef>
#include <cstdint>

// Parallel union-find over elements numbered from 0, for executors that run work items concurrently. The parent of an
// element is a member of the same set and is never larger than the element. The root of a set is its smallest element,
// independent of the order of execution.
namespace itk::cuda::executor
{
/** Returns the root of element i. Concurrent work items may change parents, but only to smaller members of the same
 * set, so that the search terminates. */
template <typename TAtomics>
ITK_CUDA_HOST_DEVICE uint32_t
FindRoot(const uint32_t * parents, uint32_t i)
{
  for (uint32_t parent = TAtomics::LoadRelaxed(parents[i]); parent != i; parent = TAtomics::LoadRelaxed(parents[i]))
  {
    i = parent;
  }
  return i;
}

/** Returns the root of element i and halves the path to it. Without path halving, many neighbours with one root would
 * form long paths (Jaiganesh and Burtscher, A high-performance connected components implementation for GPUs, HPDC
 * 2018). */
template <typename TAtomics>
ITK_CUDA_HOST_DEVICE uint32_t
FindRootAndHalve(uint32_t * parents, uint32_t i)
{
  uint32_t parent = TAtomics::LoadRelaxed(parents[i]);
  while (parent != i)
  {
    const uint32_t next = TAtomics::LoadRelaxed(parents[parent]);
    if (next != parent)
    {
      TAtomics::StoreRelaxed(parents[i], next);
    }
    i = parent;
    parent = next;
  }
  return i;
}

/** Unites the sets of i and j. */
template <typename TAtomics>
ITK_CUDA_HOST_DEVICE void
Unite(uint32_t * parents, uint32_t i, uint32_t j)
{
  uint32_t u = FindRootAndHalve<TAtomics>(parents, i);
  uint32_t v = FindRootAndHalve<TAtomics>(parents, j);
  while (u != v)
  {
    const uint32_t upper = u < v ? u : v;
    const uint32_t lower = u < v ? v : u;
    const uint32_t parent = TAtomics::Minimum(parents[lower], upper);
    // If another work item gave `lower` a parent in the meantime, the set of that parent must still be united. The
    // parent is smaller than `lower`, so that the larger of the two roots decreases in each iteration. A concurrent
    // path halving that writes to `lower` loses no set either, because it writes a member of the parent's set.
    u = FindRootAndHalve<TAtomics>(parents, upper);
    v = parent == lower ? u : FindRootAndHalve<TAtomics>(parents, parent);
  }
}

namespace functors
{
/** Numbers elements from 0. As parents, this makes each element the root of its own set. */
struct Iota
{
  uint32_t * Numbers;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Numbers[i] = static_cast<uint32_t>(i);
  }
};

/** Makes the root of each element its parent. */
template <typename TAtomics>
struct FlattenSets
{
  uint32_t * Parents;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const uint32_t root = FindRoot<TAtomics>(Parents, static_cast<uint32_t>(i));
    TAtomics::StoreRelaxed(Parents[i], root);
  }
};

/** Returns 1 for a root and 0 otherwise. The exclusive prefix sum of these values ranks the roots. */
struct IsRoot
{
  const uint32_t * Parents;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t i) const
  {
    return Parents[i] == i ? 1 : 0;
  }
};

/** Numbers the set of each element by the rank of its root, from 1. */
struct NumberElements
{
  const uint32_t * Parents;
  const uint32_t * Ranks; // number of roots before each element
  uint32_t *       Numbers;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Numbers[i] = Ranks[Parents[i]] + 1;
  }
};
} // namespace functors

/** Makes the root of each element its parent. */
template <typename TExecutor>
void
FlattenSets(const TExecutor & executor, uint32_t * parents, size_t number)
{
  executor.ParallelFor(number, functors::FlattenSets<typename TExecutor::Atomics>{ parents });
}

/** Numbers the sets from 1 in the order of their roots, writes the number of each element's set, and returns the number
 * of sets. Also flattens the trees, so that all parents become roots. */
template <typename TExecutor>
size_t
NumberSets(const TExecutor & executor, uint32_t * parents, size_t number, uint32_t * numbers)
{
  const auto ranks = executor.template Allocate<uint32_t>(number + 1);
  FlattenSets(executor, parents, number);
  const size_t sets = executor.ExclusiveScanAndRead(functors::IsRoot{ parents }, number, ranks.Get());
  executor.ParallelFor(number, functors::NumberElements{ parents, ranks.Get(), numbers });
  return sets;
}
} // namespace itk::cuda::executor

#endif
