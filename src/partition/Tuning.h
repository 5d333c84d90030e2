// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_Tuning_h
#define CudaFilters_partition_Tuning_h

#include <cstdint>

// Numbers of the search for labels. They were chosen on 18 synthetic scenes of 60 regions and on three radar images.
// The polygons that follow are judged by the description alone.
namespace itk::cuda::partition
{
/** Nats that a merge of labels saves for each pixel side of the common boundary: about 9 nats, a segment, for 36. */
constexpr double NatsPerCrack = 0.25;

/** A region joins its best neighbour and the neighbour's partner if it lowers the description by at least this share of
 * what their merge does. */
constexpr double LeastShareToJoin = 0.5;

/** The neighbour must have at least so many times the region's pixels. */
constexpr int64_t LeastRatioToJoin = 32;

/** Nats of a boundary's length, in pixels, while cells change their region. */
constexpr double NatsPerBoundaryLength = 0.8;

/** Sweeps over the cells of one size. */
constexpr int MaximumNumberOfSweeps = 6;

/** Weights of the eight neighbours of a cell, with which the boundary between cells has nearly its Euclidean length
 * (Boykov and Kolmogorov, Computing geodesics and minimal surfaces via graph cuts, 2003). */
constexpr double AxisNeighborWeight = 0.3927;
constexpr double DiagonalNeighborWeight = 0.2777;

/** A cell changes its region if that lowers its cost by more than rounding does. */
constexpr double MinimumCellGain = 1e-9;
} // namespace itk::cuda::partition

#endif
