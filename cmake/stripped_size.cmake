# check_stripped_size(FILE MOST): prints how large FILE is when ${STRIP} has
# stripped it to ${COPY}, and fails if that is more than MOST bytes.
function(check_stripped_size file most)
  execute_process(COMMAND ${STRIP} --strip-all -o ${COPY} ${file}
    COMMAND_ERROR_IS_FATAL ANY)
  file(SIZE ${COPY} bytes)
  cmake_path(GET file FILENAME name)
  message("stripped ${name}: ${bytes} bytes")
  if(bytes GREATER most)
    message(FATAL_ERROR "${name} is larger than ${most} bytes")
  endif()
endfunction()
