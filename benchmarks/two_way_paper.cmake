# The program that measures the tables of the two-way paper.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3 REQUIRED)

add_executable(two_way_paper_tables two_way_paper_tables.cxx two_way_paper_times_host.cxx)
target_link_libraries(two_way_paper_tables PRIVATE CudaFilters ${ITK_LIBRARIES} CLI11::CLI11
                                                   nlohmann_json::nlohmann_json)
cudafilters_set_options(two_way_paper_tables)
if(CudaFilters_USE_CUDA)
  target_sources(two_way_paper_tables PRIVATE two_way_paper_times_cuda.cxx)
  # Link to the internals, because device-resident images are measured below the public interface.
  target_include_directories(
    two_way_paper_tables PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(two_way_paper_tables SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(two_way_paper_tables PRIVATE CUDA::cudart_static)
else()
  target_sources(two_way_paper_tables PRIVATE two_way_paper_times_cuda_disabled.cxx)
endif()
