// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFakeCuda_h
#define itkCudaFakeCuda_h

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace itk::cuda::test
{
/** Lets the stream do this work after what it has queued, as a kernel would. */
void
EnqueueOnFakeStream(cudaStream_t stream, std::function<void()> work);

/** Returns the largest number of bytes of device memory in use at the same time since the last call. */
size_t
GetMostFakeBytes();

/** Makes host memory count as page-locked in some of the queries. */
void
SetMixesPageLocked(bool mixes);
} // namespace itk::cuda::test

#endif
