# Sources of the region snake.
set(CudaFilters_SNAKE_SRCS
    snake/itkCudaRegionSnakeEngine.cxx
    snake/itkCudaRegionSnakeEnums.cxx
    snake/itkCudaSnakeGeometry.cxx
    snake/itkCudaSnakeHost.cxx
    snake/itkCudaSnakeHostBackend.cxx
    snake/itkCudaSnakeImage.cxx
    snake/itkCudaSnakePlan.cxx
    snake/itkCudaSnakeRectangles.cxx
    snake/itkCudaSnakeRun.cxx
    snake/itkCudaSnakeStart.cxx)
if(CudaFilters_USE_CUDA)
  list(APPEND CudaFilters_SNAKE_SRCS snake/itkCudaRegionSnakeDevice.cxx snake/itkCudaSnakeCuda.cu snake/itkCudaSnakeDeviceImage.cxx
       snake/itkCudaSnakeDeviceLabels.cu)
else()
  list(APPEND CudaFilters_SNAKE_SRCS snake/itkCudaRegionSnakeCudaDisabled.cxx)
endif()
cudafilters_add_region_sources(${CudaFilters_SNAKE_SRCS})
