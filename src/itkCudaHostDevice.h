// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostDevice_h
#define itkCudaHostDevice_h

// The one place that knows whether nvcc reads the file: functions marked so are compiled for the host and for the
// device, and loops marked so are unrolled on the device, where an array must not be indexed by a variable to stay in
// registers. Before a template that is marked for both comes ITK_CUDA_AS_ARGUMENTS where it runs on either as its
// arguments do, which may be for one of them alone.
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
