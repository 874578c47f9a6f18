# Fails if the runtime, stripped, is larger than 144 KiB (it was 100 KiB until
# memory and streams were the driver's, 112 until there were collectives, 128
# until there were copies, 136 until there were several programs in a file, 140
# until devices shared what was loaded) or needs what it must not: the C++ library (so no
# exceptions, no iostream) or LLVM.
#   cmake -DLIBRARY= -DSTRIP= -DNM= -DCOPY= -P size.cmake
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/stripped_size.cmake")
if(NOT LIMIT)
  set(LIMIT 147456)
endif()
check_stripped_size(${LIBRARY} ${LIMIT})
execute_process(COMMAND ${NM} -D --undefined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
# C++ names begin with _Z, those of its support library with __cxa, __gxx or
# _Unwind; the C library's __cxa_finalize is in every shared library.
string(REGEX MATCHALL "(_Z[^ \n]*|__cxa_[^ \n]*|__gxx[^ \n]*|_Unwind[^ \n]*|LLVM[^ \n]*|mlir[^ \n]*)"
  banned "${symbols}")
list(FILTER banned EXCLUDE REGEX "^__cxa_(finalize|atexit)")
if(banned)
  message(FATAL_ERROR "the runtime needs what it must not: ${banned}")
endif()
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [TDBR] [^ \n]*" exported "${symbols}")
list(FILTER exported EXCLUDE REGEX " alula_")
if(exported)
  message(FATAL_ERROR "the runtime exports names that are not alula_: ${exported}")
endif()
