# SPDX-License-Identifier: Apache-2.0
# ITK's generator makes a function of each wrapped process object. Superclasses that Python does not show are among them, and some of
# those are ITK's own, whose functions `itk` would then take from this module. Keeps the functions of the module's classes.
#   cmake -D CLASSES=CudaFiltersConfig.py -D FUNCTIONS=CudaFilters_snake_case.py -P KeepOwnFunctions.cmake
cmake_minimum_required(VERSION 3.22)

file(READ ${CLASSES} classes)
file(READ ${FUNCTIONS} functions)
string(REGEX MATCHALL "\\('[A-Za-z0-9]+'" classes "${classes}")
string(REGEX MATCHALL "'[a-z0-9_]+'" functions "${functions}")

# As ITK's camel_to_snake_case().
set(own "")
foreach(class IN LISTS classes)
  string(REGEX REPLACE "[(']" "" name "${class}")
  string(REGEX REPLACE "(.)([A-Z][a-z]+)" "\\1_\\2" name "${name}")
  string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" name "${name}")
  string(TOLOWER "'${name}'" name)
  list(APPEND own "${name}")
endforeach()

set(kept "")
foreach(function IN LISTS functions)
  if(function IN_LIST own)
    string(APPEND kept "${function}, ")
  endif()
endforeach()
if(kept STREQUAL "")
  message(FATAL_ERROR "${FUNCTIONS} has no function of a class in ${CLASSES}")
endif()
file(WRITE ${FUNCTIONS} "snake_case_functions = (${kept})\n")
