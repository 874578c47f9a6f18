# Finds Debian's MLIR 19 and defines how our dialects are generated.

find_package(MLIR 19.1 REQUIRED CONFIG
  HINTS /usr/lib/llvm-19/lib/cmake/mlir)
find_package(LLVM 19.1 REQUIRED CONFIG
  HINTS /usr/lib/llvm-19/lib/cmake/llvm)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# Debian's MLIRConfig names the folders of the machine that built it.
set(MLIR_INCLUDE_DIR "${LLVM_INCLUDE_DIR}")
set(MLIR_INCLUDE_DIRS "${LLVM_INCLUDE_DIRS}")
separate_arguments(ALULA_LLVM_DEFINITIONS UNIX_COMMAND "${LLVM_DEFINITIONS}")
list(TRANSFORM ALULA_LLVM_DEFINITIONS REPLACE "^-D" "")

find_program(ALULA_MLIR_TBLGEN NAMES mlir-tblgen mlir-tblgen-19
  HINTS /usr/lib/llvm-19/bin REQUIRED)

# Everything that includes a dialect's headers waits for this target.
add_custom_target(alula-dialect-headers)

# alula_tablegen(out.inc input.td -gen-… flags): generates build/<this folder>/out.inc.
# Every .td file of the folder and of dialect/ is a dependency.
function(alula_tablegen OUT IN)
  file(RELATIVE_PATH dir "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  set(out "${CMAKE_BINARY_DIR}/${dir}/${OUT}")
  add_custom_command(
    OUTPUT "${out}"
    COMMAND ${ALULA_MLIR_TBLGEN} ${ARGN}
      -I "${CMAKE_SOURCE_DIR}" -I "${MLIR_INCLUDE_DIR}"
      "${CMAKE_CURRENT_SOURCE_DIR}/${IN}" --write-if-changed -o "${out}"
      -d "${out}.d"
    DEPFILE "${out}.d"
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${IN}" ${ALULA_MLIR_TBLGEN}
    COMMENT "tablegen ${dir}/${OUT}"
    VERBATIM)
  string(REPLACE "/" "-" target "tblgen-${dir}-${OUT}")
  add_custom_target(${target} DEPENDS "${out}")
  add_dependencies(alula-dialect-headers ${target})
endfunction()

# All static archives, of which the linker takes what is needed: Debian's CMake
# files name shared libraries that nothing of it uses.
if(NOT ALULA_SHARED_MLIR)
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
  list(FILTER archives EXCLUDE REGEX "MLIRMlirOptMain|MLIRCAPI|MLIRExecutionEngine|MLIRJitRunner|MLIRTest|LLVMExegesis")
  add_library(AlulaStaticMLIR INTERFACE)
  target_link_libraries(AlulaStaticMLIR INTERFACE
    -Wl,--start-group ${archives} -Wl,--end-group
    -l:libz.a -l:libzstd.a -l:libtinfo.a dl)
endif()
