// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_Tensors_h
#define CudaFilters_wrapping_Tensors_h

// Structure tensors, and vesselness, which is computed from Hessians, of arrays in the memory of the host and of a GPU.

#include "Interpreter.h"

namespace cudafilters
{
/** The functions of _core for structure tensors and vesselness. */
extern PyMethodDef TensorMethods[];
} // namespace cudafilters

#endif
