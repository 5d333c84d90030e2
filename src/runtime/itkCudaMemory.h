// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMemory_h
#define itkCudaMemory_h

// What the rooms of algorithms use of memory.
#include "itkCudaDeviceMemory.h"
#include "itkCudaPinnedMemory.h"

#endif
