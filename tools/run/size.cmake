# Fails if alula-run, stripped, is larger than 404 KiB (it was 400 until devices decided
# loops) or needs more than the C library.
#   cmake -DTOOL= -DSTRIP= -DOBJDUMP= -DCOPY= -P size.cmake
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/stripped_size.cmake")
check_stripped_size(${TOOL} 413696)
execute_process(COMMAND ${OBJDUMP} -p ${TOOL} OUTPUT_VARIABLE headers
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED +[^ \n]+" needed "${headers}")
list(FILTER needed EXCLUDE REGEX "lib(c|dl|pthread)\\.so|ld-linux")
if(needed)
  message(FATAL_ERROR "alula-run needs more than the C library: ${needed}")
endif()
