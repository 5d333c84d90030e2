# Tests of a partition's polygons.
set(CudaFilters_PARTITION_MAP_GTESTS itkCudaPartitionGeometryGTest.cxx itkCudaPartitionMapGTest.cxx
                                     itkCudaPartitionRefinementGTest.cxx itkCudaPartitionSummaryGTest.cxx)

if(COMMAND cudafilters_add_gtests)
  cudafilters_add_gtests(CudaFiltersPartitionMapGTestDriver SOURCES ${CudaFilters_PARTITION_MAP_GTESTS})
  target_include_directories(CudaFiltersPartitionMapGTestDriver PRIVATE ${CudaFilters_SOURCE_DIR}/src/region
                                                                        ${CudaFilters_SOURCE_DIR}/src/partition)
  # The tests compare bits of what the library's headers compute here with what they computed there.
  target_compile_options(CudaFiltersPartitionMapGTestDriver PRIVATE "$<$<CXX_COMPILER_ID:GNU,Clang>:-ffp-contract=off>")
endif()
