# Tests of the discrete Gaussian.
list(APPEND CudaFilters_GTESTS itkCudaDeviceDiscreteGTest.cxx itkCudaDiscreteGaussianImageFilterGTest.cxx)
list(APPEND CudaFilters_CUDA_GTESTS itkCudaDeviceFiltersGTest.cxx itkCudaDiscreteFaultGTest.cxx itkCudaGaussianFirDeviceGTest.cxx)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 sees the directions of itk::NeighborhoodOperator leave the array, which they do not.
  set_source_files_properties(itkCudaDeviceDiscreteGTest.cxx itkCudaDeviceFiltersGTest.cxx itkCudaDeviceMemoryPeakGTest.cxx
                              itkCudaDiscreteGaussianImageFilterGTest.cxx itkCudaDiscreteFaultGTest.cxx
                              itkCudaGaussianInputPixelsGTest.cxx itkCudaKeepOnDeviceDeviceGTest.cxx
                              itkCudaKeepOnDeviceGTest.cxx itkCudaNonFinitePixelsGTest.cxx
                              PROPERTIES COMPILE_OPTIONS -Wno-array-bounds)
endif()
