# The tests, for both builds. Units whose name contains Slow or Gpu, or ends in the parameter Cuda, get the label slow or gpu.

# Units that need no CUDA header: public classes, host code of the rooms.
set(CudaFilters_GTESTS itkCudaErrorGTest.cxx itkCudaFiltersConfigurationGTest.cxx itkCudaPixelContainerGTest.cxx)
# Units of what is only there in a build with CUDA; without a GPU they are skipped.
set(CudaFilters_CUDA_GTESTS itkCudaGaussianLinePassGTest.cxx)
# Whole filters on files: itkCudaXTest.cxx with int itkCudaXTest(int, char *[]), registered below.
set(CudaFilters_DRIVER_TESTS)

cudafilters_add_header_test()
cudafilters_add_consumer_test()

if(CudaFilters_GTESTS)
  cudafilters_add_gtests(CudaFiltersGTestDriver ${CudaFilters_GTESTS})
endif()

if(CudaFilters_USE_CUDA)
  cudafilters_add_gtests(CudaFiltersCudaGTestDriver ${CudaFilters_CUDA_GTESTS})
  target_include_directories(CudaFiltersCudaGTestDriver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(CudaFiltersCudaGTestDriver PRIVATE CUDA::cudart_static)
endif()

if(CudaFilters_DRIVER_TESTS)
  cudafilters_add_driver(CudaFiltersTestDriver ${CudaFilters_DRIVER_TESTS})
endif()
