// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDevice_h
#define itkCudaDevice_h

// What the rooms of algorithms use of devices and streams.
#include "itkCudaDeviceGuard.h"
#include "itkCudaDeviceProperties.h"
#include "itkCudaStream.h"

#endif
