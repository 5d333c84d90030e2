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

# The result does not depend on the machine: the label image is the baseline, pixel by pixel.
set(sar ${data}/sar_fields_1000x500.png)
set(strip --law rayleigh --start 700,140,728,235 --maximum-step 2 --minimum-edge 16)
set(contour ${CudaFilters_EXAMPLE_OUTPUT}/SarContour.geojson)
add_test(
  NAME segment_region_sar
  COMMAND
    itkTestDriver --compareIntensityTolerance 0 --compareNumberOfPixelsTolerance 0 --compare
    ${CMAKE_CURRENT_SOURCE_DIR}/test/Baseline/SarStrip.png ${CudaFilters_EXAMPLE_OUTPUT}/SarStrip.png $<TARGET_FILE:segment_region>
    ${sar} ${strip} --label ${CudaFilters_EXAMPLE_OUTPUT}/SarStrip.png --contour ${contour})
set_tests_properties(segment_region_sar PROPERTIES TIMEOUT 120 FIXTURES_SETUP SarContour)
# Anti-aliased lines are blended in floating point and rounded.
add_test(
  NAME segment_region_overlay
  COMMAND
    itkTestDriver --compareIntensityTolerance 1 --compareNumberOfPixelsTolerance 0 --compare
    ${CMAKE_CURRENT_SOURCE_DIR}/test/Baseline/BrainOverlay.png ${CudaFilters_EXAMPLE_OUTPUT}/BrainOverlay.png
    $<TARGET_FILE:segment_region> ${brain} --law gaussian --overlay ${CudaFilters_EXAMPLE_OUTPUT}/BrainOverlay.png)
set_tests_properties(segment_region_overlay PROPERTIES TIMEOUT 120)

# The contour is a start polygon: on the full image, the search begins with the pixels that it ended with.
cudafilters_add_exit_test(segment_region_restart 0 "\"record\": .[^}]*\"pixels_inside\": 3203," segment_region ${sar} --law rayleigh
                          --start-polygon ${contour} --schedule aspublished --stats /dev/stdout)
set_tests_properties(segment_region_restart PROPERTIES FIXTURES_REQUIRED SarContour)
cudafilters_add_exit_test(segment_region_contour 0 "\"type\": \"Polygon\"" segment_region ${sar} ${strip} --contour /dev/stdout)
add_test(NAME segment_region_svg COMMAND segment_region ${sar} ${strip} --overlay ${CudaFilters_EXAMPLE_OUTPUT}/Sar.svg)
set_tests_properties(segment_region_svg PROPERTIES TIMEOUT 120 FIXTURES_SETUP SarSvg)
add_test(NAME segment_region_svg_content
         COMMAND ${CMAKE_COMMAND} -D code=0 -D "regex=<polygon .*<circle .*criterion J in .*</svg>" -P ${CudaFilters_EXPECT_EXIT} --
                 ${CMAKE_COMMAND} -E cat ${CudaFilters_EXAMPLE_OUTPUT}/Sar.svg)
set_tests_properties(segment_region_svg_content PROPERTIES FIXTURES_REQUIRED SarSvg)
cudafilters_add_exit_test(segment_region_gamma 0 "\"law\": \"gamma\"" segment_region ${sar} --law gamma --looks 3.5 --backend host
                          --stats /dev/stdout)
cudafilters_add_exit_test(segment_region_as_published 0 "\"schedule\": \"aspublished\"" segment_region ${sar} ${strip} --schedule
                          aspublished --stats /dev/stdout)
cudafilters_add_exit_test(segment_region_single_slice 0 "polygon of" segment_region ${input}/Slice.mha --law gaussian)
cudafilters_add_exit_test(segment_region_help 0 "physical" segment_region --help)
cudafilters_add_exit_test(segment_region_help_of_looks 0 "gamma, rayleigh: number of looks" segment_region --help)
cudafilters_add_exit_test(segment_region_no_law 2 "--law is required" segment_region ${sar})
cudafilters_add_exit_test(segment_region_unknown_law 2 "cauchy not in" segment_region ${sar} --law cauchy)
cudafilters_add_exit_test(segment_region_three_numbers 2 "--start" segment_region ${sar} --law rayleigh --start 1,2,3)
cudafilters_add_exit_test(segment_region_empty_start 2 "x0 < x1" segment_region ${sar} --law rayleigh --start 30,20,10,40)
cudafilters_add_exit_test(segment_region_two_starts 2 "excludes" segment_region ${sar} ${strip} --start-polygon ${contour})
cudafilters_add_exit_test(segment_region_overlay_ending 2 "neither .png nor .svg" segment_region ${sar} ${strip} --overlay o.jpg)
cudafilters_add_exit_test(segment_region_label_ending 1 "none of the known formats" segment_region ${sar} ${strip} --label l.txt)
cudafilters_add_exit_test(segment_region_no_input 1 "does not exist" segment_region nowhere.png --law gaussian)
cudafilters_add_exit_test(segment_region_volume 1 "3 dimensions" segment_region ${input}/Volume.mha --law gaussian)
cudafilters_add_exit_test(segment_region_start_outside 1 "must lie in the image" segment_region ${sar} --law rayleigh
                          --start 900,400,1001,450)
cudafilters_add_exit_test(segment_region_no_looks 1 "NumberOfLooks is 0" segment_region ${sar} --law gamma --looks 0)
cudafilters_add_exit_test(segment_region_self_crossing 1 "crosses or touches itself" segment_region ${sar} --law rayleigh
                          --start-polygon ${input}/SelfCrossing.geojson)
cudafilters_add_exit_test(segment_region_no_polygon 1 "is no GeoJSON file" segment_region ${sar} --law rayleigh
                          --start-polygon ${data}/README.md)
cudafilters_add_exit_test(segment_region_no_folder 1 "could not be written" segment_region ${sar} ${strip} --stats
                          nowhere/stats.json)

# cudafilters_add_example_script_test(name script program definitions...): examples/test/SCRIPT.cmake says what is expected.
function(
  cudafilters_add_example_script_test
  name
  script
  program)
  list(TRANSFORM ARGN PREPEND "-D" OUTPUT_VARIABLE definitions)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -Dprogram=$<TARGET_FILE:${program}> -Dimage=${brain}
                                -Dwork=${CudaFilters_EXAMPLE_OUTPUT}/${name} ${definitions} -P
                                ${CMAKE_CURRENT_SOURCE_DIR}/test/${script}.cmake)
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()
cudafilters_add_example_script_test(smooth_image_latin_one_name LatinOneName smooth_image "arguments=out.png --sigma 2")
cudafilters_add_example_script_test(segment_region_latin_one_name LatinOneName segment_region "arguments=--law gaussian")
cudafilters_add_example_script_test(segment_region_temporary_file OverlayTemporaryFile segment_region)
