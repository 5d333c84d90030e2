# Sources of the partition of an image into regions.
cudafilters_add_region_sources(
  partition/itkCudaPartitionCells.cxx partition/itkCudaPartitionComponents.cxx partition/itkCudaPartitionEstimates.cxx
  partition/itkCudaPartitionGraph.cxx partition/itkCudaPartitionLabelMaker.cxx partition/itkCudaPartitionTable.cxx
  partition/itkCudaPartitionTree.cxx partition/itkCudaRegionPartitionEngine.cxx)
