// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceMemoryResource_h
#define itkCudaDeviceMemoryResource_h

#include <cstddef>

namespace itk
{
/** Returns `bytes` of memory on `device`, or nullptr if memory has run out. Work that is queued on `stream`, a
 * cudaStream_t, after the call may use it. See CudaDeviceMemoryResource. */
using CudaAllocateFunction = void * (*)(size_t bytes, int device, void * stream, void * context);

/** Releases what the CudaAllocateFunction returned for the same bytes, device and stream. Work already queued on
 * `stream` may still use the memory. See CudaDeviceMemoryResource. */
using CudaReleaseFunction = void (*)(void * pointer, size_t bytes, int device, void * stream, void * context);

/** \struct CudaDeviceMemoryResource
 * \brief The functions from which the filters get their device memory, for
 * CudaFiltersConfiguration::SetDeviceMemoryResource().
 *
 * The filters call them once for each buffer of a run, from any thread and concurrently, with `device` as the current
 * device. They are stream-ordered: the first use of the memory is queued on the stream after the allocation, and the
 * last use before the release. The stream is either one of the module's, which are never destroyed, or the caller's.
 *
 * Memory must begin at a multiple of `Alignment` bytes, otherwise the filter throws an exception. If memory has run
 * out, Allocate returns nullptr or throws. The filter then runs on the host (Backend Automatic) or throws CudaError of
 * kind OutOfMemory (Backend Cuda). Release must not throw; an exception that it throws is ignored.
 *
 * A buffer is released to the resource that allocated it, even if another resource has been set since. The functions
 * and `Context` must therefore exist until all filters that ran with them have ended. Filters hold no device memory
 * between runs. A process forked from one that used CUDA releases nothing.
 *
 * An example with the RAPIDS memory manager. In some versions of RMM, a resource has no functions of these names, but
 * allocate_async(bytes, alignment, stream) and deallocate_async(pointer, bytes, alignment, stream):
   \code
   #include <itkCudaFiltersConfiguration.h>
   #include <rmm/aligned.hpp>
   #include <rmm/cuda_device.hpp>
   #include <rmm/cuda_stream_view.hpp>
   #include <rmm/mr/per_device_resource.hpp>

   void *
   AllocateFromRmm(size_t bytes, int device, void * stream, void *)
   {
     const rmm::cuda_stream_view view(static_cast<cudaStream_t>(stream));
     auto                        resource = rmm::mr::get_per_device_resource_ref(rmm::cuda_device_id{ device });
     return resource.allocate(view, bytes, rmm::CUDA_ALLOCATION_ALIGNMENT); // throws if memory has run out
   }

   void
   ReleaseToRmm(void * pointer, size_t bytes, int device, void * stream, void *)
   {
     const rmm::cuda_stream_view view(static_cast<cudaStream_t>(stream));
     auto                        resource = rmm::mr::get_per_device_resource_ref(rmm::cuda_device_id{ device });
     resource.deallocate(view, pointer, bytes, rmm::CUDA_ALLOCATION_ALIGNMENT);
   }

   int
   main()
   {
     itk::CudaFiltersConfiguration::SetDeviceMemoryResource(AllocateFromRmm, ReleaseToRmm);
     // Run filters.
   }
   \endcode
 *
 * An example with PyTorch's caching allocator, which allocates on the current device:
   \code
   #include <c10/cuda/CUDACachingAllocator.h>
   #include <itkCudaFiltersConfiguration.h>

   void *
   AllocateFromTorch(size_t bytes, int, void * stream, void *)
   {
     return c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(bytes, static_cast<cudaStream_t>(stream));
   }

   void
   ReleaseToTorch(void * pointer, size_t, int, void *, void *)
   {
     c10::cuda::CUDACachingAllocator::raw_delete(pointer);
   }

   int
   main()
   {
     itk::CudaFiltersConfiguration::SetDeviceMemoryResource(AllocateFromTorch, ReleaseToTorch);
     // Run filters.
   }
   \endcode
 *
 * \ingroup CudaFilters
 */
struct CudaDeviceMemoryResource
{
  static constexpr size_t Alignment = 256; // of every buffer, in bytes

  CudaAllocateFunction Allocate{ nullptr }; // nullptr: the pool of the module
  CudaReleaseFunction  Release{ nullptr };  // releases what Allocate returned
  void *               Context{ nullptr };  // passed to both functions
};

inline bool
operator==(const CudaDeviceMemoryResource & a, const CudaDeviceMemoryResource & b)
{
  return a.Allocate == b.Allocate && a.Release == b.Release && a.Context == b.Context;
}

inline bool
operator!=(const CudaDeviceMemoryResource & a, const CudaDeviceMemoryResource & b)
{
  return !(a == b);
}
} // end namespace itk

#endif
