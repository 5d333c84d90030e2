// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostDevice_h
#define itkCudaHostDevice_h

// The one place that knows whether nvcc reads the file: functions marked so are compiled for the host and for the
// device.
#ifdef __CUDACC__
#  define ITK_CUDA_HOST_DEVICE __host__ __device__
#else
#  define ITK_CUDA_HOST_DEVICE
#endif

#endif
