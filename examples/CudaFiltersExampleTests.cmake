# Run each program with the arguments that its heading comment gives.
set(CudaFilters_EXAMPLE_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test)
file(MAKE_DIRECTORY ${CudaFilters_EXAMPLE_OUTPUT})
include(${CudaFilters_SOURCE_DIR}/test/CudaFiltersExitTest.cmake)
set(head ${CMAKE_CURRENT_SOURCE_DIR}/data/HeadT1Volume.nii.gz)
set(sar ${CMAKE_CURRENT_SOURCE_DIR}/data/sar_fields_1000x500.png)
set(out ${CudaFilters_EXAMPLE_OUTPUT})

add_test(
  NAME example_smooth_image
  COMMAND
    itkTestDriver --compareIntensityTolerance 1e-5 --compare ${CudaFilters_SOURCE_DIR}/apps/test/Baseline/VolumeSigma1.mha
    ${out}/Volume.mha $<TARGET_FILE:smooth_image> ${CudaFilters_SOURCE_DIR}/apps/test/Input/Volume.mha ${out}/Volume.mha 1)
set_tests_properties(example_smooth_image PROPERTIES TIMEOUT 120)
cudafilters_add_exit_test(example_smooth_image_usage 1 "Usage: smooth_image INPUT" smooth_image)
cudafilters_add_exit_test(example_smooth_image_no_sigma 1 "smooth_image: .*igma" smooth_image ${head} ${out}/Head.nii none)

# The result is the same if the pixels are read as float.
set(region 700 140 28 95)
cudafilters_add_exit_test(example_segment_region 0 "2948 pixels of mean 231.8.*outside\n.7" segment_region ${sar} rayleigh ${region}
                          ${out}/Label.png)
cudafilters_add_exit_test(example_segment_region_usage 1 "Rayleigh" segment_region ${sar})
cudafilters_add_exit_test(example_segment_region_law 1 "NoiseLaw is .cauchy." segment_region ${sar} cauchy ${region} ${out}/Label.png)

cudafilters_add_exit_test(example_device_images_usage 1 "Needs a GPU" device_images)
# Without a GPU the program reports that and exits.
if(CudaFilters_USE_CUDA)
  add_test(NAME example_device_images_Gpu COMMAND device_images ${head} ${out}/Edges.nii.gz 2)
  set_tests_properties(
    example_device_images_Gpu
    PROPERTIES TIMEOUT 120
               LABELS gpu
               SKIP_REGULAR_EXPRESSION "no NVIDIA GPU is visible|no GPU found|no NVIDIA driver found")
else()
  cudafilters_add_exit_test(example_device_images_no_gpu 1 "device_images: .*CUDA" device_images ${head} ${out}/Edges.nii.gz 2)
endif()
