// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_HostDevice_h
#define CudaFilters_runtime_HostDevice_h

// This is the only header that checks whether nvcc compiles the file.
// ITK_CUDA_HOST_DEVICE compiles a function for the host and for the device.
// ITK_CUDA_NOINLINE keeps a function out of its callers, on the host and on the device.
// ITK_CUDA_UNROLL unrolls a loop on the device. An array stays in registers only if no runtime variable indexes it.
#ifdef __CUDACC__
#  define ITK_CUDA_HOST_DEVICE __host__ __device__
#  define ITK_CUDA_NOINLINE __noinline__
#else
#  define ITK_CUDA_HOST_DEVICE
#  define ITK_CUDA_NOINLINE __attribute__((noinline))
#endif

#ifdef __CUDA_ARCH__
#  define ITK_CUDA_UNROLL _Pragma("unroll")
#else
#  define ITK_CUDA_UNROLL
#endif

#endif
