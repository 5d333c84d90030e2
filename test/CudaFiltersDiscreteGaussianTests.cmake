# Tests of the discrete Gaussian.
list(APPEND CudaFilters_GTESTS gaussian/itkCudaDiscreteGaussianImageFilterGTest.cxx)
list(APPEND CudaFilters_CUDA_GTESTS gaussian/itkCudaGaussianFirDeviceGTest.cxx)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees the directions of itk::NeighborhoodOperator leave the array, which they do not.
  set_source_files_properties(device_images/itkCudaDeviceFilterParametersGTest.cxx device_images/itkCudaDeviceBitsGTest.cxx
                              device_images/itkCudaDevicePipelineGTest.cxx runtime/itkCudaDeviceMemoryPeakGTest.cxx
                              gaussian/itkCudaDiscreteGaussianImageFilterGTest.cxx gaussian/itkCudaGaussianFaultWalkGTest.cxx
                              device_images/itkCudaKeepOnDeviceDeviceGTest.cxx gaussian/itkCudaNonFinitePixelsGTest.cxx
                              PROPERTIES COMPILE_OPTIONS -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  # The bits of sums are compared.
  set_property(
    SOURCE gaussian/itkCudaDiscreteGaussianImageFilterGTest.cxx gaussian/itkCudaGaussianFirDeviceGTest.cxx
    APPEND
    PROPERTY COMPILE_OPTIONS -ffp-contract=off)
endif()
