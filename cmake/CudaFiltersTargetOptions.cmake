# Compile options of the module's own targets, both in the plain build and in the module build.
option(CudaFilters_WARNINGS_AS_ERRORS "Compiler warnings in the module's own code are errors" OFF)
option(CudaFilters_ONLY_THREAD_TESTS "Of the tests only those of threads, which need no test kernel of ITK's" OFF)
option(CudaFilters_BUILD_FUZZERS "Build the fuzz targets as programs of libFuzzer's (needs clang)" OFF)
option(CudaFilters_LONG_TESTS "Tests with files of several gigabytes as well" OFF)
option(CudaFilters_COVERAGE "Record which lines run (gcov)" OFF)
option(CudaFilters_BUILD_EXAMPLES "Build the example programs" OFF)
option(CudaFilters_BUILD_BENCHMARKS "Build the benchmarks (needs Google Benchmark)" OFF)

# Gives tests and benchmarks access to the internal folders of src/, whose symbols a library built for users hides.
function(cudafilters_show_rooms)
  set_target_properties(CudaFilters PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
endfunction()

function(cudafilters_set_options target)
  target_compile_features(${target} PRIVATE cxx_std_17)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(
      ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
    if(CudaFilters_WARNINGS_AS_ERRORS)
      target_compile_options(
        ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
                          "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
    endif()
    if(CudaFilters_COVERAGE)
      # Keep nvcc's intermediate files, because gcovr leaves out a .cu file without its generated host code.
      set(kept ${CMAKE_CURRENT_BINARY_DIR}/${target}-nvcc)
      file(MAKE_DIRECTORY ${kept})
      target_compile_options(
        ${target}
        PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:--coverage;-fprofile-update=atomic>"
                "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=--coverage,-fprofile-update=atomic;--keep;--keep-dir=${kept}>")
      target_link_options(${target} PRIVATE --coverage)
    endif()
  endif()
  # Treat ITK's headers as system headers, so that this module's warnings do not apply to them. ITK's macros and its use
  # file add them to the include path of the whole folder.
  get_directory_property(folders INCLUDE_DIRECTORIES)
  list(APPEND folders ${ITK_INCLUDE_DIRS})
  list(FILTER folders EXCLUDE REGEX "^(${CudaFilters_SOURCE_DIR}|${CudaFilters_BINARY_DIR})")
  target_include_directories(${target} SYSTEM PRIVATE ${folders})
endfunction()
