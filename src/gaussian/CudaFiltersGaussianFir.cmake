# Sources of convolution along lines, relative to src/. Sums of integer images promise ITK's bits: no contraction.
list(APPEND CudaFilters_SRCS gaussian/itkCudaGaussianFirHost.cxx)
set_source_files_properties(gaussian/itkCudaGaussianFirHost.cxx PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
if(CudaFilters_USE_CUDA)
  list(APPEND CudaFilters_SRCS gaussian/itkCudaGaussianFirCuda.cu gaussian/itkCudaGaussianFirEngine.cxx)
  set_source_files_properties(gaussian/itkCudaGaussianFirCuda.cu PROPERTIES COMPILE_OPTIONS --fmad=false)
else()
  list(APPEND CudaFilters_SRCS gaussian/itkCudaGaussianFirCudaDisabled.cxx)
endif()
