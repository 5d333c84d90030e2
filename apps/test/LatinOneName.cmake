# Runs `program` `part` with `arguments` on a copy of `image` whose name is not UTF-8, and expects a report that can be read as JSON.
set(folder ${work}/latin-one)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
string(ASCII 233 name)
file(COPY_FILE ${image} ${folder}/${name}.png)
separate_arguments(arguments)
execute_process(COMMAND ${program} ${part} ${name}.png ${arguments} --report report.json WORKING_DIRECTORY ${folder}
                        COMMAND_ERROR_IS_FATAL ANY)
file(READ ${folder}/report.json report)
string(JSON input GET "${report}" input)
string(ASCII 239 191 189 replacement) # U+FFFD in UTF-8
if(NOT "${input}" STREQUAL "${replacement}.png")
  message(FATAL_ERROR "the report names the input '${input}'")
endif()
