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

/** Bytes of rows of a slab, as they are computed, that the passes across slabs take at a time where the slab's memory
 * holds the host's pixels. They stay in the cache of an H200 from the conversion to the filter. */
constexpr size_t BytesOfRowGroup = size_t{ 32 } << 20;
constexpr size_t FewestRowGroups = 8;

/** Parts of a result there. Each part reads all lines of its slab. */
constexpr size_t MostPartsOfResult = 8;

/** Bytes of a slab on the host that are worth its launches, and the fewest slabs that keep both directions of the link
 * busy. */
constexpr size_t BytesOfSlab = size_t{ 16 } << 20;
constexpr size_t FewestSlabs = 8;

/** Bytes of results on the device that keep the link busy, and the most results. */
constexpr size_t BytesOfResults = size_t{ 64 } << 20;
constexpr size_t MostResults = 8;

/** Images that fit into the device's memory are sent in slabs if they have so many bytes, and if the run takes at most
 * so many turns of an upload alone: (K + a + 1) / K with K slabs that wait for a later ones. Measured on one H200 with
 * 16 cores, in slabs and whole, in ms (float):
 *
 * page-locked: 4096^2 2.1, 2.6; 256^2 x 512 4.4, 5.1 (1.5 turns); 8192^2 6.7, 10.1; 512^3 15.9, 20.4 (1.5); 512^3 sigma
 * 12 18.3, 20.3 (1.75); 1024^3 106, 163 (1.25)
 *
 * ordinary: 4096^2 2.5, 3.2 (1.25 turns); 5120^2 3.6, 4.8; 7168^2 6.0, 8.8; 400^3 9.4, 11.2 (1.5); 512^3 17.7, 22.0
 * (1.5); 512^3 sigma 12 19.6, 22.2 (1.75)
 */
constexpr size_t LeastBytesOfOverlap = size_t{ 64 } << 20;
constexpr double MostTurnsOfOverlap = 1.75;
} // namespace itk::cuda::gaussian

#endif
