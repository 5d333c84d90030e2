// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionSearchBytes_h
#define itkCudaPartitionSearchBytes_h

#include "itkCudaPartitionEdgeTable.h"
#include "itkCudaPartitionMergeRounds.h"
#include "itkCudaPartitionModel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace itk::cuda::partition
{
/** Memory of a processor in bytes for LabelSearch, without the samples and their sums. What an image needs beyond this,
 * because more of its pixels are components of their own than of most images, is found out in the run. */
inline size_t
GetLabelSearchBytes(size_t width, size_t height, size_t blockSize)
{
  constexpr size_t perLabel = sizeof(uint32_t);
  // Of EdgeGraph: what GraphView points to, and the regions' numbers. Then those of a quarter of them that are left.
  constexpr size_t perRegion = sizeof(GraphRegion) + 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t) + 1;
  constexpr size_t perListed = sizeof(uint64_t) + sizeof(uint32_t) + sizeof(double);
  constexpr size_t perSlot = sizeof(uint64_t) + sizeof(uint32_t);
  const auto       graph = [](size_t regions, size_t edges) {
    return regions * perRegion + regions / 4 * sizeof(GraphRegion) + 2 * edges * perListed +
           EdgeTableView::GetSize(edges) * perSlot + MostPrices * sizeof(double);
  };
  const size_t cells = ((width - 1) / blockSize + 1) * ((height - 1) / blockSize + 1);
  const size_t pixels = width * height;
  // Labels, parents, ranks and numbers of the pixels. Then their labels, and the graph of the components.
  const size_t components = pixels / 16 + 1;
  const size_t ofComponents = pixels * perLabel + components * sizeof(Moments) + graph(components, 3 * components);
  return std::max({ graph(cells, 2 * cells), 4 * pixels * perLabel, ofComponents });
}

constexpr size_t LargestHeap = size_t{ 32 } << 20;
constexpr size_t GapsOfHeap = size_t{ 4 } << 20; // between its arrays, and what each needs at least

/** Bytes of the heap of a search that takes so many. If the image is small, all arrays lie there. */
inline size_t
GetHeapBytes(size_t searchBytes)
{
  return std::min(searchBytes + GapsOfHeap, LargestHeap);
}

/** Bytes of a search with its heap. Arrays that the largest heap has no room for have blocks of their own. */
inline size_t
GetSearchBytesWithHeap(size_t searchBytes)
{
  return searchBytes + GapsOfHeap <= LargestHeap ? searchBytes + GapsOfHeap : searchBytes + LargestHeap;
}
} // namespace itk::cuda::partition

#endif
