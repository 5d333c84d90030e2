# A use of an image on the host: it compiles with itk::Image, and fails with a device image, with the expected message.
# cmake -D source=... -D compilers=... -D includes=... -D flags=... -D expected=regex [-D without_control=ON] -P ExpectNoHostUse.cmake
separate_arguments(flags)
list(REMOVE_DUPLICATES includes)
list(REMOVE_ITEM includes /usr/include) # the compiler's own; named here it would come too early
list(TRANSFORM includes PREPEND -isystem)

# compile(compiler image result output)
function(compile compiler image result output)
  execute_process(
    COMMAND ${compiler} ${flags} -std=c++17 -fsyntax-only ${includes} "-DIMAGE_TYPE=${image}" ${source}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  set(${result}
      ${code}
      PARENT_SCOPE)
  set(${output}
      "${text}"
      PARENT_SCOPE)
endfunction()

foreach(compiler IN LISTS compilers)
  if(NOT without_control)
    compile(${compiler} "itk::Image<float,3>" code text)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${compiler}: the use does not compile with itk::Image either:\n${text}")
    endif()
  endif()
  compile(${compiler} "itk::CudaDeviceImage<float,3>" code text)
  if(code EQUAL 0)
    message(FATAL_ERROR "${compiler}: the use compiles with a device image")
  endif()
  if(NOT text MATCHES "${expected}")
    message(FATAL_ERROR "${compiler}: the message has no \"${expected}\":\n${text}")
  endif()
endforeach()
