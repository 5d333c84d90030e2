# Has `program` write an overlay as SVG, for which it needs a temporary PNG file. Expects that a file of a likely name beside the
# overlay is untouched, that nothing stays in the folder for temporary files, and that the message says so where there is none.
set(folder ${work}/overlay)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder}/temporary)
file(WRITE ${folder}/overlay.svg.part.png "a picture of somebody else's")
set(ENV{TMPDIR} ${folder}/temporary)
execute_process(COMMAND ${program} ${image} --law gaussian --overlay ${folder}/overlay.svg COMMAND_ERROR_IS_FATAL ANY)
file(READ ${folder}/overlay.svg overlay)
if(NOT overlay MATCHES "data:image/png;base64,iVBORw0KGgo")
  message(FATAL_ERROR "the overlay holds no PNG file")
endif()
set(content "")
if(EXISTS ${folder}/overlay.svg.part.png)
  file(READ ${folder}/overlay.svg.part.png content)
endif()
if(NOT "${content}" STREQUAL "a picture of somebody else's")
  message(FATAL_ERROR "a file beside the overlay is overwritten or gone")
endif()
file(GLOB left ${folder}/temporary/*)
if(left)
  message(FATAL_ERROR "temporary files stay: ${left}")
endif()

set(ENV{TMPDIR} ${folder}/nowhere)
execute_process(
  COMMAND ${program} ${image} --law gaussian --overlay ${folder}/second.svg
  RESULT_VARIABLE result
  ERROR_VARIABLE message)
if(NOT "${result}" EQUAL 1 OR NOT "${message}" MATCHES "TMPDIR must name a folder")
  message(FATAL_ERROR "exit status ${result} without a folder for temporary files: ${message}")
endif()
