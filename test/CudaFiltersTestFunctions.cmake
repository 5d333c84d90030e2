include(GoogleTest)

# A test file that no list names would never run, and nobody would notice.
function(cudafilters_check_all_listed)
  file(
    GLOB files
    RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
    CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/itkCuda*Test.cxx ${CMAKE_CURRENT_SOURCE_DIR}/*/itkCuda*GTest.cxx)
  list(FILTER files EXCLUDE REGEX "^semantics/") # a program of its own
  foreach(file IN LISTS files)
    if(NOT file IN_LIST ARGN)
      message(FATAL_ERROR "test/${file} is in none of the lists of test/CudaFiltersTests.cmake")
    endif()
  endforeach()
endfunction()

function(cudafilters_add_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${CudaFilters_TEST_LIBRARIES})
  target_include_directories(${name} PRIVATE ${CudaFilters_SOURCE_DIR}/src ${CudaFilters_SOURCE_DIR}/test)
  cudafilters_set_options(${name})
endfunction()

# cudafilters_add_gtests(program [LABELS label...] SOURCES sources...): one CTest test for each unit, so that a skipped one counts
# as skipped.
function(cudafilters_add_gtests name)
  cmake_parse_arguments(ARG "" "" "LABELS;SOURCES" ${ARGN})
  cudafilters_add_test_program(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${CudaFilters_GTEST_LIBRARIES})
  gtest_discover_tests(
    ${name}
    NO_PRETTY_VALUES
    TEST_LIST
    ${name}_TESTS
    DISCOVERY_TIMEOUT
    120
    PROPERTIES
    TIMEOUT
    600)
  file(
    WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}Labels.cmake
    "foreach(test IN LISTS ${name}_TESTS)
  set(labels ${ARG_LABELS})
  if(test MATCHES \"Gpu|/Cuda$\")
    list(APPEND labels gpu)
  elseif(test MATCHES \"^Cuda(DeviceImage|FiltersConfiguration|Fork|KeepOnDevice|ProcessLimits)\")
    list(APPEND labels cuda)
  endif()
  if(test MATCHES \"Slow|^CudaRegionSnakeLooks[.]|^CudaSnakeLattice[.]\")
    list(APPEND labels slow)
  endif()
  list(REMOVE_DUPLICATES labels)
  if(labels)
    set_tests_properties(\"\${test}\" PROPERTIES LABELS \"\${labels}\")
  endif()
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}Labels.cmake)
endfunction()

# The program that runs whole-filter tests by name and compares the images that they write.
function(cudafilters_add_driver name)
  find_file(
    CudaFilters_TEST_DRIVER_INCLUDE itkTestDriverIncludeRequiredFactories.h
    PATHS ${ITK_INCLUDE_DIRS} ${ITKTestKernel_INCLUDE_DIRS}
    NO_DEFAULT_PATH)
  if(CudaFilters_TEST_DRIVER_INCLUDE)
    set(include_file itkTestDriverIncludeRequiredFactories.h)
  else()
    set(include_file itkTestDriverIncludeRequiredIOFactories.h) # its name up to ITK 5.2
  endif()
  set(CMAKE_TESTDRIVER_BEFORE_TESTMAIN "#include \"itkTestDriverBeforeTest.inc\"")
  set(CMAKE_TESTDRIVER_AFTER_TESTMAIN "#include \"itkTestDriverAfterTest.inc\"")
  create_test_sourcelist(
    sources
    ${name}.cxx
    ${ARGN}
    EXTRA_INCLUDE
    ${include_file}
    FUNCTION
    ProcessArgumentsAndRegisterRequiredFactories)
  cudafilters_add_test_program(${name} ${sources})
endfunction()

# cudafilters_add_driver_test(NAME name [LABELS label...] [COMPARE DATA{baseline} output] [OPTIONS options of itkTestDriver...]
#                             ARGUMENTS test arguments...)
# Exit code 77 of the test means skipped. Run through itkTestDriver, which then passes the code on and compares nothing; the test's
# own program would compare all the same.
function(cudafilters_add_driver_test)
  cmake_parse_arguments(ARG "" "NAME" "LABELS;COMPARE;OPTIONS;ARGUMENTS" ${ARGN})
  set(options ${ARG_OPTIONS})
  if(ARG_COMPARE)
    list(APPEND options --compare ${ARG_COMPARE})
  endif()
  externaldata_add_test(
    ${CudaFilters_TEST_DATA_TARGET}
    NAME
    ${ARG_NAME}
    COMMAND
    itkTestDriver
    ${options}
    $<TARGET_FILE:CudaFiltersTestDriver>
    ${ARG_ARGUMENTS})
  set_tests_properties(${ARG_NAME} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()

# Every public header is compiled alone, twice included, where CUDA's headers are errors.
function(cudafilters_add_header_test)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/HeaderTest)
  foreach(header cuda.h cuda_runtime.h cuda_runtime_api.h driver_types.h vector_types.h)
    file(WRITE ${folder}/no-cuda/${header}.new "#error \"a public header includes ${header}\"\n")
    file(COPY_FILE ${folder}/no-cuda/${header}.new ${folder}/no-cuda/${header} ONLY_IF_DIFFERENT)
  endforeach()
  file(GLOB headers RELATIVE ${CudaFilters_SOURCE_DIR}/include CONFIGURE_DEPENDS ${CudaFilters_SOURCE_DIR}/include/*.h)
  set(sources)
  foreach(header IN LISTS headers)
    set(CudaFilters_HEADER ${header})
    configure_file(HeaderTest.cxx.in ${folder}/${header}.cxx @ONLY)
    list(APPEND sources ${folder}/${header}.cxx)
  endforeach()
  add_library(CudaFiltersHeaderTest OBJECT ${sources})
  target_include_directories(CudaFiltersHeaderTest BEFORE PRIVATE ${folder}/no-cuda)
  target_link_libraries(CudaFiltersHeaderTest PRIVATE ${CudaFilters_TEST_LIBRARIES})
  cudafilters_set_options(CudaFiltersHeaderTest)
  add_test(NAME CudaFiltersHeaderTest COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target CudaFiltersHeaderTest)
  set_tests_properties(CudaFiltersHeaderTest PROPERTIES TIMEOUT 600 RESOURCE_LOCK build)
endfunction()

# A project of its own finds the module with find_package(), compiles a small program and runs it; another one has the module as a part.
function(cudafilters_add_consumer_test)
  if(ITK_SOURCE_DIR)
    return() # no package of the module before ITK itself is installed
  endif()
  set(install ON)
  if(COMMAND itk_module_test)
    set(install OFF) # ITK's build tree lists the module as one of its own
  endif()
  add_test(
    NAME CudaFiltersConsumerTest
    COMMAND
      ${CMAKE_COMMAND} -D source=${CMAKE_CURRENT_SOURCE_DIR}/Consumer -D build=${CMAKE_CURRENT_BINARY_DIR}/Consumer -D
      module_build=${CMAKE_BINARY_DIR} -D install=${install} -D ITK_DIR=${ITK_DIR} -D generator=${CMAKE_GENERATOR} -D
      compiler=${CMAKE_CXX_COMPILER} -D flags=${CMAKE_CXX_FLAGS} -D launcher=${CMAKE_CXX_COMPILER_LAUNCHER} -D
      build_type=$<CONFIG> -Dwith_overrides=${CudaFilters_BUILD_OVERRIDES} -P ${CMAKE_CURRENT_SOURCE_DIR}/Consumer/RunConsumerTest.cmake)
  set_tests_properties(CudaFiltersConsumerTest PROPERTIES TIMEOUT 600 RESOURCE_LOCK build LABELS cuda)
  if(install)
    # The same project with the sources as a part of it. To build it would compile the whole library once more.
    add_test(
      NAME CudaFiltersSubprojectTest
      COMMAND
        ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_SOURCE_DIR}/Consumer -B ${CMAKE_CURRENT_BINARY_DIR}/Subproject -G ${CMAKE_GENERATOR}
        -DCMAKE_BUILD_TYPE=$<CONFIG> -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DITK_DIR=${ITK_DIR} -DCudaFilters_USE_CUDA=OFF
        -DCudaFilters_FOLDER=${PROJECT_SOURCE_DIR} -Dwith_overrides=${CudaFilters_BUILD_OVERRIDES}
        -DCudaFilters_BUILD_OVERRIDES=${CudaFilters_BUILD_OVERRIDES})
    set_tests_properties(CudaFiltersSubprojectTest PROPERTIES TIMEOUT 300)
  endif()
endfunction()
