# Sources of measures over several scales, relative to src/: chains of the Gaussian filters and of pointwise/, whose options hold.
list(APPEND CudaFilters_SRCS multiscale/itkCudaMultiScaleHost.cxx)
set_source_files_properties(multiscale/itkCudaMultiScaleHost.cxx PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
if(CudaFilters_USE_CUDA)
  list(APPEND CudaFilters_SRCS multiscale/itkCudaMultiScaleEngine.cxx)
else()
  list(APPEND CudaFilters_SRCS multiscale/itkCudaMultiScaleCudaDisabled.cxx)
endif()
