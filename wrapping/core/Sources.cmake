# Adds the sources of the extension module itk_cudafilters._core to a target.
set(CudaFilters_CORE_DIR ${CMAKE_CURRENT_LIST_DIR})

# DLPack's header, for the exchange of arrays with other Python libraries. Its project publishes version 1.3 only in a
# Python package, which pyproject.toml requires for builds.
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c
          "import importlib.util as i; print(i.find_spec('tvm_ffi').submodule_search_locations[0] + '/include')"
  OUTPUT_VARIABLE folder
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
find_path(CudaFilters_DLPACK_INCLUDE_DIR dlpack/dlpack.h HINTS ${folder})
if(NOT CudaFilters_DLPACK_INCLUDE_DIR)
  message(FATAL_ERROR "dlpack/dlpack.h of DLPack 1.3 is not found: set CudaFilters_DLPACK_INCLUDE_DIR to its folder, "
                      "or install apache-tvm-ffi of pyproject.toml for ${Python3_EXECUTABLE}")
endif()
# The copy has the same path in each build, unlike the environment that pip makes for one, so that object files stay valid.
set(CudaFilters_CORE_INCLUDE_DIR ${CMAKE_CURRENT_BINARY_DIR}/include)
configure_file(${CudaFilters_DLPACK_INCLUDE_DIR}/dlpack/dlpack.h ${CudaFilters_CORE_INCLUDE_DIR}/dlpack/dlpack.h COPYONLY)

function(cudafilters_add_core_sources target)
  foreach(name ArrayFilter Configuration Core Detection DiscreteGaussian GpuArrays HostArray ImageFiles Partition Slabs Snake Tensors)
    target_sources(${target} PRIVATE ${CudaFilters_CORE_DIR}/${name}.cxx)
  endforeach()
  set_source_files_properties(${CudaFilters_CORE_DIR}/ArrayFilter.cxx PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
  target_include_directories(${target} SYSTEM PRIVATE ${CudaFilters_CORE_INCLUDE_DIR})
endfunction()
