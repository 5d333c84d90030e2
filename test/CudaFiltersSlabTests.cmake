# Slabs on logical devices, and their transfers, without a GPU: threads stand for streams, and the host's steps for kernels. The
# program has its own copy of what it tests, and links no library that has the real ones. Tests of transfers are those of the GPU.
set(libraries ${CudaFilters_TEST_LIBRARIES})
list(REMOVE_ITEM libraries CudaFilters)
set(sources
    gaussian/itkCudaGaussianColumns.cxx
    gaussian/itkCudaGaussianContinuedSlabs.cxx
    gaussian/itkCudaGaussianEnums.cxx
    gaussian/itkCudaGaussianHost.cxx
    gaussian/itkCudaGaussianPlan.cxx
    gaussian/itkCudaGaussianPlanParts.cxx
    gaussian/itkCudaGaussianSchedule.cxx
    gaussian/itkCudaGaussianSlabs.cxx
    gaussian/itkCudaGaussianSlabsEngine.cxx
    gaussian/itkCudaGaussianSlabsHost.cxx
    runtime/itkCudaDeviceView.cxx
    runtime/itkCudaDownloadSequence.cxx
    runtime/itkCudaError.cxx
    runtime/itkCudaFaultHook.cxx
    runtime/itkCudaFiltersEnums.cxx
    runtime/itkCudaHelperThreads.cxx
    runtime/itkCudaHostPages.cxx
    runtime/itkCudaImageView.cxx
    runtime/itkCudaPinnedTransfer.cxx
    runtime/itkCudaProcessLimits.cxx
    runtime/itkCudaSettings.cxx
    runtime/itkCudaSlabReport.cxx
    runtime/itkCudaSlabStream.cxx
    runtime/itkCudaStagedInSlices.cxx
    runtime/itkCudaStagedPerThread.cxx
    runtime/itkCudaStagedTransfer.cxx
    runtime/itkCudaStagingChunks.cxx
    runtime/itkCudaStridedByteStream.cxx
    runtime/itkCudaTransfer.cxx
    runtime/itkCudaTransferCounts.cxx
    runtime/itkCudaTransferJob.cxx
    runtime/itkCudaTransferLayout.cxx
    runtime/itkCudaTransferThreads.cxx
    runtime/itkCudaUploadSequence.cxx)
list(TRANSFORM sources PREPEND ${CudaFilters_SOURCE_DIR}/src/)
add_executable(CudaFiltersSlabFakesGTestDriver itkCudaDownloadSequenceGTest.cxx itkCudaHelperThreadsGTest.cxx
                                               itkCudaSlabFakes.cxx itkCudaSlabFakesGTest.cxx
                                               itkCudaTransferGTest.cxx itkCudaUploadSequenceGTest.cxx
                                               ${sources})
target_link_libraries(CudaFiltersSlabFakesGTestDriver PRIVATE ${libraries} ${CudaFilters_GTEST_LIBRARIES})
target_include_directories(
  CudaFiltersSlabFakesGTestDriver
  PRIVATE ${CudaFilters_SOURCE_DIR}/include ${CudaFilters_BINARY_DIR}/include ${CudaFilters_SOURCE_DIR}/src
          ${CudaFilters_SOURCE_DIR}/src/runtime ${CudaFilters_SOURCE_DIR}/src/gaussian ${CudaFilters_SOURCE_DIR}/test)
target_include_directories(CudaFiltersSlabFakesGTestDriver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
cudafilters_set_options(CudaFiltersSlabFakesGTestDriver)
# The random cases run for a minute here, and for some seconds elsewhere. Some tests have the names of those on the GPU.
gtest_discover_tests(
  CudaFiltersSlabFakesGTestDriver
  TEST_PREFIX WithoutGpu.
  DISCOVERY_TIMEOUT 120
  PROPERTIES TIMEOUT 600 ENVIRONMENT ITK_CUDAFILTERS_FUZZ_SECONDS=60)
