# The example programs run as a user runs them; what they write is compared with files that ITK's own filter wrote.
set(CudaFilters_EXAMPLE_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test)
file(MAKE_DIRECTORY ${CudaFilters_EXAMPLE_OUTPUT})

# cudafilters_add_smooth_image_test(name tolerance input baseline output arguments...)
function(
  cudafilters_add_smooth_image_test
  name
  tolerance
  input
  baseline
  output)
  add_test(
    NAME ${name}
    COMMAND
      itkTestDriver --compareIntensityTolerance ${tolerance} --compare ${CMAKE_CURRENT_SOURCE_DIR}/test/Baseline/${baseline}
      ${CudaFilters_EXAMPLE_OUTPUT}/${output} $<TARGET_FILE:smooth_image> ${input} ${CudaFilters_EXAMPLE_OUTPUT}/${output}
      ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()

set(input ${CMAKE_CURRENT_SOURCE_DIR}/test/Input)
set(data ${CMAKE_CURRENT_SOURCE_DIR}/data)
# An integer pixel may fall on either side of a step.
cudafilters_add_smooth_image_test(smooth_image_png 1 ${data}/BrainProtonDensitySlice.png BrainSigma4.png Brain.png --sigma 4)
cudafilters_add_smooth_image_test(smooth_image_volume 1e-5 ${input}/Volume.mha VolumeSigma1.mha Volume.nrrd --sigma 1)
cudafilters_add_smooth_image_test(
  smooth_image_axes
  1e-5
  ${input}/Volume.mha
  VolumeSigma1-2-3.mha
  VolumeAxes.nii
  --sigma-x
  1
  --sigma-y
  2
  --sigma-z
  3)
cudafilters_add_smooth_image_test(smooth_image_colour 1 ${input}/Colour.mha ColourSigma1.mha Colour.tif --sigma 1)
cudafilters_add_smooth_image_test(smooth_image_single_slice 1 ${input}/Slice.mha SliceSigma1.5.mha Slice.mha --sigma 1.5)

include(${CudaFilters_SOURCE_DIR}/test/CudaFiltersExitTest.cmake)
set(brain ${data}/BrainProtonDensitySlice.png)
set(out ${CudaFilters_EXAMPLE_OUTPUT}/out.png)
cudafilters_add_exit_test(smooth_image_help 0 "physical units" smooth_image --help)
cudafilters_add_exit_test(smooth_image_no_sigma 2 "--sigma" smooth_image ${brain} ${out})
cudafilters_add_exit_test(smooth_image_zero_sigma 2 "'0' is not a number greater than 0" smooth_image ${brain} ${out} --sigma 0)
cudafilters_add_exit_test(smooth_image_one_sigma 2 "each of the image's axes" smooth_image ${brain} ${out} --sigma-x 3)
cudafilters_add_exit_test(smooth_image_third_axis 2 "no third axis" smooth_image ${brain} ${out} --sigma 3 --sigma-z 1)
cudafilters_add_exit_test(smooth_image_backend 2 "automatic,cuda,host" smooth_image ${brain} ${out} --sigma 3 --backend gpu)
cudafilters_add_exit_test(smooth_image_no_input 1 "does not exist" smooth_image nowhere.png ${out} --sigma 3)
cudafilters_add_exit_test(smooth_image_no_image 1 "none of the known formats" smooth_image
                          ${data}/README.md ${out} --sigma 3)
cudafilters_add_exit_test(smooth_image_extension 1 "none of the known formats" smooth_image ${brain} ${out}.txt --sigma 3)
cudafilters_add_exit_test(smooth_image_stats 0 "\"backend_used\": \"Host\"" smooth_image ${brain} ${out} --sigma 3 --backend host
                          --stats /dev/stdout)
cudafilters_add_exit_test(compare_with_itk 0 "\"largest_difference_from_float32\": 0.0" compare_with_itk ${brain} --backend host
                          --runs 1)
