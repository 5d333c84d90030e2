# The program that computes the figures of docs/developer/numerics.md. scripts/draw-numerics.sh runs it.
find_package(nlohmann_json 3 REQUIRED)
add_executable(gaussian_numerics gaussian_numerics.cxx)
target_link_libraries(gaussian_numerics PRIVATE CudaFilters ${ITK_LIBRARIES} nlohmann_json::nlohmann_json)
# Link to the internals, because the public interface does not filter single lines in float.
target_include_directories(gaussian_numerics PRIVATE ${PROJECT_SOURCE_DIR}/src)
cudafilters_set_options(gaussian_numerics)
