# Sources of what is computed from each pixel alone, and of sums over pixels, relative to src/. The host and the device give the same
# bits: no contraction.
list(APPEND CudaFilters_SRCS pointwise/itkCudaStatisticsHost.cxx pointwise/itkCudaTensorHost.cxx pointwise/itkCudaTensorPlan.cxx)
set_source_files_properties(pointwise/itkCudaStatisticsHost.cxx pointwise/itkCudaTensorHost.cxx PROPERTIES COMPILE_OPTIONS
                                                                                                           -ffp-contract=off)
if(CudaFilters_USE_CUDA)
  set(kernels pointwise/itkCudaStatisticsCuda.cu pointwise/itkCudaStructureTensorCuda.cu pointwise/itkCudaTensorCuda.cu)
  list(APPEND CudaFilters_SRCS ${kernels} pointwise/itkCudaTensorEngine.cxx)
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS --fmad=false)
else()
  list(APPEND CudaFilters_SRCS pointwise/itkCudaStatisticsCudaDisabled.cxx pointwise/itkCudaTensorCudaDisabled.cxx)
endif()
