# Tests of eigenvalues, measures of Hessians, measures over several scales, structure tensors and statistics.
list(
  APPEND
  CudaFilters_GTESTS
  vesselness/itkCudaGreyUnitsGTest.cxx
  vesselness/itkCudaHessianMeasuresGTest.cxx
  vesselness/itkCudaHessianToObjectnessMeasureImageFilterGTest.cxx
  vesselness/itkCudaImageStatisticsGTest.cxx
  vesselness/itkCudaMultiScaleHessianBasedMeasureImageFilterGTest.cxx
  vesselness/itkCudaStructureTensorGTest.cxx
  vesselness/itkCudaSymmetricEigenGTest.cxx
  vesselness/itkCudaVesselnessImageFilterGTest.cxx)
list(APPEND CudaFilters_CUDA_GTESTS vesselness/itkCudaMultiScaleArrayGTest.cxx device_images/itkCudaTensorDeviceGTest.cxx)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ITK's SymmetricEigenAnalysis copies eigenvalues before it has computed them.
  set_source_files_properties(
    vesselness/itkCudaStructureTensorGTest.cxx vesselness/itkCudaSymmetricEigenGTest.cxx device_images/itkCudaTensorDeviceGTest.cxx
    vesselness/itkCudaMultiScaleHessianBasedMeasureImageFilterGTest.cxx PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()
