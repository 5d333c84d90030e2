// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_SplitPlan_h
#define CudaFilters_gaussian_slabs_SplitPlan_h

#include "gaussian/slabs/Slabs.h"

#include <cstddef>
#include <vector>

// Divides a plan into passes across slabs and passes within planes.

namespace itk::cuda::gaussian
{
/** Where a result of a pass across slabs is stored until the passes within planes have read it. */
enum class AcrossStorage
{
  Buffer,
  Output, // written to the output at once, because no other pass changes it
  Source  // overwrites the planes that the pass reads
};

struct AcrossResult
{
  unsigned int  Image; // of SplitPlan::Within
  AcrossStorage Storage;
  size_t        Index; // of its buffer, or of the component of the output
};

/** A plan divided into its passes across slabs, which run first, and its passes within planes. The images of the plan
 * keep their numbers. The unfiltered planes and the results of the passes across slabs get additional numbers, except a
 * single result that is stored in the output while the source must be kept. */
struct SplitPlan
{
  CudaGaussianPlan                       Within;
  std::vector<CudaGaussianLinePass>      Across;  // result r of a pass is image 1 + r
  std::vector<std::vector<AcrossResult>> Results; // of each pass in Across
  unsigned int                           Unfiltered{ 0 };
  size_t                                 Buffers{ 0 };
  std::vector<unsigned int>              Intermediates; // other images that passes within planes write, except results
};

/** Returns whether a pass within planes reads the image. */
bool
IsReadWithin(const CudaGaussianPlan & within, unsigned int image);

/** Divides a plan into its parts, and chooses where the results of the passes across slabs are stored.
 * \param keepsSource whether no result may overwrite the planes that the passes read */
SplitPlan
MakeSplitPlan(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape, bool keepsSource);
} // namespace itk::cuda::gaussian

#endif
