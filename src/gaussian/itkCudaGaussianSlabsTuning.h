// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianSlabsTuning_h
#define itkCudaGaussianSlabsTuning_h

#include <cstddef>

// Numbers only. None of them affects rounding.

namespace itk::cuda::gaussian
{
/** Bytes of planes, as they are computed, that the passes within planes take at a time. */
constexpr size_t MostPieceBytes = size_t{ 256 } << 20;
constexpr size_t LeastPieceBytes = size_t{ 8 } << 20;

/** Bytes of a slab on the host that are worth a turn of the threads, and the fewest slabs that keep both directions of
 * the link busy. */
constexpr size_t BytesOfTurn = size_t{ 32 } << 20;
constexpr size_t FewestSlabs = 8;

/** Images that fit into the device's memory are sent in slabs if they have so many bytes, and if the turns that a slab
 * takes from the host to the host, over those of an upload alone, are at most so many: (K + a + 1) / K for K slabs that
 * wait for a later ones. */
constexpr size_t LeastOverlappedBytes = size_t{ 96 } << 20;
constexpr double MostOverlappedTurns = 1.6;
} // namespace itk::cuda::gaussian

#endif
