# Run by the test CudaFiltersConsumerTest: installs the module into a folder of its own where there is something to install,
# then configures, builds and runs the project beside this file.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${build})
if(install)
  run(${CMAKE_COMMAND} --install ${module_build} --prefix ${build}/prefix)
  set(package_arguments -DCMAKE_PREFIX_PATH=${build}/prefix -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
else()
  set(package_arguments -DCudaFilters_AS_ITK_MODULE=ON)
endif()
run(
  ${CMAKE_COMMAND}
  -S
  ${source}
  -B
  ${build}/build
  -G
  ${generator}
  -DCMAKE_BUILD_TYPE=${build_type}
  -DCMAKE_CXX_COMPILER=${compiler}
  -DCMAKE_CXX_FLAGS=${flags}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}
  -DITK_DIR=${ITK_DIR}
  -Dwith_overrides=${with_overrides}
  ${package_arguments})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build}/build --verbose OUTPUT_VARIABLE commands ECHO_OUTPUT_VARIABLE
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT commands MATCHES "itkCudaFilters|libCudaFilters" OR commands MATCHES "as-needed|--undefined|-u,")
  message(FATAL_ERROR "The package changes how its users' programs are linked, or the commands were not printed")
endif()
run(${build}/build/consumer)
set(ENV{ITK_CUDAFILTERS_OVERRIDE} 1)
set(programs_and_classes itk_program=Smoothing)
if(with_overrides)
  list(APPEND programs_and_classes itk_program_override=CudaSmoothing)
endif()
foreach(program_and_class IN LISTS programs_and_classes)
  string(REPLACE "=" ";" pair ${program_and_class})
  list(GET pair 0 program)
  list(GET pair 1 class)
  execute_process(COMMAND ${build}/build/${program} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "^${class}")
    message(FATAL_ERROR "With ITK_CUDAFILTERS_OVERRIDE=1 ${program} got '${output}', not ${class}...")
  endif()
endforeach()
