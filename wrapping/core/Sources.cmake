# Adds the sources of the extension module itk_cudafilters._core to a target.
set(CudaFilters_CORE_DIR ${CMAKE_CURRENT_LIST_DIR})

# DLPack's header, for the exchange of arrays with other Python libraries.
find_path(CudaFilters_DLPACK_INCLUDE_DIR dlpack/dlpack.h)
if(NOT CudaFilters_DLPACK_INCLUDE_DIR)
  execute_process(
    COMMAND ${CudaFilters_CORE_DIR}/../../scripts/fetch-dlpack.sh
    OUTPUT_VARIABLE folder
    OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "dlpack/dlpack.h of DLPack 1.3 is not found: set CudaFilters_DLPACK_INCLUDE_DIR to its folder")
  endif()
  set(CudaFilters_DLPACK_INCLUDE_DIR
      ${folder}
      CACHE PATH "The folder of dlpack/dlpack.h" FORCE)
endif()

function(cudafilters_add_core_sources target)
  foreach(name ArrayFilter Configuration Core GpuArrays HostArray ImageFiles Partition Slabs Snake Tensors)
    target_sources(${target} PRIVATE ${CudaFilters_CORE_DIR}/${name}.cxx)
  endforeach()
  set_source_files_properties(${CudaFilters_CORE_DIR}/ArrayFilter.cxx PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
  target_include_directories(${target} SYSTEM PRIVATE ${CudaFilters_DLPACK_INCLUDE_DIR})
endfunction()
