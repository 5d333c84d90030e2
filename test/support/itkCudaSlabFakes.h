// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSlabFakes_h
#define itkCudaSlabFakes_h

#include <cstddef>

namespace itk::cuda::test
{
/** Most bytes of the device's memory that were in use at a time, since the last call. */
size_t
GetMostFakeBytes();

size_t
GetFakeBytesInUse();

/** Lets host memory be taken for page-locked memory, now and then. */
void
SetMixesPageLocked(bool mixes);
} // namespace itk::cuda::test

#endif
