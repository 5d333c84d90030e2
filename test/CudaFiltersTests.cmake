# The tests, for all builds. Units whose name contains Slow or Gpu, or ends in the parameter Cuda, get the label slow or gpu; so do
# all that need CUDA's headers. Those with the label cuda need no GPU, but differ in a build with CUDA.

# Units that need no CUDA header: public classes, host code of the rooms.
set(CudaFilters_GTESTS
    device_images/itkCudaDeviceFilterParametersGTest.cxx
    device_images/itkCudaDeviceImageGTest.cxx
    runtime/itkCudaFiltersConfigurationGTest.cxx
    runtime/itkCudaForkGTest.cxx
    gaussian/itkCudaGaussianEdgesGTest.cxx
    gaussian/itkCudaGaussianFiltersGTest.cxx
    gaussian/itkCudaGaussianLargeImageGTest.cxx
    gaussian/itkCudaGaussianLineGTest.cxx
    gaussian/itkCudaGaussianMaskGTest.cxx
    gaussian/itkCudaGaussianPixelTypesGTest.cxx
    gaussian/itkCudaGaussianPlanGTest.cxx
    gaussian/itkCudaGaussianPlanRunGTest.cxx
    slabs/itkCudaGaussianHostChunksGTest.cxx
    gaussian/itkCudaGaussianRefusalGTest.cxx
    gaussian/itkCudaGaussianScheduleGTest.cxx
    slabs/itkCudaGaussianSlabsGTest.cxx
    gaussian/itkCudaGaussianTestUtilitiesGTest.cxx
    device_images/itkCudaKeepOnDeviceGTest.cxx
    runtime/itkCudaMemoryGateGTest.cxx
    slabs/itkCudaSlabPipelineGTest.cxx
    slabs/itkCudaSlabPlansGTest.cxx
    slabs/itkCudaSlabRunsGTest.cxx
    slabs/itkCudaSlabSessionGTest.cxx
    runtime/itkCudaStridedBytesGTest.cxx
    gaussian/itkCudaGaussianThreadsGTest.cxx
    gaussian/itkCudaNonFinitePixelsGTest.cxx
    gaussian/itkCudaParametersGTest.cxx
    runtime/itkCudaPixelContainerGTest.cxx
    runtime/itkCudaPixelMappingGTest.cxx
    runtime/itkCudaProcessLimitsGTest.cxx
    device_images/itkCudaUploadDownloadGTest.cxx
    runtime/itkCudaWorkScopeGTest.cxx)
# Units of what is only there in a build with CUDA; without a GPU they are skipped.
set(CudaFilters_CUDA_GTESTS
    device_images/itkCudaArrayPassesGTest.cxx
    runtime/itkCudaContextGTest.cxx
    device_images/itkCudaDeviceBitsGTest.cxx
    device_images/itkCudaDeviceImageMemoryGTest.cxx
    runtime/itkCudaDeviceMemoryPeakGTest.cxx
    runtime/itkCudaDeviceMemoryResourceGTest.cxx
    device_images/itkCudaDevicePipelineGTest.cxx
    runtime/itkCudaDeviceTransferGTest.cxx
    runtime/itkCudaFaultGTest.cxx
    gaussian/itkCudaGaussianFaultWalkGTest.cxx
    gaussian/itkCudaGaussianKernelTimeoutGTest.cxx
    gaussian/itkCudaGaussianLinePassGTest.cxx
    slabs/itkCudaGaussianSlabsDeviceGTest.cxx
    slabs/itkCudaSlabRunsGTest.cxx
    device_images/itkCudaKeepOnDeviceDeviceGTest.cxx
    runtime/itkCudaRuntimeGTest.cxx
    runtime/itkCudaStickyErrorGTest.cxx
    runtime/itkCudaTransferGTest.cxx
    runtime/itkCudaTransferQueueGTest.cxx
    runtime/itkCudaWorkingSetGTest.cxx)
# Whole filters on files: itkCudaXTest.cxx with int itkCudaXTest(int, char *[]), registered below.
set(CudaFilters_DRIVER_TESTS
    itkCudaGaussianIntegerImageTest.cxx
    itkCudaRecursiveGaussianImageFilterTest.cxx
    itkCudaSmoothingRecursiveGaussianImageFilterTest.cxx)
