# Tests of the region snake. Sources of GoogleTest programs, and the library of synthetic scenes that they and the benchmarks share.
set(CudaFilters_SNAKE_GTESTS
    itkCudaRegionSnakeEngineGTest.cxx
    itkCudaRegionSnakeImageFilterGTest.cxx
    itkCudaSnakeLatticeGTest.cxx
    itkCudaSnakeLawsGTest.cxx)
# Label slow.
set(CudaFilters_SNAKE_SLOW_GTESTS itkCudaRegionSnakeQualityGTest.cxx)
set(CudaFilters_SNAKE_SCENE_SRCS scenes/itkCudaSnakeScene.cxx)
