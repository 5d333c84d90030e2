# Runs each program. Its results are compared with files that ITK's own filters wrote, or with what the picture was drawn
# from.
set(CudaFilters_EXAMPLE_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test)
file(MAKE_DIRECTORY ${CudaFilters_EXAMPLE_OUTPUT})
include(${CudaFilters_SOURCE_DIR}/test/CudaFiltersExitTest.cmake)
set(data ${CMAKE_CURRENT_SOURCE_DIR}/data)
set(test ${CMAKE_CURRENT_SOURCE_DIR}/test)
set(out ${CudaFilters_EXAMPLE_OUTPUT})

# cudafilters_add_example_test(name tolerance baseline output program arguments...) compares the pixels of the output.
function(
  cudafilters_add_example_test
  name
  tolerance
  baseline
  output)
  add_test(NAME example_${name} COMMAND itkTestDriver --compareIntensityTolerance ${tolerance} --compareNumberOfPixelsTolerance 0 --compare
                                        ${test}/${baseline} ${out}/${output} ${ARGN})
  set_tests_properties(example_${name} PROPERTIES TIMEOUT 120)
endfunction()

# cudafilters_add_usage_tests(program arguments...) checks --help, too few arguments, and an image that is not there or is
# none. The arguments are those behind INPUT.
function(cudafilters_add_usage_tests program)
  cudafilters_add_exit_test(example_${program}_help 0 "^Usage: ${program} INPUT .*\n$" ${program} --help)
  cudafilters_add_exit_test(example_${program}_usage 2 "number of arguments is 1\nUsage: ${program} INPUT" ${program} ${test}/Volume.mha)
  cudafilters_add_exit_test(example_${program}_no_input 1 "${program}: 'nowhere.mha' cannot be opened" ${program} nowhere.mha ${ARGN})
  cudafilters_add_exit_test(example_${program}_no_image 1 "README.md' is in none of the known formats" ${program} ${data}/README.md
                            ${ARGN})
endfunction()

set(volume ${test}/Volume.mha)
cudafilters_add_usage_tests(smooth_image out.mha 1)
cudafilters_add_example_test(smooth_image 1e-5 VolumeSigma1.mha Volume.mha $<TARGET_FILE:smooth_image> ${volume} ${out}/Volume.mha 1)
cudafilters_add_example_test(smooth_image_by_itk 1e-5 VolumeSigma1.mha ByITK.nrrd $<TARGET_FILE:smooth_image> ${volume} ${out}/ByITK.nrrd 1 itk)
cudafilters_add_exit_test(example_smooth_image_picture 0 "smoothed with sigma 2 in [0-9.e-]+ ms by (Cuda|Host): " smooth_image
                          ${data}/BrainProtonDensitySlice.png ${out}/Brain.tif 2)
cudafilters_add_exit_test(example_smooth_image_sigma 2 "SIGMA is 'wide'; it must be a number from 0.001 to" smooth_image ${volume}
                          ${out}/x.mha wide)
cudafilters_add_exit_test(example_smooth_image_zero 2 "SIGMA is '0'" smooth_image ${volume} ${out}/x.mha 0)
cudafilters_add_exit_test(example_smooth_image_fourth 2 "argument is 'ITK'; it can only be itk" smooth_image ${volume} ${out}/x.mha 1 ITK)
cudafilters_add_exit_test(example_smooth_image_extension 1 "x.txt' could not be written: its extension" smooth_image ${volume} ${out}/x.txt 1)
# ITK's writer of NIfTI files succeeds in both cases.
cudafilters_add_exit_test(example_smooth_image_no_folder 1 "nowhere/x.nii.gz' could not be written: No such file" smooth_image ${volume}
                          nowhere/x.nii.gz 1)
file(CREATE_LINK /dev/full ${out}/full.nii SYMBOLIC)
cudafilters_add_exit_test(example_smooth_image_full_disk 1 "full.nii' could not be written" smooth_image ${volume} ${out}/full.nii 1)

# A square of 20 x 20 pixels of 200 on a ground of 100. Its spacing is 0.5 and 1, and its corners are at (19, 9) and (29, 29).
set(square ${test}/Square.mha)
cudafilters_add_usage_tests(segment_region gaussian label.png)
cudafilters_add_exit_test(
  example_segment_region 0
  "400 pixels of mean 200 inside, 2000 of mean 100 outside\n.19, 9.\n.29, 9.\n.29, 29.\n.19, 29.\n$" segment_region ${square} gaussian
  ${out}/Square.png 25 15 10 8)
