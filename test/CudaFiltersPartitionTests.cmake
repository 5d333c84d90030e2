# Tests of the partition into regions.
set(CudaFilters_PARTITION_GTESTS
    itkCudaPartitionEstimatesGTest.cxx
    itkCudaPartitionGeometryGTest.cxx
    itkCudaPartitionLabelsGTest.cxx
    itkCudaPartitionMapGTest.cxx
    itkCudaPartitionModelGTest.cxx
    itkCudaPartitionRefinementGTest.cxx
    itkCudaPartitionSummaryGTest.cxx
    itkCudaPartitionTreeGTest.cxx
    itkCudaRegionPartitionEngineGTest.cxx
    itkCudaRegionPartitionGTest.cxx)

if(COMMAND cudafilters_add_gtests)
  cudafilters_add_gtests(CudaFiltersPartitionGTestDriver SOURCES ${CudaFilters_PARTITION_GTESTS})
  target_include_directories(
    CudaFiltersPartitionGTestDriver PRIVATE ${CudaFilters_SOURCE_DIR}/src/region ${CudaFilters_SOURCE_DIR}/src/partition)
  # The tests compare bits of what the library's headers compute here with what they computed there.
  target_compile_options(CudaFiltersPartitionGTestDriver
                         PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU,Clang>>:-ffp-contract=off>")
endif()
