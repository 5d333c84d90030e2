# Sources of chains of the Gaussian filters and of pointwise/, whose options hold, relative to src/: measures over several scales, and
# structure tensors.
list(APPEND CudaFilters_SRCS multiscale/itkCudaMultiScaleHost.cxx multiscale/itkCudaMultiScalePlan.cxx
     multiscale/itkCudaStructureTensorHost.cxx multiscale/itkCudaStructureTensorPlan.cxx multiscale/itkCudaVesselnessEnums.cxx)
set_source_files_properties(multiscale/itkCudaMultiScaleHost.cxx multiscale/itkCudaStructureTensorHost.cxx
                            PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
if(CudaFilters_USE_CUDA)
  list(APPEND CudaFilters_SRCS multiscale/itkCudaMultiScaleDevice.cxx multiscale/itkCudaMultiScaleEngine.cxx
       multiscale/itkCudaStructureTensorEngine.cxx)
else()
  list(APPEND CudaFilters_SRCS multiscale/itkCudaMultiScaleCudaDisabled.cxx multiscale/itkCudaStructureTensorCudaDisabled.cxx)
endif()
