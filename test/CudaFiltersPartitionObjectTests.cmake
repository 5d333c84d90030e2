# Tests of a partition into regions as its users see it.
list(APPEND CudaFilters_GTESTS itkCudaRegionPartitionGTest.cxx)
