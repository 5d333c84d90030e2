# The command runs as a user runs it; what it writes is compared with files that ITK's own filter wrote.
set(CudaFilters_APP_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/test)
file(MAKE_DIRECTORY ${CudaFilters_APP_OUTPUT})
set(baseline ${CMAKE_CURRENT_SOURCE_DIR}/test/Baseline)
set(input ${CMAKE_CURRENT_SOURCE_DIR}/test/Input)
set(data ${CudaFilters_SOURCE_DIR}/examples/data)

# cudafilters_add_image_test(name tolerance baseline output arguments...) compares the written image with a baseline
# pixel by pixel.
function(
  cudafilters_add_image_test
  name
  tolerance
  expected
  output)
  add_test(
    NAME ${name}
    COMMAND itkTestDriver --compareIntensityTolerance ${tolerance} --compareNumberOfPixelsTolerance 0 --compare
            ${baseline}/${expected} ${output} $<TARGET_FILE:itk-cudafilters> ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()

# cudafilters_add_smooth_test(name tolerance input baseline output arguments...)
function(
  cudafilters_add_smooth_test
  name
  tolerance
  image
  expected
  output)
  set(output ${CudaFilters_APP_OUTPUT}/${output})
  cudafilters_add_image_test(${name} ${tolerance} ${expected} ${output} smooth ${image} ${output} ${ARGN})
endfunction()

# An integer pixel may fall on either side of a step.
set(brain ${data}/BrainProtonDensitySlice.png)
cudafilters_add_smooth_test(command_smooth_png 1 ${brain} BrainSigma4.png Brain.png --sigma 4)
cudafilters_add_smooth_test(command_smooth_volume 1e-5 ${input}/Volume.mha VolumeSigma1.mha Volume.nrrd --sigma 1)
cudafilters_add_smooth_test(command_smooth_axes 1e-5 ${input}/Volume.mha VolumeSigma1-2-3.mha VolumeAxes.nii --sigma 1,2,3)
cudafilters_add_smooth_test(command_smooth_colour 1 ${input}/Colour.mha ColourSigma1.mha Colour.tif --sigma 1)
cudafilters_add_smooth_test(command_smooth_single_slice 1 ${input}/Slice.mha SliceSigma1.5.mha Slice.mha -s 1.5)
# Steps up to 65535, the type's largest value, which the smoothed image in float exceeds by 70.
cudafilters_add_smooth_test(command_smooth_limits 1 ${input}/Limits.mha LimitsSigma2.mha Limits.mha --sigma 2)

include(${CudaFilters_SOURCE_DIR}/test/CudaFiltersExitTest.cmake)
# cudafilters_add_command_test(name code regex arguments...) checks the exit status, and that the output matches a
# pattern.
function(
  cudafilters_add_command_test
  name
  code
  regex)
  cudafilters_add_exit_test(command_${name} ${code} ${regex} itk-cudafilters ${ARGN})
endfunction()

cudafilters_add_command_test(help 0 "smooth .*segment .*partition .*vesselness .*compare .*info " --help)
cudafilters_add_command_test(version 0 "itk-cudafilters ${CudaFilters_VERSION}, ITK 5\\." --version)
cudafilters_add_command_test(no_part 2 "A subcommand is required")
cudafilters_add_command_test(unknown_part 2 "'sharpen' is not known" sharpen)

cudafilters_add_command_test(info 0 "Backend:.*Override:" info)
cudafilters_add_command_test(info_help 0 "ITK_CUDAFILTERS_DEVICE" info --help)
cudafilters_add_command_test(info_wrong_argument 2 "--nonsense" info --nonsense)
if(CudaFilters_BUILD_OVERRIDES)
  cudafilters_add_command_test(info_overrides 0 "LaplacianRecursiveGaussianImageFilter<Image<short, 3>, Image<float, 3>>" info --overrides)
endif()

set(out ${CudaFilters_APP_OUTPUT}/out.png)
cudafilters_add_command_test(smooth_help 0 "[Pp]hysical units" smooth --help)
cudafilters_add_command_test(smooth_version 0 "itk-cudafilters ${CudaFilters_VERSION}" smooth --version)
cudafilters_add_command_test(smooth_no_sigma 2 "--sigma is required" smooth ${brain} ${out})
cudafilters_add_command_test(smooth_zero_sigma 2 "'0' is not a number greater than 0" smooth ${brain} ${out} --sigma 0)
cudafilters_add_command_test(smooth_text_as_sigma 2 "'wide' is not a number" smooth ${brain} ${out} --sigma wide)
cudafilters_add_command_test(smooth_three_sigmas 2 "3 values are given.*2 axes" smooth ${brain} ${out} --sigma 1,2,3)
cudafilters_add_command_test(smooth_unknown_backend 2 "automatic,cuda,host" smooth ${brain} ${out} --sigma 3 --backend gpu)
cudafilters_add_command_test(smooth_unknown_approximation 2 "deriche,accurate" smooth ${brain} ${out} --sigma 3 --approximation exact)
cudafilters_add_command_test(smooth_unknown_boundary_mode 2 "nearest,reflect,mirror,wrap,constant" smooth ${brain} ${out} --sigma 3
                             --boundary-mode edge)
cudafilters_add_command_test(smooth_boundary_value_not_finite 1 "BoundaryValue is inf" smooth ${brain} ${out} --sigma 3
                             --boundary-mode constant --boundary-value inf)
cudafilters_add_command_test(smooth_boundary 0 "\"boundary_mode\": \"wrap\"" smooth ${brain} ${out} --sigma 3 --boundary-mode Wrap
                             --report /dev/stdout)
cudafilters_add_command_test(smooth_in_parts 0 "\"used\": \"one_sweep\".*GB/s read and written" smooth ${input}/Volume.mha
                             ${CudaFilters_APP_OUTPUT}/Parts.mha --sigma 2 --memory 1G --report /dev/stdout)
cudafilters_add_command_test(smooth_in_no_parts 0 "smoothed with backend" smooth ${brain} ${out} --sigma 3 --memory 1G)
cudafilters_add_command_test(smooth_format_without_parts 1 "PNGImageIO, is not read in parts. the whole image takes" smooth ${brain}
                             ${CudaFilters_APP_OUTPUT}/Parts.mha --sigma 3 --memory 100K)
cudafilters_add_command_test(smooth_too_little_memory 1 "--memory allows" smooth ${input}/Volume.mha
                             ${CudaFilters_APP_OUTPUT}/Parts.mha --sigma 2 --memory 1M)
cudafilters_add_command_test(smooth_wrong_size 2 "'8Q' is not a number of bytes above 0" smooth ${brain} ${out} --sigma 3 --memory 8Q)
cudafilters_add_command_test(smooth_streaming 0 "\"streaming\": \"on\"" smooth ${brain} ${out} --sigma 3 --streaming On --report
                             /dev/stdout)
# The process may not write a single byte, as on a full disk.
set(full ${CudaFilters_APP_OUTPUT}/Full.mha)
add_test(NAME command_smooth_full_disk
         COMMAND sh -c "trap '' XFSZ; ulimit -f 0; \"$1\" smooth \"$2\" \"$3\" --sigma 2 --memory 1G; test $? -eq 1 && test ! -e \"$3\" && echo well"
                 sh $<TARGET_FILE:itk-cudafilters> ${input}/Volume.mha ${full})
set_tests_properties(command_smooth_full_disk PROPERTIES TIMEOUT 120 PASS_REGULAR_EXPRESSION "Full.mha' could not be written.*well")
# PNG cannot store float pixels. The incomplete file is removed.
set(begun ${CudaFilters_APP_OUTPUT}/Begun.png)
add_test(NAME command_smooth_unfinished_file
         COMMAND sh -c "rm -f \"$3\"; \"$1\" smooth \"$2\" \"$3\" --sigma 2; test $? -eq 1 && test ! -e \"$3\" && echo well"
                 sh $<TARGET_FILE:itk-cudafilters> ${input}/Volume.mha ${begun})
set_tests_properties(command_smooth_unfinished_file PROPERTIES TIMEOUT 120 PASS_REGULAR_EXPRESSION "Begun.png' could not be written: PNG supports.*well")
# Writing in parts to the file that is read is refused, and the file remains unchanged.
set(over ${CudaFilters_APP_OUTPUT}/Over.mha)
add_test(NAME command_smooth_over_input
         COMMAND sh -c "cp \"$2\" \"$3\"; cd \"$(dirname \"$3\")\"; \"$1\" smooth \"$3\" ./Over.mha --sigma 2 --memory 1G; test $? -eq 1 && cmp \"$2\" \"$3\" && echo well"
                 sh $<TARGET_FILE:itk-cudafilters> ${input}/Volume.mha ${over})
set_tests_properties(command_smooth_over_input PROPERTIES TIMEOUT 120 PASS_REGULAR_EXPRESSION "belongs to '.*Over.mha', which is read.*well")
cudafilters_add_command_test(smooth_unknown_option 2 "--radius" smooth ${brain} ${out} --sigma 3 --radius 2)
cudafilters_add_command_test(smooth_no_input 1 "does not exist" smooth nowhere.png ${out} --sigma 3)
cudafilters_add_command_test(smooth_no_image 1 "none of the known formats" smooth ${data}/README.md ${out} --sigma 3)
cudafilters_add_command_test(smooth_extension 1 "none of the known formats" smooth ${brain} ${out}.txt --sigma 3)
cudafilters_add_command_test(smooth_no_folder 1 "nowhere/out.png' could not be written" smooth ${brain} nowhere/out.png --sigma 3)
cudafilters_add_command_test(
  smooth_report
  0
  "\"approximation\": \"accurate\".*\"backend_asked\": \"host\",[^}]*\"backend_used\": \"host\""
  smooth
  ${brain}
  ${out}
  --sigma
  3
  --approximation
  ACCURATE
  --backend
  Host
  --report
  /dev/stdout)

cudafilters_add_command_test(compare_file 0 "\"largest_difference_from_float32\": 0.0" compare ${brain} --backend host --runs 1
                             --report /dev/stdout)
cudafilters_add_command_test(compare_cube 0 "16 x 16 x 16 pixels.*ITK's filter" compare --size 16 --runs 1 --sigma 1,2,3)
cudafilters_add_command_test(compare_raw 0 "difference" compare ${brain} --runs 1 --raw ${CudaFilters_APP_OUTPUT}/Brain-)
cudafilters_add_command_test(compare_size_of_file 2 "excludes" compare ${brain} --size 64)
cudafilters_add_command_test(compare_no_runs 2 "--runs" compare --size 16 --runs 0)
cudafilters_add_command_test(compare_no_input 1 "does not exist" compare nowhere.png)

# The result does not depend on the machine: the label image is the baseline, pixel by pixel.
set(sar ${data}/sar_fields_1000x500.png)
set(strip --law rayleigh --initial-region 700,140,28,95 --maximum-step 2 --minimum-edge-length 16)
set(label ${CudaFilters_APP_OUTPUT}/SarStrip.png)
set(contour ${CudaFilters_APP_OUTPUT}/SarContour.geojson)
cudafilters_add_image_test(
  command_segment_label
  0
  SarStrip.png
  ${label}
  segment
  ${sar}
  ${strip}
  --inside-value
  255
  --label
  ${label}
  --contour
  ${contour})
set_tests_properties(command_segment_label PROPERTIES FIXTURES_SETUP SarContour)
# Compares the picture with one drawn by the rules of docs/user/parameters.md.
set(overlay ${CudaFilters_APP_OUTPUT}/BrainOverlay.png)
cudafilters_add_image_test(command_segment_overlay 0 BrainOverlay.png ${overlay} segment ${brain} --law gaussian --overlay ${overlay})

# The contour is an initial contour: on the full image, the search begins with the 3203 pixels that it ended with. The
# outline of an initial mask is made of fewer nodes than it has corners.
set(restart segment ${sar} --law rayleigh --schedule as-published --report /dev/stdout)
set(first "\"record\": .[^}]*\"pixels_inside\":")
cudafilters_add_command_test(segment_initial_contour 0 "${first} 3203," ${restart} --initial-contour ${contour})
cudafilters_add_command_test(segment_initial_mask 0 "${first} 3213," ${restart} --initial-mask ${baseline}/SarStrip.png)
set_tests_properties(command_segment_initial_contour PROPERTIES FIXTURES_REQUIRED SarContour)
cudafilters_add_command_test(segment_valid_mask 0 "inside [0-9]+ pixels" segment ${sar} --law rayleigh --valid-mask ${baseline}/SarStrip.png
                             --start margin_rectangle --minimum-region-size 1)
cudafilters_add_command_test(segment_contour 0 "\"coordinates\": \"physical\".*\"type\": \"Polygon\"" segment ${sar} ${strip} --contour
                             /dev/stdout)
cudafilters_add_command_test(segment_gamma 0 "\"law\": \"gamma\"" segment ${sar} --law gamma --looks 3.5 --backend host --report
                             /dev/stdout)
cudafilters_add_command_test(segment_name_of_law 0 "\"law\": \"log_normal\"" segment ${sar} --law Log-Normal --report /dev/stdout)
cudafilters_add_command_test(segment_keeps_nodes 0 "polygon of" segment ${sar} ${strip} --no-use-description-length)
cudafilters_add_command_test(segment_stop 0 "stopped by maximum_number_of_iterations" segment ${sar} ${strip}
                             --maximum-number-of-iterations 1)
cudafilters_add_command_test(
  segment_report
  0
  "\"schedule\": \"as_published\",.*\"stop\": \"converged\",.*\"backend_used\""
  segment
  ${sar}
  ${strip}
  --schedule
  AsPublished
  --report
  /dev/stdout)
# The slice has an origin other than 0 and a spacing other than 1.
cudafilters_add_command_test(segment_pixel_contour 0 "${first} 20," segment ${input}/Slice.mha --law gaussian --initial-contour
                             ${input}/PixelContour.geojson --schedule as_published --report /dev/stdout)
cudafilters_add_command_test(segment_single_slice 0 "polygon of" segment ${input}/Slice.mha --law gaussian)
cudafilters_add_command_test(segment_help 0 "gamma, rayleigh: number of independent looks" segment --help)
cudafilters_add_command_test(segment_no_law 2 "--law is required" segment ${sar})
cudafilters_add_command_test(segment_unknown_law 2 "cauchy not in" segment ${sar} --law cauchy)
cudafilters_add_command_test(segment_unknown_start 2 "margin_rectangle" segment ${sar} --law rayleigh --start middle)
cudafilters_add_command_test(segment_unknown_schedule 2 "as_published" segment ${sar} --law rayleigh --schedule fast)
cudafilters_add_command_test(segment_text_as_number 2 "--maximum-step" segment ${sar} --law rayleigh --maximum-step far)
cudafilters_add_command_test(segment_inside_value 2 "--inside-value" segment ${sar} --law rayleigh --inside-value 256)
cudafilters_add_command_test(segment_one_value 1 "InsideValue is 3.*another value than OutsideValue" segment ${sar} --law
                             rayleigh --inside-value 3 --outside-value 3)
cudafilters_add_command_test(segment_three_numbers 2 "--initial-region" segment ${sar} --law rayleigh --initial-region 1,2,3)
cudafilters_add_command_test(segment_empty_region 2 "1 or more" segment ${sar} --law rayleigh --initial-region 30,20,0,40)
cudafilters_add_command_test(segment_two_starts 2 "excludes" segment ${sar} ${strip} --initial-contour ${contour})
cudafilters_add_command_test(segment_old_option 2 "--start-polygon" segment ${sar} --law rayleigh --start-polygon ${contour})
cudafilters_add_command_test(segment_label_ending 1 "none of the known formats" segment ${sar} ${strip} --label l.txt)
cudafilters_add_command_test(segment_overlay_ending 1 "none of the known formats" segment ${sar} ${strip} --overlay o.svg)
cudafilters_add_command_test(segment_no_input 1 "does not exist" segment nowhere.png --law gaussian)
cudafilters_add_command_test(segment_volume 1 "3 dimensions" segment ${input}/Volume.mha --law gaussian)
cudafilters_add_command_test(segment_region_outside 1 "must lie in the image" segment ${sar} --law rayleigh --initial-region
                             900,400,101,50)
cudafilters_add_command_test(segment_no_looks 1 "NumberOfLooks is 0" segment ${sar} --law gamma --looks 0)
cudafilters_add_command_test(segment_self_crossing 1 "crosses or touches itself" segment ${sar} --law rayleigh --initial-contour
                             ${input}/SelfCrossing.geojson)
cudafilters_add_command_test(segment_no_polygon 1 "is no GeoJSON file" segment ${sar} --law rayleigh --initial-contour ${data}/README.md)
cudafilters_add_command_test(segment_no_folder 1 "could not be written" segment ${sar} ${strip} --report nowhere/report.json)

# A partition of a picture of two grey values, which no noise disturbs: the square of 20 x 20 pixels is a region of four
# nodes.
set(square ${input}/Square.mha)
set(divided partition ${square} --law gaussian)
cudafilters_add_command_test(partition_square 0 "2 regions, 8 nodes" ${divided})
cudafilters_add_command_test(
  partition_polygons
  0
  "\"coordinates\":\"physical\".*\"type\":\"Polygon\",\"coordinates\":...19.0,9.0.,.29.0,9.0.,.29.0,29.0.,.19.0,29.0.,.19.0,9.0..."
  ${divided}
  --polygons
  /dev/stdout)
cudafilters_add_command_test(partition_table 0 "region,pixels,mean.*\n2,400,200.0,40000.0,.*,400.0,80.0,20,10,40,30,1,.*,1" ${divided} --table
                             /dev/stdout)
cudafilters_add_command_test(
  partition_report
  0
  "\"regions\": 2,.*\"edges\": 8,.*\"stop\": \"converged\",.*\"backend_used\": \"(host|cuda)\""
  ${divided}
  --report
  /dev/stdout)
# Without noise, the means of a partition equal the picture, and its label image differs only in the values.
set(means ${CudaFilters_APP_OUTPUT}/SquareMeans.mha)
cudafilters_add_image_test(command_partition_means 0 ../Input/Square.mha ${means} ${divided} --means ${means} --initial-labels ${square})
# With a threshold the means also are grey values, not fractions of ones.
set(meansOfOnes ${CudaFilters_APP_OUTPUT}/SquareMeansOfOnes.mha)
cudafilters_add_image_test(
  command_partition_means_of_ones
  0
  ../Input/Square.mha
  ${meansOfOnes}
  partition
  ${square}
  --law
  bernoulli
  --foreground-threshold
  150
  --means
  ${meansOfOnes}
  --initial-labels
  ${square})
cudafilters_add_command_test(partition_images 0 "2 regions" ${divided} --labels ${CudaFilters_APP_OUTPUT}/SquareLabels.tif --overlay
                             ${CudaFilters_APP_OUTPUT}/SquareOverlay.png)
cudafilters_add_command_test(partition_labels_only 0 "\"stop\": \"labels_only\"" ${divided} --labels-only --report /dev/stdout)
cudafilters_add_command_test(partition_keeps_parts 0 "2 regions" ${divided} --initial-labels ${square} --no-allow-merging
                             --maximum-number-of-iterations 1)
cudafilters_add_command_test(partition_looks 0 "2.5 looks per pixel" partition ${sar} --law rayleigh --looks 2.5 --labels-only)
cudafilters_add_command_test(partition_help 0 "gamma, rayleigh: number of independent looks per pixel" partition --help)
cudafilters_add_command_test(partition_no_law 2 "--law is required" partition ${square})
cudafilters_add_command_test(partition_unknown_law 2 "cauchy not in" partition ${square} --law cauchy)
cudafilters_add_command_test(partition_text_as_number 2 "--block-size" ${divided} --block-size four)
cudafilters_add_command_test(partition_no_polygons 2 "excludes" ${divided} --labels-only --polygons p.geojson)
cudafilters_add_command_test(partition_labels_ending 1 "none of the known formats" ${divided} --labels l.txt)
cudafilters_add_command_test(partition_means_ending 1 "none of the known formats" ${divided} --means m.svg)
cudafilters_add_command_test(partition_no_input 1 "does not exist" partition nowhere.png --law gaussian)
cudafilters_add_command_test(partition_volume 1 "3 dimensions.*can be divided" partition ${input}/Volume.mha --law
                             gaussian)
cudafilters_add_command_test(partition_no_device 1 "cannot be used" ${divided} --backend cuda --device-index 1000)
cudafilters_add_command_test(partition_negative_cost 1 "SegmentCost is -1" ${divided} --segment-cost=-1)
cudafilters_add_command_test(partition_no_folder 1 "could not be written" ${divided} --table nowhere/table.csv)

# Enhances the vessels of a volume and of an image. With one sigma, the image of scales holds only that sigma and 0.
set(vessels ${CudaFilters_APP_OUTPUT}/Vessels)
cudafilters_add_command_test(
  vesselness_volume
  0
  "\"measure\": \"jerman\".*\"largest_response\": [0-9.e-]+,.*\"backend_used\": \"(host|cuda)\""
  vesselness
  ${input}/Volume.mha
  ${vessels}.mha
  --sigmas
  1,2
  --measure
  Jerman
  --dark
  --scale-image
  ${vessels}Scale.nrrd
  --mip
  ${vessels}.png
  --report
  /dev/stdout)
cudafilters_add_command_test(vesselness_image 0 "vessels enhanced with backend.*largest response [0-9.]+" vesselness ${brain} ${vessels}.tif
                             --sigmas 1.5 --no-normalize --boundary-mode reflect --approximation accurate --mip ${vessels}Slice.png)
cudafilters_add_command_test(vesselness_single_slice 0 "\"size\": .[^,]*,[^,]*.,.*\"gamma\": null" vesselness ${input}/Slice.mha
                             ${vessels}Slice.mha --sigmas 1 --report /dev/stdout)
cudafilters_add_command_test(vesselness_gamma 0 "\"gamma\": 5.0" vesselness ${brain} ${vessels}.nrrd --sigmas 1 --gamma 5 --report
                             /dev/stdout)
cudafilters_add_command_test(vesselness_help 0 "--bright, --dark.*--mip FILE.png" vesselness --help)
cudafilters_add_command_test(vesselness_no_sigmas 2 "--sigmas is required" vesselness ${brain} ${vessels}.mha)
cudafilters_add_command_test(vesselness_zero_sigma 2 "'0' is not a number greater than 0" vesselness ${brain} ${vessels}.mha --sigmas 1,0)
cudafilters_add_command_test(vesselness_unknown_measure 2 "frangi,sato,jerman" vesselness ${brain} ${vessels}.mha --sigmas 1 --measure ridge)
cudafilters_add_command_test(vesselness_object_dimension 1 "ObjectDimension is 2" vesselness ${brain} ${vessels}.mha --sigmas 1
                             --object-dimension 2)
cudafilters_add_command_test(vesselness_tau 2 "--tau: '1.5' is not a number from 0 to 1" vesselness ${brain} ${vessels}.mha --sigmas 1
                             --measure jerman --tau 1.5)
foreach(option alpha beta gamma)
  foreach(value nan inf 0 -1)
    cudafilters_add_command_test(vesselness_${option}_${value} 2 "--${option}: '${value}' is not a number greater than 0" vesselness ${brain}
                                 ${vessels}.mha --sigmas 1 --${option} ${value})
  endforeach()
endforeach()
cudafilters_add_command_test(vesselness_png 1 "PNG holds no floating-point numbers" vesselness ${brain} ${out} --sigmas 1)
cudafilters_add_command_test(vesselness_mip_ending 1 "none of the known formats" vesselness ${brain} ${vessels}.mha --sigmas 1 --mip m.svg)
cudafilters_add_command_test(vesselness_no_input 1 "does not exist" vesselness nowhere.png ${vessels}.mha --sigmas 1)
cudafilters_add_command_test(vesselness_no_device 1 "cannot be used" vesselness ${brain} ${vessels}.mha --sigmas 1 --backend cuda
                             --device-index 1000)

# cudafilters_add_latin_one_test(part arguments...) runs a command on an image whose name is not UTF-8.
function(cudafilters_add_latin_one_test part)
  list(JOIN ARGN " " arguments)
  add_test(NAME command_${part}_latin_one_name
           COMMAND ${CMAKE_COMMAND} -Dprogram=$<TARGET_FILE:itk-cudafilters> -Dpart=${part} -Darguments=${arguments} -Dimage=${brain}
                   -Dwork=${CudaFilters_APP_OUTPUT}/${part} -P ${CMAKE_CURRENT_SOURCE_DIR}/test/LatinOneName.cmake)
  set_tests_properties(command_${part}_latin_one_name PROPERTIES TIMEOUT 120)
endfunction()
cudafilters_add_latin_one_test(smooth out.png --sigma 2)
cudafilters_add_latin_one_test(segment --law gaussian)
cudafilters_add_latin_one_test(vesselness vessels.mha --sigmas 1)
cudafilters_add_latin_one_test(partition --law gaussian)

find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_test(NAME command_parameters COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/test/test_parameters.py
                                           $<TARGET_FILE:itk-cudafilters> ${CudaFilters_SOURCE_DIR}/docs/user/parameters.md)
  add_test(NAME command_readme COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/test/test_readme.py
                                       $<TARGET_FILE:itk-cudafilters> ${CudaFilters_SOURCE_DIR})
  set_tests_properties(command_parameters command_readme PROPERTIES TIMEOUT 120)
endif()
