# cudafilters_add_exit_test(name code regex program arguments...): the exit status, and a pattern that the output matches.
set(CudaFilters_EXPECT_EXIT ${CMAKE_CURRENT_LIST_DIR}/ExpectExit.cmake)
function(
  cudafilters_add_exit_test
  name
  code
  regex
  program)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -D code=${code} -D regex=${regex} -P ${CudaFilters_EXPECT_EXIT} --
                                $<TARGET_FILE:${program}> ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS cuda)
endfunction()
