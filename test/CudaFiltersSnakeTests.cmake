# Tests of the region snake, and the synthetic scenes that they and the benchmarks share.
set(CudaFilters_SNAKE_SCENE_SRCS scenes/itkCudaSnakeScene.cxx)
# Units whose name contains Slow or Gpu have that label.
set(CudaFilters_SNAKE_GTESTS
    snake/itkCudaRegionSnakeBatchGTest.cxx
    snake/itkCudaRegionSnakeEngineGTest.cxx
    snake/itkCudaRegionSnakeImageFilterGTest.cxx
    snake/itkCudaRegionSnakeQualityGTest.cxx
    snake/itkCudaSnakeImageGTest.cxx
    snake/itkCudaSnakeLatticeGTest.cxx
    snake/itkCudaSnakeLawsGTest.cxx
    snake/itkCudaSnakeLongSumsGTest.cxx
    snake/itkCudaSnakePhasesGTest.cxx)
# Units of what is only there in a build with CUDA.
set(CudaFilters_SNAKE_CUDA_GTESTS
    snake/itkCudaDeviceRegionSnakeDeviceGTest.cxx
    snake/itkCudaRegionSnakeGridGTest.cxx
    snake/itkCudaSnakeDeviceImageGTest.cxx
    snake/itkCudaSnakeDeviceLabelsGTest.cxx
    snake/itkCudaSnakeDeviceSamplesGTest.cxx)

if(COMMAND cudafilters_add_gtests)
  cudafilters_add_gtests(CudaFiltersSnakeGTestDriver SOURCES ${CudaFilters_SNAKE_GTESTS} ${CudaFilters_SNAKE_SCENE_SRCS})
  target_include_directories(CudaFiltersSnakeGTestDriver PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/scenes)
  # The tests compare bits of what the library's headers compute here with what they computed there.
  target_compile_options(
    CudaFiltersSnakeGTestDriver
    PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU,Clang>>:-ffp-contract=off>"
            "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>")
  if(CudaFilters_USE_CUDA)
    target_sources(CudaFiltersSnakeGTestDriver PRIVATE ${CudaFilters_SNAKE_CUDA_GTESTS})
    target_include_directories(CudaFiltersSnakeGTestDriver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(CudaFiltersSnakeGTestDriver PRIVATE CUDA::cudart_static)
  endif()
endif()
