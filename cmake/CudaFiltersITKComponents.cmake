# The ITK modules that are needed. They are always passed to find_package(ITK), which otherwise links all modules.
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
# The modules of the image formats that the example programs read and write.
set(CudaFilters_ITK_FORMAT_COMPONENTS
    ITKIOImageBase
    ITKIOPNG
    ITKIOTIFF
    ITKIOMeta
    ITKIONRRD
    ITKIONIFTI)
# The modules of the image formats that the Python package reads and writes; libtiff is used directly.
set(CudaFilters_ITK_PYTHON_FORMATS
    ITKIOImageBase
    ITKIOPNG
    ITKIOMeta
    ITKIONRRD
    ITKIONIFTI)
