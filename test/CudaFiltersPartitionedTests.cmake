# Tests of the partitioned filter.
list(APPEND CudaFilters_GTESTS itkCudaPartitionedGaussianGTest.cxx
     itkCudaPartitionedRecursiveGaussianImageFilterGTest.cxx)
list(APPEND CudaFilters_CUDA_GTESTS itkCudaPartitionedFaultGTest.cxx itkCudaPartitionedGaussianDeviceGTest.cxx)
