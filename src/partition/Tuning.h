// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_Tuning_h
#define CudaFilters_partition_Tuning_h

#include <cstddef>
#include <cstdint>

// Parameters of the search for labels, which were tuned on 18 synthetic scenes of 60 regions and on three radar images,
// and the window of the search for polylines. The polygon stage otherwise uses the description alone.
namespace itk::cuda::partition
{
/** Nats that a merge of labels gains for each pixel side of the common boundary: 36 sides gain about 9 nats, the cost
 * of a segment. */
constexpr double MergeGainPerLength = 0.25;

/** A region joins its best neighbour and the neighbour's partner only if it lowers the description by at least this
 * fraction of the decrease by their merge. */
constexpr double MinimumShareToJoin = 0.5;

/** The neighbour must have at least this many times the region's number of pixels. */
constexpr int64_t MinimumRatioToJoin = 32;

/** Cost of a boundary in nats per pixel length while cells compete. */
constexpr double CellCostPerLength = 0.8;

/** Maximum number of sweeps over the cells of one size. */
constexpr int MaximumNumberOfSweeps = 6;

/** Weights of the eight neighbours of a cell, for which the length of a boundary between cells is close to its
 * Euclidean length (Boykov and Kolmogorov, Computing geodesics and minimal surfaces via graph cuts, 2003). */
constexpr double AxisNeighborWeight = 0.3927;
constexpr double DiagonalNeighborWeight = 0.2777;

/** A cell changes its region only if that lowers its cost by more than rounding errors. */
constexpr double MinimumCellGain = 1e-9;
/** The maximum number of chain edges that a chord replaces. */
constexpr size_t ChainWindow = 32;
} // namespace itk::cuda::partition

#endif
