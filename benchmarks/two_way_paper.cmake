# The tables of the two-way paper, and the convolution beside CuPy's.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3 REQUIRED)
find_package(ITK REQUIRED COMPONENTS ${CudaFilters_ITK_COMPONENTS} ITKIOImageBase ITKIOPNG)
# Registers the formats named above with ITK's readers in this folder's programs.
include(${ITK_USE_FILE})

add_executable(two_way_paper_tables two_way_paper_tables.cxx two_way_paper_times_host.cxx)
target_link_libraries(two_way_paper_tables PRIVATE CudaFilters ${ITK_LIBRARIES} CLI11::CLI11
                                                   nlohmann_json::nlohmann_json)
cudafilters_set_options(two_way_paper_tables)
if(CudaFilters_USE_CUDA)
  target_sources(two_way_paper_tables PRIVATE two_way_paper_times_cuda.cxx)
  add_executable(fir_resident_times fir_resident_times.cxx)
  target_link_libraries(fir_resident_times PRIVATE CudaFilters ${ITK_LIBRARIES} nlohmann_json::nlohmann_json)
  cudafilters_set_options(fir_resident_times)
  # Resident images are reached through the rooms, below the public headers.
  foreach(program two_way_paper_tables fir_resident_times)
    target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/runtime
                                                  ${PROJECT_SOURCE_DIR}/src/gaussian ${PROJECT_SOURCE_DIR}/src/partitioned)
    target_include_directories(${program} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(${program} PRIVATE CUDA::cudart_static)
  endforeach()
else()
  target_sources(two_way_paper_tables PRIVATE two_way_paper_times_cuda_disabled.cxx)
endif()
