// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSlabFakes_h
#define itkCudaSlabFakes_h

#include <cstddef>

namespace itk::cuda::test
{
/** Returns the largest number of bytes of device memory in use at the same time since the last call. */
size_t
GetMostFakeBytes();

size_t
GetFakeBytesInUse();

/** Makes host memory count as page-locked in some of the queries. */
void
SetMixesPageLocked(bool mixes);
} // namespace itk::cuda::test

#endif
