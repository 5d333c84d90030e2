// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_ImageFiles_h
#define CudaFilters_wrapping_ImageFiles_h

#include "Interpreter.h"

namespace cudafilters
{
/** The functions of the module that read and write image files. The last entry is empty. */
extern PyMethodDef ImageFileMethods[];
} // namespace cudafilters

#endif