include(CudaFiltersDiscreteGaussianTests.cmake)
include(CudaFiltersFactoryTests.cmake)
include(CudaFiltersPartitionedTests.cmake)
include(CudaFiltersPointwiseTests.cmake)

include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersSnakeTests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersPartitionTests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersDetectionTests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersFuzzTests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersContractTests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersStressTests.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersStreamingTests.cmake)
if(NOT CudaFilters_USE_CUDA)
  # The headers are the same in a build with CUDA.
  include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersHostUseTests.cmake)
endif()

cudafilters_check_all_listed(${CudaFilters_GTESTS} ${CudaFilters_CUDA_GTESTS} ${CudaFilters_DRIVER_TESTS}
                             ${CudaFilters_SNAKE_GTESTS} ${CudaFilters_SNAKE_CUDA_GTESTS} ${CudaFilters_PARTITION_GTESTS}
                             ${CudaFilters_PARTITION_CUDA_GTESTS} ${CudaFilters_DETECTION_GTESTS} ${CudaFilters_DETECTION_CUDA_GTESTS} ${CudaFilters_STREAMING_SOURCES}
                             ${CudaFilters_OVERRIDE_GTESTS} ${CudaFilters_FUZZ_GTESTS} contract/itkCudaContractGTest.cxx runtime/itkCudaHelperThreadsGTest.cxx slabs/itkCudaSlabFakesGTest.cxx)

include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersExitTest.cmake)
cudafilters_add_factory_program_tests()

cudafilters_add_header_test()
cudafilters_add_consumer_test()

