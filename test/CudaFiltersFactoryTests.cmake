# Tests of the object factory. Without its overrides there is nothing to test.
set(CudaFilters_OVERRIDE_GTESTS factory/itkCudaGaussianImageFilterFactoryGTest.cxx factory/itkCudaFactoryTransfersGTest.cxx)
if(CudaFilters_BUILD_OVERRIDES)
  list(APPEND CudaFilters_GTESTS factory/itkCudaGaussianImageFilterFactoryGTest.cxx)
  list(APPEND CudaFilters_CUDA_GTESTS factory/itkCudaFactoryTransfersGTest.cxx)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # As in CudaFiltersDiscreteGaussianTests.cmake.
  set_source_files_properties(factory/itkCudaGaussianImageFilterFactoryGTest.cxx PROPERTIES COMPILE_OPTIONS -Wno-array-bounds)
endif()

# cudafilters_add_factory_program_test(name class program variable...): the class that a program gets under these variables.
function(
  cudafilters_add_factory_program_test
  name
  class
  program)
  cudafilters_add_exit_test(${name} 0 "^${class}" ${program})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${ARGN}")
endfunction()

function(cudafilters_add_factory_program_tests)
  if(NOT CudaFilters_BUILD_OVERRIDES)
    return()
  endif()
  set(itk_class SmoothingRecursiveGaussianImageFilter)
  # Linked to ITK only. In the module build ITKSmoothing comes with this module otherwise.
  itk_module_load(ITKSmoothing)
  set(libraries ${CudaFilters_TEST_LIBRARIES} ${ITKSmoothing_LIBRARIES})
  list(FILTER libraries EXCLUDE REGEX "(^|::)CudaFilters(Module)?$")
  add_executable(CudaFiltersItkProgram programs/itk_program.cxx)
  target_link_libraries(CudaFiltersItkProgram PRIVATE ${libraries})
  cudafilters_set_options(CudaFiltersItkProgram)
  if(TARGET CudaFiltersAutoload)
    add_dependencies(CudaFiltersItkProgram CudaFiltersAutoload)
    cudafilters_add_factory_program_test(CudaFiltersAutoloadTest Cuda${itk_class} CudaFiltersItkProgram
                                         "ITK_AUTOLOAD_PATH=$<TARGET_FILE_DIR:CudaFiltersAutoload>")
    # A program of the next minor version gets one line of warning, no factory and no second ITK.
    math(EXPR other_minor "${ITK_VERSION_MINOR} + 1")
    set(other_version ${ITK_VERSION_MAJOR}.${other_minor}.0)
    add_executable(CudaFiltersOtherItkProgram programs/other_itk_program.cxx)
    set_target_properties(CudaFiltersOtherItkProgram PROPERTIES ENABLE_EXPORTS ON)
    target_compile_definitions(CudaFiltersOtherItkProgram PRIVATE "OTHER_ITK_VERSION=\"${other_version}\"")
    target_link_libraries(CudaFiltersOtherItkProgram PRIVATE ${CMAKE_DL_LIBS})
    add_dependencies(CudaFiltersOtherItkProgram CudaFiltersAutoload)
    cudafilters_set_options(CudaFiltersOtherItkProgram)
    set(this_version ${ITK_VERSION_MAJOR}.${ITK_VERSION_MINOR}.${ITK_VERSION_PATCH})
    cudafilters_add_exit_test(
      CudaFiltersAutoloadOtherVersionTest 0
      "^[^|]*runs ITK ${other_version}, CudaFilters was built with ITK ${this_version}.${other_version}: refused"
      CudaFiltersOtherItkProgram)
    set_tests_properties(CudaFiltersAutoloadOtherVersionTest
                         PROPERTIES ENVIRONMENT "ITK_AUTOLOAD_PATH=$<TARGET_FILE_DIR:CudaFiltersAutoload>")
  endif()
  cudafilters_add_factory_program_test(CudaFiltersAutoloadOffTest ${itk_class} CudaFiltersItkProgram
                                       "ITK_CUDAFILTERS_OVERRIDE=1")

  # The same program with the object that looks at the environment, linked in the way that drops what is not used.
  add_executable(CudaFiltersLinkedProgram programs/itk_program.cxx)
  target_link_libraries(CudaFiltersLinkedProgram PRIVATE ${libraries} CudaFiltersOverride)
  target_link_options(CudaFiltersLinkedProgram BEFORE PRIVATE "LINKER:--as-needed")
  cudafilters_set_options(CudaFiltersLinkedProgram)
  cudafilters_add_factory_program_test(CudaFiltersOverrideTest Cuda${itk_class} CudaFiltersLinkedProgram
                                       "ITK_CUDAFILTERS_OVERRIDE=1")
  cudafilters_add_factory_program_test(CudaFiltersOverrideOffTest ${itk_class} CudaFiltersLinkedProgram
                                       "ITK_CUDAFILTERS_OVERRIDE=0")
endfunction()
