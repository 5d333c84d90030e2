# SPDX-License-Identifier: Apache-2.0
# Keeps only the functions of the module's own classes. ITK's generator writes a function for each wrapped process
# object, including superclasses that Python does not show. Some of these are ITK's, and `itk` would then take their
# functions from this module.
#   cmake -D CLASSES=CudaFiltersConfig.py -D FUNCTIONS=CudaFilters_snake_case.py -P KeepOwnFunctions.cmake
cmake_minimum_required(VERSION 3.22)

file(READ ${CLASSES} classes)
file(READ ${FUNCTIONS} functions)
string(REGEX MATCHALL "\\('[A-Za-z0-9]+'" classes "${classes}")
string(REGEX MATCHALL "'[a-z0-9_]+'" functions "${functions}")

# Convert names as ITK's camel_to_snake_case() does.
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
