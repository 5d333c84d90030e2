# Tests of the partition into regions.
set(CudaFilters_PARTITION_GTESTS
    partition/itkCudaPartitionEstimatesGTest.cxx
    partition/itkCudaPartitionGeometryGTest.cxx
    partition/itkCudaPartitionExecutorGTest.cxx
    partition/itkCudaPartitionLabelsGTest.cxx
    partition/itkCudaPartitionMapVerify.cxx
    partition/itkCudaPartitionMapGTest.cxx
    partition/itkCudaPartitionScenesGTest.cxx
    partition/itkCudaPartitionTreeGTest.cxx
    partition/itkCudaRegionPartitionGTest.cxx
    partition/itkCudaRegionPartitionImageFilterGTest.cxx)
# Units of what is only there in a build with CUDA.
set(CudaFilters_PARTITION_CUDA_GTESTS partition/itkCudaPartitionDeviceGTest.cxx partition/itkCudaPartitionDevicePrimitivesGTest.cxx)

if(COMMAND cudafilters_add_gtests)
  cudafilters_add_gtests(CudaFiltersPartitionGTestDriver SOURCES ${CudaFilters_PARTITION_GTESTS} scenes/itkCudaFieldScene.cxx)
  target_include_directories(CudaFiltersPartitionGTestDriver PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/scenes)
  target_compile_definitions(CudaFiltersPartitionGTestDriver
                             PRIVATE CUDAFILTERS_EXAMPLE_DATA="${CudaFilters_SOURCE_DIR}/examples/data")
  # The tests compare bits of what the library's headers compute here with what they computed there.
  target_compile_options(CudaFiltersPartitionGTestDriver
                         PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU,Clang>>:-ffp-contract=off>")
  if(CudaFilters_USE_CUDA)
    target_sources(CudaFiltersPartitionGTestDriver PRIVATE ${CudaFilters_PARTITION_CUDA_GTESTS}
                                                          partition/itkCudaPartitionDevicePrimitives.cu)
    # Visible functions of this file would replace the library's, and launch kernels that only the program has.
    set_source_files_properties(partition/itkCudaPartitionDevicePrimitives.cu PROPERTIES COMPILE_OPTIONS
                                "-Xcompiler=-fvisibility=hidden;-diag-suppress=20011,20013,20014")
    target_include_directories(CudaFiltersPartitionGTestDriver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(CudaFiltersPartitionGTestDriver PRIVATE CUDA::cudart_static)
  endif()
endif()
