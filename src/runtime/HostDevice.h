// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_HostDevice_h
#define CudaFilters_runtime_HostDevice_h

// The one place that knows whether nvcc reads the file.
// ITK_CUDA_HOST_DEVICE: the function is compiled for the host and for the device.
// ITK_CUDA_AS_ARGUMENTS, before such a template: it runs where its arguments can, which may be on one of them alone.
// ITK_CUDA_UNROLL: the loop is unrolled on the device, where an array must not be indexed by a variable to stay in
// registers.
#ifdef __CUDACC__
#  define ITK_CUDA_HOST_DEVICE __host__ __device__
#  define ITK_CUDA_AS_ARGUMENTS _Pragma("nv_exec_check_disable")
#else
#  define ITK_CUDA_HOST_DEVICE
#  define ITK_CUDA_AS_ARGUMENTS
#endif

#ifdef __CUDA_ARCH__
#  define ITK_CUDA_UNROLL _Pragma("unroll")
#else
#  define ITK_CUDA_UNROLL
#endif

#endif
