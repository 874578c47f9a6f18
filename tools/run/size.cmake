# Fails if alula-run, stripped, is larger than 400 KiB or needs more than the C
# library.
#   cmake -DTOOL= -DSTRIP= -DOBJDUMP= -DCOPY= -P size.cmake
execute_process(COMMAND ${STRIP} --strip-all -o ${COPY} ${TOOL}
  COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${COPY} bytes)
message("stripped alula-run: ${bytes} bytes")
if(bytes GREATER 409600)
  message(FATAL_ERROR "alula-run is larger than 400 KiB")
endif()
execute_process(COMMAND ${OBJDUMP} -p ${TOOL} OUTPUT_VARIABLE headers
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED +[^ \n]+" needed "${headers}")
list(FILTER needed EXCLUDE REGEX "lib(c|dl|pthread)\\.so|ld-linux")
if(needed)
  message(FATAL_ERROR "alula-run needs more than the C library: ${needed}")
endif()
