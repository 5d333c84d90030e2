# Lists the sources of the object factory, relative to src/. The files of overrides take most of the
# compile time.
option(CudaFilters_BUILD_OVERRIDES "Let the object factory override ITK's filters in unchanged programs" ON)
if(CudaFilters_BUILD_OVERRIDES)
  set(instantiations factory/Small2DOverrides.cxx factory/Large2DOverrides.cxx factory/Small3DOverrides.cxx
                     factory/Large3DOverrides.cxx factory/4DOverrides.cxx)
  set(overrides ${instantiations} factory/AllGaussianOverrides.cxx)
else()
  set(overrides factory/OverridesDisabled.cxx)
endif()
list(APPEND CudaFilters_SRCS ${overrides} factory/Load.cxx factory/Factory.cxx)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ITK's SymmetricEigenAnalysis copies eigenvalues before it computes them, and gcc 12 wrongly warns that the directions of
  # itk::NeighborhoodOperator are out of the array's bounds.
  set_source_files_properties(${instantiations} PROPERTIES COMPILE_OPTIONS "-Wno-maybe-uninitialized;-Wno-array-bounds")
endif()

# cudafilters_add_override_object() adds an object library. In a program that links it, ITK_CUDAFILTERS_OVERRIDE=1 registers the factory.
function(cudafilters_add_override_object)
  add_library(CudaFiltersOverride OBJECT factory/Override.cxx)
  target_link_libraries(CudaFiltersOverride PUBLIC CudaFilters)
  cudafilters_set_options(CudaFiltersOverride)
  set_target_properties(CudaFiltersOverride PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(COMMAND itk_module_target_export)
    itk_module_target_export(CudaFiltersOverride)
    install(TARGETS CudaFiltersOverride EXPORT ${${itk-module}-targets}
            OBJECTS DESTINATION ${${itk-module}_INSTALL_ARCHIVE_DIR} COMPONENT Development)
  else()
    add_library(CudaFilters::Override ALIAS CudaFiltersOverride)
    set_target_properties(CudaFiltersOverride PROPERTIES EXPORT_NAME Override)
    install(TARGETS CudaFiltersOverride EXPORT CudaFiltersTargets OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()

# cudafilters_add_autoload_library() adds a library for ITK_AUTOLOAD_PATH. It has its own folder, because ITK loads every library there.
function(cudafilters_add_autoload_library)
  get_target_property(type CudaFilters TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return() # a static one would hold an ITK of its own, whose list of factories is not the program's
  endif()
  if(NOT CudaFilters_INSTALL_LIBRARY_DIR)
    include(GNUInstallDirs)
    set(CudaFilters_INSTALL_LIBRARY_DIR ${CMAKE_INSTALL_LIBDIR})
  endif()
  add_library(CudaFiltersAutoload MODULE factory/Autoload.cxx)
  # The library loads CudaFilters by this name from its parent folder, after it has checked the versions of ITK in the process.
  target_compile_definitions(CudaFiltersAutoload PRIVATE "CudaFilters_LIBRARY_NAME=\"$<TARGET_SONAME_FILE_NAME:CudaFilters>\"")
  target_link_libraries(CudaFiltersAutoload PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(CudaFiltersAutoload CudaFilters)
  cudafilters_set_options(CudaFiltersAutoload)
  set_target_properties(
    CudaFiltersAutoload
    PROPERTIES OUTPUT_NAME itkCudaFiltersAutoload
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               BUILD_RPATH "$ORIGIN/.."
               INSTALL_RPATH "$ORIGIN/.."
               LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:CudaFilters>/itk-cudafilters-autoload)
  install(TARGETS CudaFiltersAutoload LIBRARY DESTINATION ${CudaFilters_INSTALL_LIBRARY_DIR}/itk-cudafilters-autoload
                                              COMPONENT Runtime)
endfunction()
