# Sources of regions' lattice, laws, samples and sums. This room and those above it promise the same bits on the host and on
# the device, so nothing there may be fused or reordered.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-ffp-contract=off CudaFilters_HAVE_FP_CONTRACT_OFF)

# Adds sources to the library, compiled without contraction. A law that a switch forgets is an error. A macro, because the list is
# the caller's.
macro(cudafilters_add_region_sources)
  list(APPEND CudaFilters_SRCS ${ARGN})
  foreach(source ${ARGN})
    if(CudaFilters_HAVE_FP_CONTRACT_OFF)
      set_property(
        SOURCE ${source}
        APPEND
        PROPERTY COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>"
                 "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>")
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>")
    set_property(
      SOURCE ${source}
      APPEND
      PROPERTY COMPILE_OPTIONS "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Werror=switch>"
               "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror=switch>")
  endforeach()
endmacro()

cudafilters_add_region_sources(region/itkCudaRegionChecks.cxx region/itkCudaRegionLaws.cxx region/itkCudaRegionSamples.cxx
                               region/itkCudaRegionTables.cxx)
if(CudaFilters_USE_CUDA)
  cudafilters_add_region_sources(region/itkCudaRegionDeviceSamples.cu region/itkCudaRegionDeviceSamples.cxx
                                 region/itkCudaRegionDeviceSums.cu)
endif()
