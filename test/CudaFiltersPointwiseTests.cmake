# Tests of eigenvalues, measures of Hessians, measures over several scales, structure tensors and statistics.
list(
  APPEND
  CudaFilters_GTESTS
  itkCudaGreyUnitsGTest.cxx
  itkCudaHessianMeasuresGTest.cxx
  itkCudaHessianToObjectnessMeasureImageFilterGTest.cxx
  itkCudaImageStatisticsGTest.cxx
  itkCudaMultiScaleHessianBasedMeasureImageFilterGTest.cxx
  itkCudaStructureTensorGTest.cxx
  itkCudaSymmetricEigenAnalysisImageFilterGTest.cxx
  itkCudaSymmetricEigenGTest.cxx
  itkCudaVesselPhantomGTest.cxx
  itkCudaVesselnessImageFilterGTest.cxx)
list(APPEND CudaFilters_CUDA_GTESTS itkCudaMultiScaleArrayGTest.cxx itkCudaTensorDeviceGTest.cxx itkCudaTensorDeviceImageGTest.cxx)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ITK's SymmetricEigenAnalysis copies eigenvalues before it has computed them.
  set_source_files_properties(
    itkCudaStructureTensorGTest.cxx itkCudaSymmetricEigenAnalysisImageFilterGTest.cxx itkCudaTensorDeviceGTest.cxx
    itkCudaTensorDeviceImageGTest.cxx itkCudaVesselPhantomGTest.cxx PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()
