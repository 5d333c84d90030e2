# Slabs on logical devices, their transfers and the memory of devices without a GPU: the CUDA runtime is one whose streams are
# threads, and the host's steps stand for kernels. The program has its own copy of what it tests, and links no library that has the
# real ones. Tests of transfers and of the runtime are those of the GPU.
set(libraries ${CudaFilters_TEST_LIBRARIES})
list(REMOVE_ITEM libraries CudaFilters)
set(sources
    gaussian/host/Host.cxx
    gaussian/masked/MaskedHost.cxx
    gaussian/plan/Plan.cxx
    gaussian/plan/Schedule.cxx
    gaussian/slabs/BoundaryPadding.cxx
    gaussian/slabs/GaussianSlabRun.cxx
    gaussian/slabs/HostSlabRun.cxx
    gaussian/slabs/SplitPlan.cxx
    gaussian/slabs/Slabs.cxx
    gaussian/slabs/DeviceSlabRun.cxx
    gaussian/slabs/LinesThenPlanes.cxx
    runtime/device/Call.cxx
    runtime/device/Device.cxx
    runtime/Enums.cxx
    runtime/device/Error.cxx
    runtime/device/FaultHook.cxx
    runtime/device/Stream.cxx
    runtime/Process.cxx
    runtime/ProcessLimits.cxx
    runtime/image/DeviceView.cxx
    runtime/image/ImageView.cxx
    runtime/memory/DeviceImage.cxx
    runtime/memory/DeviceImageMemory.cxx
    runtime/memory/DeviceMemory.cxx
    runtime/memory/HostMemoryPool.cxx
    runtime/memory/PinnedMemory.cxx
    runtime/run/Configuration.cxx
    runtime/run/Operation.cxx
    runtime/run/Parts.cxx
    runtime/run/ResidentSlabs.cxx
    runtime/run/SlabPipeline.cxx
    runtime/run/SlabReport.cxx
    runtime/transfer/HelperThreads.cxx
    runtime/transfer/StagingMemory.cxx
    runtime/transfer/StridedBytes.cxx
    runtime/transfer/Transfer.cxx
    runtime/transfer/TransferJob.cxx
    runtime/transfer/TransferPolicy.cxx
    runtime/transfer/TransferQueue.cxx)
list(TRANSFORM sources PREPEND ${CudaFilters_SOURCE_DIR}/src/)
add_executable(CudaFiltersSlabFakesGTestDriver runtime/itkCudaHelperThreadsGTest.cxx runtime/itkCudaRuntimeGTest.cxx
                                               support/itkCudaFakeCuda.cxx support/itkCudaSlabFakes.cxx slabs/itkCudaSlabFakesGTest.cxx
                                               slabs/itkCudaSlabRunsGTest.cxx
                                               runtime/itkCudaTransferGTest.cxx runtime/itkCudaTransferQueueGTest.cxx
                                               ${sources})
target_link_libraries(CudaFiltersSlabFakesGTestDriver PRIVATE ${libraries} ${CudaFilters_GTEST_LIBRARIES})
target_include_directories(
  CudaFiltersSlabFakesGTestDriver
  PRIVATE ${CudaFilters_SOURCE_DIR}/include ${CudaFilters_BINARY_DIR}/include ${CudaFilters_SOURCE_DIR}/src
          ${CudaFilters_SOURCE_DIR}/test)
target_include_directories(CudaFiltersSlabFakesGTestDriver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
cudafilters_set_options(CudaFiltersSlabFakesGTestDriver)
# The random cases run for a minute here, and for some seconds elsewhere. Some tests have the names of those on the GPU.
gtest_discover_tests(
  CudaFiltersSlabFakesGTestDriver
  TEST_PREFIX WithoutGpu.
  DISCOVERY_TIMEOUT 120
  PROPERTIES TIMEOUT 600 LABELS cuda ENVIRONMENT ITK_CUDAFILTERS_FUZZ_SECONDS=60)
