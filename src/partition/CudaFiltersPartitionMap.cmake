# Sources of a partition's polygons: from a label map to straight shared boundaries.
cudafilters_add_region_sources(partition/itkCudaPartitionMapBuild.cxx partition/itkCudaPartitionMapData.cxx
                               partition/itkCudaPartitionMapVerify.cxx partition/itkCudaPartitionRaster.cxx)
