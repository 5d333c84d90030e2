# Sources of what is computed from each pixel alone, relative to src/. The host and the device give the same bits: no contraction.
list(APPEND CudaFilters_SRCS pointwise/itkCudaTensorHost.cxx pointwise/itkCudaTensorPlan.cxx)
set_source_files_properties(pointwise/itkCudaTensorHost.cxx PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
if(CudaFilters_USE_CUDA)
  list(APPEND CudaFilters_SRCS pointwise/itkCudaTensorCuda.cu pointwise/itkCudaTensorEngine.cxx)
  set_source_files_properties(pointwise/itkCudaTensorCuda.cu PROPERTIES COMPILE_OPTIONS --fmad=false)
else()
  list(APPEND CudaFilters_SRCS pointwise/itkCudaTensorCudaDisabled.cxx)
endif()
