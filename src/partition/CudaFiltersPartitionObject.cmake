# Sources of the partition as a data object: rings of regions, merges.
list(
  APPEND
  CudaFilters_SRCS
  partition/itkCudaPartitionEnums.cxx
  partition/itkCudaPartitionMerging.cxx
  partition/itkCudaPartitionRings.cxx
  partition/itkCudaRegionPartition.cxx)
