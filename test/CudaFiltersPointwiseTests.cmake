# Tests of eigenvalues, measures of Hessians, and measures over several scales.
list(
  APPEND
  CudaFilters_GTESTS
  itkCudaHessianMeasuresGTest.cxx
  itkCudaHessianToObjectnessMeasureImageFilterGTest.cxx
  itkCudaMultiScaleHessianBasedMeasureImageFilterGTest.cxx
  itkCudaSymmetricEigenAnalysisImageFilterGTest.cxx
  itkCudaSymmetricEigenGTest.cxx)
list(APPEND CudaFilters_CUDA_GTESTS itkCudaTensorDeviceGTest.cxx)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ITK's SymmetricEigenAnalysis copies eigenvalues before it has computed them.
  set_source_files_properties(itkCudaSymmetricEigenAnalysisImageFilterGTest.cxx itkCudaTensorDeviceGTest.cxx
                              PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()
