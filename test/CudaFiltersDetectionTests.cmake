# Tests of the detection of targets.
set(CudaFilters_DETECTION_GTESTS
    detection/itkCudaConstantFalseAlarmRateImageFilterGTest.cxx
    detection/itkCudaDetectionGTest.cxx
    detection/itkCudaDetectionTailsGTest.cxx)

# Units of what is only there in a build with CUDA.
set(CudaFilters_DETECTION_CUDA_GTESTS detection/itkCudaDetectionDeviceGTest.cxx)

if(COMMAND cudafilters_add_gtests)
  cudafilters_add_gtests(CudaFiltersDetectionGTestDriver SOURCES ${CudaFilters_DETECTION_GTESTS})
  # The tests compare bits of what the library's headers compute here with what they computed there.
  target_compile_options(CudaFiltersDetectionGTestDriver
                         PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU,Clang>>:-ffp-contract=off>")
  if(CudaFilters_USE_CUDA)
    target_sources(CudaFiltersDetectionGTestDriver PRIVATE ${CudaFilters_DETECTION_CUDA_GTESTS})
    target_include_directories(CudaFiltersDetectionGTestDriver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(CudaFiltersDetectionGTestDriver PRIVATE CUDA::cudart_static)
  endif()
endif()