cudafilters_add_exit_test(example_segment_region_default 0 "400 pixels of mean 200 inside" segment_region ${square} gaussian ${out}/Default.png)
cudafilters_add_exit_test(example_segment_region_law 1 "^segment_region: NoiseLaw is .cauchy." segment_region ${square} cauchy ${out}/x.png)
cudafilters_add_exit_test(example_segment_region_rectangle 2 "needs four numbers" segment_region ${square} gaussian ${out}/x.png 25 15)
cudafilters_add_exit_test(example_segment_region_width 2 "WIDTH is '-3'" segment_region ${square} gaussian ${out}/x.png 25 15 -3 8)
cudafilters_add_exit_test(example_segment_region_volume 1 "Volume.mha' has 3 dimensions; it must have 2" segment_region ${volume} gaussian
                          ${out}/x.png)
cudafilters_add_exit_test(example_segment_region_no_folder 1 "nowhere/x.png' could not be written" segment_region ${square} gaussian
                          nowhere/x.png)

cudafilters_add_usage_tests(partition_image gaussian labels.png polygons.geojson)
set(polygons ${out}/Square.geojson)
cudafilters_add_exit_test(example_partition_image 0 "2 regions, 8 nodes, 1 looks" partition_image ${square} gaussian ${out}/SquareLabels.png
                          ${polygons})
add_test(NAME example_partition_image_polygons COMMAND ${CMAKE_COMMAND} -E cat ${polygons})
set_tests_properties(example_partition_image PROPERTIES FIXTURES_SETUP SquarePolygons)
set_tests_properties(
  example_partition_image_polygons
  PROPERTIES FIXTURES_REQUIRED SquarePolygons
             PASS_REGULAR_EXPRESSION "\"pixels\":400,\"mean\":200}.*\\[\\[\\[\\[19,9\\],\\[29,9\\],\\[29,29\\],\\[19,29\\],\\[19,9\\]\\]\\]\\]")
cudafilters_add_exit_test(example_partition_image_law 1 "^partition_image: NoiseLaw is .cauchy." partition_image ${square} cauchy
                          ${out}/x.png ${out}/x.geojson)
cudafilters_add_exit_test(example_partition_image_no_folder 1 "nowhere/x.geojson' could not be written" partition_image ${square} gaussian
                          ${out}/x.png nowhere/x.geojson)

cudafilters_add_usage_tests(vessels objectness response.mha scale.mha 1)
cudafilters_add_example_test(vessels 1e-5 VolumeVessels.mha Vessels.mha --compare ${test}/VolumeScales.mha ${out}/Scales.mha
                             $<TARGET_FILE:vessels> ${volume} objectness ${out}/Vessels.mha ${out}/Scales.mha 1 2)
cudafilters_add_exit_test(example_vessels_measure 1 "^vessels: HessianMeasure is .ridge." vessels ${volume} ridge ${out}/x.mha ${out}/x.mha 1)
cudafilters_add_exit_test(example_vessels_sigma 2 "SIGMA is '-2'" vessels ${volume} frangi ${out}/x.mha ${out}/x.mha 1 -2)
cudafilters_add_exit_test(example_vessels_no_folder 1 "nowhere/x.mha' could not be written" vessels ${volume} frangi nowhere/x.mha
                          ${out}/x.mha 1)

# Without a GPU the program reports that and exits.
set(bright ${test}/VolumeTimes100.mha)
cudafilters_add_usage_tests(device_images out.mha 1)
cudafilters_add_exit_test(example_device_images_sigma 2 "SIGMA is 'none'" device_images ${bright} ${out}/x.mha none)
if(CudaFilters_USE_CUDA)
  cudafilters_add_example_test(device_images_Gpu 1 VolumeTimes100Edges.mha Edges.mha $<TARGET_FILE:device_images> ${bright} ${out}/Edges.mha 1)
  set_tests_properties(example_device_images_Gpu PROPERTIES LABELS gpu SKIP_REGULAR_EXPRESSION
                                                              "no NVIDIA GPU is visible|no GPU found|no NVIDIA driver found")
else()
  cudafilters_add_exit_test(example_device_images_no_gpu 1 "^device_images: .*CUDA" device_images ${bright} ${out}/x.mha 1)
endif()
