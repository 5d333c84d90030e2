// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_Estimates_h
#define CudaFilters_partition_labels_Estimates_h

#include "partition/Model.h"
#include "partition/Scene.h"
#include "partition/refine/Work.h"

#include <vector>

namespace itk::cuda::partition
{
/** Estimates the effective number of looks of a pixel: the number for which independent pixels would give 4 x 4 means
 * that fluctuate as the observed ones do. It is mostly smaller than the number of looks of the pixels' distribution,
 * because neighbouring pixels of radar images are correlated.
 *
 * In every window of 16 x 16 pixels, d = log(mean) - mean(log) of the 16 means of 4 x 4 intensities. For independent
 * pixels of L looks it is about (15/16) / (2 * 16 L). The estimate is the 80 % quantile over the windows, times 0.687,
 * the 20 % quantile of chi squared of 15 degrees of freedom over its mean: the windows with the most looks are those
 * without structure. Windows with a pixel that is not valid, a mean of 0, or d of 0 (up to rounding, 1e-12) are left
 * out.
 * \returns 1 without windows
 */
double
EstimateNumberOfLooks(const Scene & scene, NoiseLaw law, const Work & work);

/** Estimates the variance of the noise, in squared sample units: the mean of the smaller half (one more, if their
 * number is odd) of the variances (divisor 15) of all fully valid 4 x 4 blocks, divided by 0.714, which this mean is
 * for Gaussian noise of variance 1. Blocks with structure are in the other half.
 * \returns at least region::MinimumVariance; 1 without blocks
 */
double
EstimateKnownVariance(const Scene & scene, const Work & work);

/** Combines the estimates of all windows (looks) or blocks (variances) that have one into the final estimate. */
double
CombineLooks(std::vector<double> looks);
double
CombineVariances(std::vector<double> variances);
} // namespace itk::cuda::partition

#endif
