# Sources of the region snake. The room promises the same bits on the host and on the device, so nothing there may be fused or reordered.
set(CudaFilters_SNAKE_SRCS
    snake/itkCudaRegionSnakeEngine.cxx
    snake/itkCudaRegionSnakeEnums.cxx
    snake/itkCudaSnakeGeometry.cxx
    snake/itkCudaSnakeHost.cxx
    snake/itkCudaSnakePlan.cxx
    snake/itkCudaSnakeSamples.cxx
    snake/itkCudaSnakeStart.cxx
    snake/itkCudaSnakeTables.cxx)
if(CudaFilters_USE_CUDA)
  list(APPEND CudaFilters_SNAKE_SRCS snake/itkCudaRegionSnakeDevice.cxx snake/itkCudaSnakeCuda.cu)
else()
  list(APPEND CudaFilters_SNAKE_SRCS snake/itkCudaRegionSnakeCudaDisabled.cxx)
endif()
list(APPEND CudaFilters_SRCS ${CudaFilters_SNAKE_SRCS})

include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-ffp-contract=off CudaFilters_HAVE_FP_CONTRACT_OFF)
foreach(source ${CudaFilters_SNAKE_SRCS})
  if(CudaFilters_HAVE_FP_CONTRACT_OFF)
    set_property(
      SOURCE ${source}
      APPEND
      PROPERTY COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>"
               "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>")
  endif()
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>")
endforeach()
