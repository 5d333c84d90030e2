// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_Estimates_h
#define CudaFilters_partition_labels_Estimates_h

#include "partition/Model.h"
#include "partition/Scene.h"
#include "partition/refine/Work.h"

#include <vector>

namespace itk::cuda::partition
{
/** Effective number of looks of a pixel: as many independent ones as would give means over 4 x 4 pixels that fluctuate
 * as these do. Neighbouring pixels of radar images are mostly correlated, and have fewer than their distribution says.
 *
 * In every window of 16 x 16 pixels, d = log(mean) - mean(log) of the 16 means of 4 x 4 intensities. For independent
 * pixels of L looks it is about (15/16) / (2 * 16 L). The estimate is the 80 % quantile over the windows, times 0.687,
 * the 20 % quantile of chi squared of 15 degrees of freedom over its mean: the windows with the most looks are those
 * without structure. Windows with a pixel that is not valid, a mean of 0, or d of 0 (up to rounding, 1e-12)
 * are left out.
 * \returns 1 without windows */
double
EstimateNumberOfLooks(const Scene & scene, NoiseLaw law, const Work & work);

/** Variance of the noise, in the samples' units: the mean of the smaller half (one more, if their number is odd) of the
 * variances (divisor 15) of all 4 x 4 blocks without a pixel that is not valid, over 0.714, which it is for Gaussian
 * noise of variance 1. Blocks with structure are in the other half.
 * \returns at least region::MinimumVariance; 1 without blocks */
double
EstimateKnownVariance(const Scene & scene, const Work & work);

/** The same from the estimates of all windows or blocks that have one. */
double
CombineLooks(std::vector<double> looks);
double
CombineVariances(std::vector<double> variances);
} // namespace itk::cuda::partition

#endif
