# Sources of a partition's polygons: from a label map to straight shared boundaries.
cudafilters_add_region_sources(
  partition/itkCudaPartitionChainList.cxx
  partition/itkCudaPartitionChains.cxx
  partition/itkCudaPartitionChainSearch.cxx
  partition/itkCudaPartitionEdgeGrid.cxx
  partition/itkCudaPartitionMap.cxx
  partition/itkCudaPartitionMapBuild.cxx
  partition/itkCudaPartitionMapData.cxx
  partition/itkCudaPartitionMapVerify.cxx
  partition/itkCudaPartitionMerges.cxx
  partition/itkCudaPartitionMoves.cxx
  partition/itkCudaPartitionRaster.cxx
  partition/itkCudaPartitionRefinement.cxx
  partition/itkCudaPartitionRemovals.cxx
  partition/itkCudaPartitionSummary.cxx
  partition/itkCudaPartitionTopology.cxx)
