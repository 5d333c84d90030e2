# The tests that scripts/thread-sanitizer.sh runs: the stress program, and the files with units of several threads.
include(CudaFiltersSnakeTests.cmake)
include(CudaFiltersStressTests.cmake)
cudafilters_add_gtests(
  CudaFiltersThreadsGTestDriver
  SOURCES
  runtime/itkCudaMemoryGateGTest.cxx
  slabs/itkCudaSlabPipelineGTest.cxx
  slabs/itkCudaSlabSessionGTest.cxx
  runtime/itkCudaPixelContainerGTest.cxx)
# Of ITK's test kernel the units need a header alone.
target_include_directories(CudaFiltersThreadsGTestDriver SYSTEM PRIVATE ${ITK_CMAKE_DIR}/../Modules/Core/TestKernel/include)
