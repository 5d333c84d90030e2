# What holds for every filter: the table of filters, the contract suite, and how the filters behave against ITK's own classes.
set(CudaFilters_FILTER_TABLE_SOURCES
    contract/itkCudaDeviceCalls.cxx
    contract/itkCudaFilterTable.cxx
    semantics/itkCudaSemanticsKinds.cxx
    semantics/itkCudaSemanticsScene.cxx
    stress/itkCudaStressCase.cxx
    stress/itkCudaStressChains.cxx
    stress/itkCudaStressDerivatives.cxx
    stress/itkCudaStressDetection.cxx
    stress/itkCudaStressOthers.cxx
    stress/itkCudaStressPartition.cxx
    stress/itkCudaStressRecursive.cxx
    stress/itkCudaStressSnake.cxx
    stress/itkCudaStressTensors.cxx)
# The contract suite, the semantics suite and the stress program share these objects.
add_library(CudaFiltersFilterTable OBJECT ${CudaFilters_FILTER_TABLE_SOURCES})
target_link_libraries(CudaFiltersFilterTable PRIVATE ${CudaFilters_TEST_LIBRARIES})
target_include_directories(CudaFiltersFilterTable PRIVATE ${CudaFilters_SOURCE_DIR}/src ${CudaFilters_SOURCE_DIR}/test)
# In a debug build ITK's iterators end the process by an assertion where they throw otherwise.
target_compile_definitions(CudaFiltersFilterTable PRIVATE NDEBUG)
cudafilters_set_options(CudaFiltersFilterTable)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees the directions of itk::NeighborhoodOperator leave the array, which they do not.
  set_source_files_properties(contract/itkCudaDeviceCalls.cxx semantics/itkCudaSemanticsKinds.cxx stress/itkCudaStressChains.cxx
                              stress/itkCudaStressOthers.cxx
                              PROPERTIES COMPILE_OPTIONS -Wno-array-bounds)
endif()

cudafilters_add_gtests(CudaFiltersContractGTestDriver SOURCES contract/itkCudaContractGTest.cxx
                       contract/itkCudaContractProperties.cxx contract/itkCudaDeviceProperties.cxx)
target_link_libraries(CudaFiltersContractGTestDriver PRIVATE CudaFiltersFilterTable)
# Fails if a property is checked for no case of a filter, and no reason is given.
add_test(NAME CudaFiltersContractMatrix COMMAND CudaFiltersContractGTestDriver --matrix)

cudafilters_add_gtests(CudaFiltersSemanticsGTestDriver SOURCES semantics/itkCudaFiltersSemanticsGTest.cxx
                       semantics/itkCudaSemanticsCases.cxx)
target_compile_definitions(CudaFiltersSemanticsGTestDriver PRIVATE NDEBUG)
target_link_libraries(CudaFiltersSemanticsGTestDriver PRIVATE CudaFiltersFilterTable)
