# Builds the module against an installed ITK, which has no module macros: library, package for find_package(CudaFilters)
# and tests.
include(CTest)
include(GNUInstallDirs)
include(GenerateExportHeader)
include(CMakePackageConfigHelpers)

option(BUILD_SHARED_LIBS "Build a shared library" ON)
if(PROJECT_IS_TOP_LEVEL
   AND NOT CMAKE_BUILD_TYPE
   AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE
      Release
      CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

set(CudaFilters_INSTALL_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/CudaFilters)
set(CudaFilters_INSTALL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/CudaFilters)

# Replaces itk_module_add_library() in src/CMakeLists.txt.
function(cudafilters_add_library name)
  add_library(${name} ${ARGN})
  add_library(CudaFilters::${name} ALIAS ${name})
  generate_export_header(
    ${name}
    EXPORT_MACRO_NAME
    ${name}_EXPORT
    EXPORT_FILE_NAME
    ${PROJECT_BINARY_DIR}/include/${name}Export.h)
  target_compile_features(${name} PUBLIC cxx_std_17)
  target_include_directories(
    ${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
                   "$<INSTALL_INTERFACE:${CudaFilters_INSTALL_INCLUDE_DIR}>")
  target_include_directories(${name} SYSTEM PUBLIC "$<BUILD_INTERFACE:${ITK_INCLUDE_DIRS}>")
  target_link_libraries(${name} PUBLIC ${ITK_LIBRARIES})
  set_target_properties(
    ${name}
    PROPERTIES OUTPUT_NAME itk${name}
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON)
  install(
    TARGETS ${name}
    EXPORT CudaFiltersTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

add_subdirectory(src)

install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/
  DESTINATION ${CudaFilters_INSTALL_INCLUDE_DIR}
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "*.hxx")
list(JOIN CudaFilters_ITK_COMPONENTS " " CudaFilters_ITK_COMPONENT_LIST)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/CudaFiltersConfig.cmake.in ${PROJECT_BINARY_DIR}/CudaFiltersConfig.cmake
  INSTALL_DESTINATION ${CudaFilters_INSTALL_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/CudaFiltersConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/CudaFiltersConfig.cmake ${PROJECT_BINARY_DIR}/CudaFiltersConfigVersion.cmake
        DESTINATION ${CudaFilters_INSTALL_PACKAGE_DIR})
install(
  EXPORT CudaFiltersTargets
  NAMESPACE CudaFilters::
  DESTINATION ${CudaFilters_INSTALL_PACKAGE_DIR})

# The tests of a project that has this one as a part are its own.
if(BUILD_TESTING AND PROJECT_IS_TOP_LEVEL)
  add_subdirectory(test)
endif()
