# Sources of the partitioned filter, relative to src/.
list(APPEND CudaFilters_SRCS partitioned/itkCudaPartitionedGaussianEnums.cxx
     partitioned/itkCudaPartitionedGaussianHost.cxx partitioned/itkCudaPartitionedGaussianPlan.cxx)
if(CudaFilters_USE_CUDA)
  list(APPEND CudaFilters_SRCS partitioned/itkCudaPartitionedGaussianCuda.cu
       partitioned/itkCudaPartitionedGaussianEngine.cxx)
else()
  list(APPEND CudaFilters_SRCS partitioned/itkCudaPartitionedGaussianCudaDisabled.cxx)
endif()
