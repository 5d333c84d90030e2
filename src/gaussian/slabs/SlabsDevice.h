// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_SlabsDevice_h
#define CudaFilters_gaussian_slabs_SlabsDevice_h

#include "gaussian/device/LinePasses.h"

#include <array>
#include <cstddef>
#include <vector>

// Computes the start states of chunks from their end states, for passes across slabs on the device. With the other two
// steps of such a pass, RunChunkEndStates() and RunChunksFromStates() of gaussian/device/LinePasses.h, this gives the
// results of a pass over whole lines with the same schedule, with the same bits. States are stored as [chunk][sweep and
// pole pair][line]. `source` has whole chunks unless the line ends with it.

namespace itk::cuda::gaussian
{
/** Returns the bytes of the states with which anticausal sweeps enter the lines. */
size_t
GetEdgeStateBytes(const CudaGaussianLinePass & pass, const DeviceView & source);

/** Queues the computation of the states with which anticausal sweeps enter the lines. The lines end with the source. */
CudaFilters_EXPORT void
RunEdgeStates(const CudaGaussianLinePass & pass,
              const DeviceView &           source,
              const LineCut &              cut,
              void *                       edges,
              const Context &              context);

/** The input from which the start states of a chunk are computed. */
struct ChunkNeighbors
{
  size_t       Chunk;
  size_t       NumberOfChunks; // of the line
  size_t       LineLength;
  const void * Edges; // of RunEdgeStates(); needed if the line's end is within the look-ahead

  // End states of the neighbouring chunks on either side, the nearest first. End states beyond the line or the
  // look-ahead are not read.
  std::array<const void *, MaximumLookAhead> Before{};
  std::array<const void *, MaximumLookAhead> Behind{};
};

/** Queues the computation of the start states of one chunk from the end states within the look-ahead. */
CudaFilters_EXPORT void
RunChunkStarts(const CudaGaussianLinePass & pass,
               const LineSchedule &         schedule,
               const DeviceView &           source,
               const ChunkNeighbors &       neighbors,
               void *                       starts,
               const Context &              context);

/** Queues the scan that turns the end states of all chunks into start states. */
CudaFilters_EXPORT void
RunStateScan(const CudaGaussianLinePass & pass,
             const LineSchedule &         schedule,
             const DeviceView &           source,
             const ChunkNeighbors &       line,
             void *                       states,
             const Context &              context);
} // namespace itk::cuda::gaussian

#endif
