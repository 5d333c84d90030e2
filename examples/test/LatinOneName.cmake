# Runs `program` with `arguments` on a copy of `image` whose name is not UTF-8, and expects statistics that can be read as JSON.
set(folder ${work}/latin-one)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
string(ASCII 233 name)
file(COPY_FILE ${image} ${folder}/${name}.png)
separate_arguments(arguments)
execute_process(COMMAND ${program} ${name}.png ${arguments} --stats stats.json WORKING_DIRECTORY ${folder}
                        COMMAND_ERROR_IS_FATAL ANY)
file(READ ${folder}/stats.json stats)
string(JSON input GET "${stats}" input)
string(ASCII 239 191 189 replacement) # U+FFFD in UTF-8
if(NOT "${input}" STREQUAL "${replacement}.png")
  message(FATAL_ERROR "the statistics name the input '${input}'")
endif()
