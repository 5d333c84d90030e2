// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_Parts_h
#define CudaFilters_runtime_run_Parts_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailOperation.h"
#include "runtime/DetailNames.h"

#include <cstddef>
#include <functional>
#include <vector>

// Runs an image part after part along one axis. This is how algorithms run in slabs whose parts depend on pixels of
// context, or on none of the other parts, instead of on states.

namespace itk::cuda
{
/** An image that can be divided, as seen by the functions below. */
struct PartRun
{
  size_t Length; // of the output along the axis
  size_t Unit;   // parts begin at multiples of this number
  /** Returns the bytes of device memory that a part of `planes` planes needs, which grow with this number. */
  std::function<size_t(size_t planes)> GetBytes;
  /** Computes the planes of the output from `first` on. */
  std::function<void(size_t first, size_t planes, const CudaProgressFunction & progress)> Run;
};

/** Returns the planes of a part: parts are as few as `bytes` of device memory allow, and of equal size but for the last
 * one. Returns one unit if not even this fits. */
CudaFilters_EXPORT size_t
GetPlanesOfPart(const PartRun & run, size_t bytes);

/** Returns the number of planes of a part if the parts are dealt to several workers with `bytes` of device memory each.
 * All workers get the same number of parts, unless the whole image fits into one. */
CudaFilters_EXPORT size_t
GetPlanesOfDealtPart(const PartRun & run, size_t bytes, size_t workers);

/** Runs all parts. `progress` receives the share of the planes that are done. */
CudaFilters_EXPORT void
RunParts(const PartRun & run, size_t planes, const CudaProgressFunction & progress);

/** Runs all parts by several workers, which are equal but for `Run`. Each has a thread and takes the next part when it
 * is done with one; a single worker runs in the calling thread. Only the calling thread calls `progress`, and it may
 * throw. The first exception of a worker or of `progress` is rethrown after the other workers have ended, which they do
 * at their next progress or part. */
CudaFilters_EXPORT void
DealParts(const std::vector<PartRun> & workers, size_t planes, const CudaProgressFunction & progress);
} // namespace itk::cuda

#endif
