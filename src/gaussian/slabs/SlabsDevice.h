// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_SlabsDevice_h
#define CudaFilters_gaussian_slabs_SlabsDevice_h

#include "gaussian/device/Device.h"

#include <array>
#include <cstddef>
#include <vector>

// The steps of a pass across slabs on the device: end states of chunks, start states of chunks, and results of chunks
// from their start states. Together they compute what a pass over whole lines with the same schedule computes, with the
// same bits. States are stored as [chunk][sweep and pole pair][line]. `images` are those of one component, as for
// RunLinePass(). They have whole chunks unless the line ends with them. The functions need a cut's First and EndIsCut.

namespace itk::cuda::gaussian
{
inline bool
RunsInStrips(const LineSchedule & schedule)
{
  return schedule.Method == LineMethod::Strip || schedule.Method == LineMethod::StripScan;
}

/** Returns the bytes of the states with which anticausal sweeps enter the lines. */
size_t
GetEdgeStateBytes(const CudaGaussianLinePass & pass, const DeviceView & source);

/** Queues the computation of the end states of the source's chunks. */
CudaFilters_EXPORT void
RunChunkEndStates(const CudaGaussianLinePass &    pass,
                  const LineSchedule &            schedule,
                  const std::vector<DeviceView> & images,
                  const LineCut &                 cut,
                  void *                          endStates,
                  const Context &                 context);

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
               const ChunkNeighbors &       neighbours,
               void *                       starts,
               const Context &              context);

/** Queues the scan that turns the end states of all chunks into start states. */
CudaFilters_EXPORT void
RunAllStarts(const CudaGaussianLinePass & pass,
             const LineSchedule &         schedule,
             const DeviceView &           source,
             const ChunkNeighbors &       line,
             void *                       states,
             const Context &              context);

/** Queues the computation of the results of the source's chunks from their start states. A single result may be stored
 * in place. */
CudaFilters_EXPORT void
RunChunksFromStates(const CudaGaussianLinePass &    pass,
                    const LineSchedule &            schedule,
                    const std::vector<DeviceView> & images,
                    const LineCut &                 cut,
                    const void *                    starts,
                    const Context &                 context);
} // namespace itk::cuda::gaussian

#endif
