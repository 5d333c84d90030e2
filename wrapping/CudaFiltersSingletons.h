// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_CudaFiltersSingletons_h
#define CudaFilters_wrapping_CudaFiltersSingletons_h

namespace cudafilters
{
/** Replaces the global objects of ITK that the library has made by those of the package itk, after all runs of _core
 * have ended. Returns false and sets Python's error if the package cannot be imported. */
bool
ShareSingletons();
} // namespace cudafilters

#endif
