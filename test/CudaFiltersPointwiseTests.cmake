# Tests of eigenvalues and of measures of Hessians.
list(APPEND CudaFilters_GTESTS itkCudaHessianMeasuresGTest.cxx itkCudaSymmetricEigenGTest.cxx)
