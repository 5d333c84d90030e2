// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_Functions_h
#define CudaFilters_wrapping_Functions_h

#include "Interpreter.h"

namespace cudafilters
{
// The functions of the module, by the file that defines them. Each table ends with an empty entry.
extern PyMethodDef ConfigurationMethods[];
extern PyMethodDef DetectionMethods[];
extern PyMethodDef DiscreteGaussianMethods[];
extern PyMethodDef PartitionMethods[];
extern PyMethodDef SlabMethods[];
extern PyMethodDef SnakeMethods[];
} // namespace cudafilters

#endif
