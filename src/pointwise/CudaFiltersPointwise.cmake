# Sources of what is computed from each pixel alone, relative to src/.
list(APPEND CudaFilters_SRCS pointwise/itkCudaTensorPlan.cxx)
