set(DOCUMENTATION
    "Gaussian filters on NVIDIA GPUs: subclasses of ITK's filters with the same parameters, which run on the host without a GPU.")

itk_module(
  CudaFilters
  ENABLE_SHARED
  DEPENDS
  ITKCommon
  ITKImageFeature
  ITKImageFilterBase
  ITKImageGradient
  ITKPath
  ITKSmoothing
  COMPILE_DEPENDS
  ITKImageIntensity
  TEST_DEPENDS
  ITKTestKernel
  ITKGoogleTest
  ITKImageGrid
  ITKImageIntensity
  ITKThresholding
  ITKIOPNG
  ITKIOMeta
  ITKIONRRD
  DESCRIPTION
  "${DOCUMENTATION}"
  EXCLUDE_FROM_DEFAULT)