# The constants of Approximation = Accurate are those of their table, and reach what docs/developer/numerics.md states; 77: no numpy.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_test(NAME CudaGaussianExponentials COMMAND ${Python3_EXECUTABLE} ${CudaFilters_SOURCE_DIR}/tools/fit_gaussian_exponentials.py
                                                 --check)
  set_tests_properties(CudaGaussianExponentials PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
  add_test(NAME CudaFiltersCompareBenchmarks COMMAND ${Python3_EXECUTABLE} -B ${CudaFilters_SOURCE_DIR}/benchmarks/test_compare.py)
  set_tests_properties(CudaFiltersCompareBenchmarks PROPERTIES TIMEOUT 600)
  add_test(NAME CudaFiltersDeviceImageGoals COMMAND ${Python3_EXECUTABLE} -B
                                                     ${CudaFilters_SOURCE_DIR}/benchmarks/test_device_image_goals.py)
  set_tests_properties(CudaFiltersDeviceImageGoals PROPERTIES TIMEOUT 600)
  add_test(NAME CudaFiltersDeviceImageTraffic
           COMMAND ${Python3_EXECUTABLE} -B ${CudaFilters_SOURCE_DIR}/benchmarks/traffic/test_device_image_traffic.py)
  set_tests_properties(CudaFiltersDeviceImageTraffic PROPERTIES TIMEOUT 600)
  add_test(NAME CudaFiltersReport COMMAND ${Python3_EXECUTABLE} -B ${CudaFilters_SOURCE_DIR}/benchmarks/test_report.py)
  add_test(NAME CudaFiltersDocuments COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/test_documents.py)
  set_tests_properties(CudaFiltersDocuments PROPERTIES TIMEOUT 600)
  add_test(NAME CudaFiltersPublicNames COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/test_public_names.py)
  set_tests_properties(CudaFiltersPublicNames PROPERTIES TIMEOUT 600)
  add_test(NAME CudaFiltersCheckSources COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/test_check_sources.py)
  set_tests_properties(CudaFiltersCheckSources PROPERTIES TIMEOUT 600)
  add_test(NAME CudaFiltersSite COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/test_site.py)
  set_tests_properties(CudaFiltersSite PROPERTIES TIMEOUT 600)
  add_test(NAME CudaFiltersPictures COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/test_pictures.py)
  set_tests_properties(CudaFiltersPictures PROPERTIES TIMEOUT 600)
  if(ITK_SOURCE_DIR)
    file(GLOB itk_headers ${ITK_SOURCE_DIR}/Modules/*/*/include)
  else()
    set(itk_headers ${ITK_INCLUDE_DIRS})
  endif()
  add_test(NAME CudaFiltersItkSetters COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/test_itk_setters.py
                                              ${CudaFilters_SOURCE_DIR}/include ${itk_headers})
  # The defects that the tests catch can still be planted; run.py without arguments plants them, which takes too long for a test.
  add_test(NAME CudaFiltersMutations COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/mutations/run.py --check)
  add_test(NAME CudaFiltersScriptStages COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/test_script_stages.py)
  set_tests_properties(CudaFiltersScriptStages PROPERTIES TIMEOUT 600)
endif()

cudafilters_add_gtests(CudaFiltersGTestDriver SOURCES ${CudaFilters_GTESTS} support/itkCudaGaussianRunner.cxx)

if(CudaFilters_USE_CUDA)
  cudafilters_add_gtests(
    CudaFiltersCudaGTestDriver
    LABELS
    gpu
    SOURCES
    ${CudaFilters_CUDA_GTESTS}
    support/itkCudaStickyError.cu)
  target_include_directories(CudaFiltersCudaGTestDriver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(CudaFiltersCudaGTestDriver PRIVATE CUDA::cudart_static)
  include(${CMAKE_CURRENT_LIST_DIR}/CudaFiltersSlabTests.cmake)
endif()

cudafilters_add_driver(CudaFiltersTestDriver ${CudaFilters_DRIVER_TESTS})

# The baselines are what ITK's filter along one axis gives in float64. Tolerance: 1e-6 of the largest pixel value, 255.
foreach(backend host cuda)
  if(backend STREQUAL "cuda")
    set(name Gpu)
    set(labels gpu)
  else()
    set(name Host)
    set(labels)
  endif()
  # cudafilters_add_gaussian_test(test baseline arguments...): one whole filter on a file.
  function(cudafilters_add_gaussian_test test baseline)
    set(output ${ITK_TEST_OUTPUT_DIR}/${baseline}${name}.mha)
    cudafilters_add_driver_test(
      NAME
      ${test}${name}${baseline}
      LABELS
      ${labels}
      OPTIONS
      --compareIntensityTolerance
      2.5e-4
      COMPARE
      DATA{Baseline/${baseline}.mha}
      ${output}
      ARGUMENTS
      ${test}
      DATA{Input/BrainCrop.mha}
      ${output}
      ${backend}
      ${ARGN})
  endfunction()
  cudafilters_add_gaussian_test(itkCudaSmoothingRecursiveGaussianImageFilterTest Sigma2And3 2 3)
  cudafilters_add_gaussian_test(itkCudaRecursiveGaussianImageFilterTest Sigma2Direction0Order0 2 0 0)
  cudafilters_add_gaussian_test(itkCudaRecursiveGaussianImageFilterTest Sigma3Direction1Order1 3 1 1)
  cudafilters_add_gaussian_test(itkCudaRecursiveGaussianImageFilterTest Sigma1Direction1Order2 1 1 2)
  # cudafilters_add_gaussian_integer_test(baseline arguments...): truncation falls on the other side of a step where the float64 value is
  # within 1e-6 of 255 of it, in 5e-4 of the 24,000 pixels; twice as many may differ.
  function(cudafilters_add_gaussian_integer_test baseline)
    get_filename_component(extension ${baseline} LAST_EXT)
    get_filename_component(title ${baseline} NAME_WLE)
    set(output ${ITK_TEST_OUTPUT_DIR}/${title}${name}${extension})
    cudafilters_add_driver_test(
      NAME
      itkCudaGaussianIntegerImageTest${name}${title}
      LABELS
      ${labels}
      OPTIONS
      --compareIntensityTolerance
      0
      --compareNumberOfPixelsTolerance
      24
      COMPARE
      DATA{Baseline/${baseline}}
      ${output}
      ARGUMENTS
      itkCudaGaussianIntegerImageTest
      DATA{Input/SarFields.png}
      ${output}
      ${backend}
      ${ARGN})
  endfunction()
  cudafilters_add_gaussian_integer_test(SarSigma2.png 2)
  cudafilters_add_gaussian_integer_test(SarSigma3Direction0Order1.mha 3 0 1)
endforeach()
