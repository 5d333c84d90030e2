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

/** Returns the largest number of bytes in use at the same time on one device since the last call. */
size_t
GetMostFakeBytes();

/** Makes host memory count as page-locked in some of the queries. */
void
SetMixesPageLocked(bool mixes);

/** Sets the size of a device's memory in bytes. With 0, which is the default, every run fits. */
void
SetFakeMemory(int device, size_t bytes);

/** Sets whether a link joins the devices, which is all that the module asks about it. */
void
SetArePeersLinked(bool linked);
} // namespace itk::cuda::test

#endif
