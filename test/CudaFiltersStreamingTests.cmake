# From file to file in bounded memory. Exit status 77 means skipped.
set(CudaFilters_STREAMING_SOURCES itkCudaFileStreamingTest.cxx)
cudafilters_add_test_program(CudaFiltersFileStreamingTest ${CudaFilters_STREAMING_SOURCES})

# cudafilters_add_file_streaming_test(name labels timeout sigma side planes look_ahead backend): a file of side * side * planes
# floats
function(cudafilters_add_file_streaming_test name labels timeout)
  add_test(NAME ${name} COMMAND CudaFiltersFileStreamingTest ${ITK_TEST_OUTPUT_DIR}/${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${timeout} LABELS "${labels}")
endfunction()
# Chunks above 32 MiB: the C library gives smaller ones back to the system late.
cudafilters_add_file_streaming_test(CudaFiltersFileStreaming "" 600 4 280 640 1 host)
cudafilters_add_file_streaming_test(CudaFiltersFileStreamingWholeLines "" 600 40 280 640 0 host)
# Files of 1.6 and 13 GB
if(CudaFilters_LONG_TESTS)
  cudafilters_add_file_streaming_test(CudaFiltersFileStreamingSlow "slow" 3600 4 448 2048 1 host)
  cudafilters_add_file_streaming_test(CudaFiltersFileStreamingSlowWide "slow" 3600 30 448 2048 3 host)
  cudafilters_add_file_streaming_test(CudaFiltersFileStreamingSlowLarge "slow" 14400 4 448 16384 1 host)
endif()
