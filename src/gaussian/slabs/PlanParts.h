// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_PlanParts_h
#define CudaFilters_gaussian_slabs_PlanParts_h

#include "gaussian/slabs/Slabs.h"

#include <cstddef>
#include <vector>

namespace itk::cuda::gaussian
{
/** Where a result of a pass across slabs lies until the passes within planes have read it. */
enum class AcrossPlace
{
  Buffer,
  Output, // it belongs there, and no other pass changes it
  Source  // in the place of the planes that the pass reads
};

struct AcrossResult
{
  unsigned int Image; // of PlanParts::Within
  AcrossPlace  Place;
  size_t       Index; // of its buffer, or of the output's component
};

/** A plan, cut behind its passes across slabs. The images of the plan keep their numbers. The planes as they came, and
 * each result of a pass across slabs, are images of their own. */
struct PlanParts
{
  CudaGaussianPlan                       Within;
  std::vector<CudaGaussianLinePass>      Across;  // results r of a pass are images 1 + r
  std::vector<std::vector<AcrossResult>> Results; // of each
  unsigned int                           Raw{ 0 };
  size_t                                 Buffers{ 0 };
  std::vector<unsigned int>              Intermediates; // images of Within that are neither the output's nor the above
};

/** Whether a pass within planes reads the image. */
bool
IsReadWithin(const CudaGaussianPlan & within, unsigned int image);

/** The parts, and where the results of passes across slabs lie. */
PlanParts
CutPlan(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape);
} // namespace itk::cuda::gaussian

#endif
