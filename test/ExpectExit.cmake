# Runs what follows -- and fails unless it exits with `code` and its output matches `regex`.
set(command)
set(found OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  if(found)
    list(APPEND command "${CMAKE_ARGV${index}}")
  elseif("${CMAKE_ARGV${index}}" STREQUAL "--")
    set(found ON)
  endif()
endforeach()
execute_process(
  COMMAND ${command}
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
message("${output}")
if(NOT "${result}" STREQUAL "${code}")
  message(FATAL_ERROR "exit status ${result}, expected ${code}")
endif()
if(NOT "${output}" MATCHES "${regex}")
  message(FATAL_ERROR "the output does not match '${regex}'")
endif()
