# The ITK modules needed. Named everywhere: without COMPONENTS find_package(ITK) links all of them.
set(CudaFilters_ITK_COMPONENTS
    ITKCommon
    ITKImageFeature
    ITKImageFilterBase
    ITKImageGradient
    ITKImageIntensity
    ITKPath
    ITKSmoothing)
set(CudaFilters_ITK_TEST_COMPONENTS
    ITKTestKernel
    ITKImageGrid
    ITKThresholding
    ITKIOImageBase
    ITKIOPNG
    ITKIOMeta
    ITKIONRRD)
# The formats that the command and the example programs read and write.
set(CudaFilters_ITK_FORMAT_COMPONENTS
    ITKIOImageBase
    ITKIOPNG
    ITKIOTIFF
    ITKIOMeta
    ITKIONRRD
    ITKIONIFTI)
# What the command needs besides.
set(CudaFilters_ITK_APP_COMPONENTS ITKImageGrid ITKImageStatistics)
