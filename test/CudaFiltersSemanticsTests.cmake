# How the filters behave in a pipeline, against ITK's own classes.
set(sources itkCudaFiltersSemanticsGTest.cxx itkCudaSemanticsCases.cxx itkCudaSemanticsKinds.cxx itkCudaSemanticsScene.cxx)
list(TRANSFORM sources PREPEND semantics/)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees the directions of itk::NeighborhoodOperator leave the array, which they do not.
  set_source_files_properties(semantics/itkCudaSemanticsKinds.cxx PROPERTIES COMPILE_OPTIONS -Wno-array-bounds)
endif()
cudafilters_add_gtests(CudaFiltersSemanticsGTestDriver SOURCES ${sources})
# In a debug build ITK's iterators end the process by an assertion where they throw otherwise.
target_compile_definitions(CudaFiltersSemanticsGTestDriver PRIVATE NDEBUG)
