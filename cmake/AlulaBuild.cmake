# The few functions that every folder's CMakeLists.txt uses. Dependencies are
# named the way docs/map.md draws the arrows.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include(GNUInstallDirs)
# Installed tools find the libraries that they were linked with.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${Alula_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${Alula_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${Alula_BINARY_DIR}/lib")

find_program(ALULA_CCACHE ccache)
if(ALULA_CCACHE)
  # clang and g++ precompiled headers are only cacheable with these set.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${Alula_SOURCE_DIR} ${ALULA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

if(ALULA_SANITIZE)
  add_compile_options(-fsanitize=${ALULA_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ALULA_SANITIZE})
endif()

find_program(ALULA_LLD NAMES ld.lld-19 ld.lld)
if(ALULA_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(--ld-path=${ALULA_LLD})
endif()

# What every target of ours gets: include paths from the repository root and
# warnings. MLIR=ON adds the compiler side's flags.
function(alula_configure_target NAME MLIR)
  target_include_directories(${NAME} PUBLIC
    $<BUILD_INTERFACE:${Alula_SOURCE_DIR}>
    $<BUILD_INTERFACE:${Alula_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${Alula_BINARY_DIR}>)
  target_compile_options(${NAME} PRIVATE
    -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  if(ALULA_WERROR)
    target_compile_options(${NAME} PRIVATE -Werror)
  endif()
  if(MLIR)
    # Whoever uses an installed library of ours need not have LLVM.
    target_include_directories(${NAME} SYSTEM PUBLIC
      "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS};${LLVM_INCLUDE_DIRS}>")
    target_compile_definitions(${NAME} PUBLIC ${ALULA_LLVM_DEFINITIONS})
    if(NOT LLVM_ENABLE_RTTI)
      target_compile_options(${NAME} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
    endif()
    target_compile_options(${NAME} PRIVATE -Wno-unused-parameter)
    # Whoever looks once waits longer for a file to be optimized than for what
    # it would save; MLIR and LLVM are optimized anyway.
    if(ALULA_QUICK_BUILD)
      target_compile_options(${NAME} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
    endif()
  else()
    target_compile_options(${NAME} PRIVATE -Wshadow -Wconversion
      $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
  endif()
endfunction()

# With the shared libraries, MLIRxxx and LLVMxxx all live in two objects;
# linking a static piece beside them would register everything twice.
function(alula_resolve_deps OUT)
  set(deps)
  foreach(dep ${ARGN})
    if(ALULA_SHARED_MLIR AND dep MATCHES "^(MLIR|LLVM)")
      list(APPEND deps MLIR LLVM)
    elseif(dep MATCHES "^(MLIR|LLVM)")
      list(APPEND deps AlulaStaticMLIR)
    else()
      list(APPEND deps ${dep})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES deps)
  set(${OUT} ${deps} PARENT_SCOPE)
endfunction()

# Compiles with the shared precompiled header. It holds for -fPIC alone, so
# executables are compiled with it too instead of CMake's -fPIE.
function(alula_use_pch NAME)
  get_target_property(type ${NAME} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${NAME} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${NAME} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${NAME} REUSE_FROM AlulaPch)
  add_dependencies(${NAME} alula-dialect-headers)
endfunction()

# alula_library(NAME [SMALL] SRCS … DEPS …): a static library of the compiler
# side; SMALL: a release would rather have it small than fast.
function(alula_library NAME)
  cmake_parse_arguments(ARG "SMALL" "PCH" "SRCS;DEPS" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SRCS})
  alula_configure_target(${NAME} ON)
  alula_resolve_deps(deps ${ARG_DEPS})
  target_link_libraries(${NAME} PUBLIC ${deps})
  # A header that was compiled for speed is of no use then.
  if(ARG_SMALL AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${NAME} PRIVATE -Os)
    add_dependencies(${NAME} alula-dialect-headers)
  elseif(NOT ARG_PCH STREQUAL "OFF")
    alula_use_pch(${NAME})
  endif()
endfunction()

# alula_runtime_library(NAME SRCS … DEPS …): no LLVM, no MLIR, no exceptions.
function(alula_runtime_library NAME)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SRCS})
  alula_configure_target(${NAME} OFF)
  target_link_libraries(${NAME} PUBLIC ${ARG_DEPS})
endfunction()

# A shared library that lacks something fails when it is linked, not when it is
# loaded. A sanitizer's functions are the program's.
function(alula_forbid_undefined NAME)
  if(NOT ALULA_SANITIZE)
    target_link_options(${NAME} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# alula_tool(NAME [RUNTIME_ONLY] SRCS … DEPS …): one thin main. Where LLVM is not
# shared, it is inside libalula_compiler once, and the tool's code with it: the
# program calls that (docs/adr/0034-llvm-is-inside-once.md).
function(alula_tool NAME)
  cmake_parse_arguments(ARG "RUNTIME_ONLY" "" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_RUNTIME_ONLY AND NOT ALULA_SHARED_MLIR)
    alula_tool_inside(${NAME} "${ARG_SRCS}" "${ARG_DEPS}")
  else()
    add_executable(${NAME} ${ARG_SRCS})
  endif()
  if(ARG_RUNTIME_ONLY)
    alula_configure_target(${NAME} OFF)
    target_link_libraries(${NAME} PRIVATE ${ARG_DEPS})
    # What is released needs nothing but the C library.
    if(NOT ALULA_SHARED_MLIR)
      target_link_options(${NAME} PRIVATE -static-libstdc++ -static-libgcc
        -Wl,--gc-sections)
    endif()
  elseif(ALULA_SHARED_MLIR)
    alula_configure_target(${NAME} ON)
    alula_resolve_deps(deps ${ARG_DEPS})
    target_link_libraries(${NAME} PRIVATE ${deps})
    alula_use_pch(${NAME})
  endif()
  set_target_properties(${NAME} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS ${NAME} RUNTIME COMPONENT tools)
  set_property(GLOBAL APPEND PROPERTY ALULA_TOOLS ${NAME})
  install(TARGETS ${NAME} RUNTIME DESTINATION alula/bin
    COMPONENT python_compiler EXCLUDE_FROM_ALL)
endfunction()

# The tool's code as a part of libalula_compiler, its main as the function
# alula_main_…, and a program that calls it by name.
function(alula_tool_inside NAME SRCS DEPS)
  string(MAKE_C_IDENTIFIER "${NAME}" id)
  string(REGEX REPLACE "^alula_" "alula_main_" id "${id}")
  add_library(${NAME}-inside OBJECT ${SRCS})
  alula_configure_target(${NAME}-inside ON)
  alula_resolve_deps(deps ${DEPS})
  target_link_libraries(${NAME}-inside PRIVATE ${deps})
  alula_use_pch(${NAME}-inside)
  target_compile_definitions(${NAME}-inside PRIVATE main=${id})
  target_sources(AlulaCompilerShared PRIVATE $<TARGET_OBJECTS:${NAME}-inside>)
  target_link_libraries(AlulaCompilerShared PRIVATE ${deps})
  set_property(GLOBAL APPEND PROPERTY ALULA_TOOLS_INSIDE "${NAME}:${id}")

  set(source "${CMAKE_CURRENT_BINARY_DIR}/${NAME}.c")
  file(CONFIGURE OUTPUT "${source}" CONTENT "/* Generated. */
int alula_private_run_tool(const char *name, int argc, char **argv);
int main(int argc, char **argv) {
  return alula_private_run_tool(\"${NAME}\", argc, argv);
}
" @ONLY)
  add_executable(${NAME} "${source}")
  target_link_libraries(${NAME} PRIVATE AlulaCompilerShared)
endfunction()

# alula_unit_test(name [RUNTIME_ONLY] SRCS … DEPS …): googletest under CTest.
function(alula_unit_test NAME)
  if(NOT ALULA_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "RUNTIME_ONLY" "" "SRCS;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SRCS})
  set_target_properties(${NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${Alula_BINARY_DIR}/tests")
  if(ARG_RUNTIME_ONLY)
    alula_configure_target(${NAME} OFF)
    target_link_libraries(${NAME} PRIVATE ${ARG_DEPS})
  else()
    alula_configure_target(${NAME} ON)
    alula_resolve_deps(deps ${ARG_DEPS})
    target_link_libraries(${NAME} PRIVATE ${deps})
    alula_use_pch(${NAME})
  endif()
  target_link_libraries(${NAME} PRIVATE GTest::gtest GTest::gtest_main)
  add_test(NAME ${NAME} COMMAND ${NAME}
           WORKING_DIRECTORY "${Alula_SOURCE_DIR}")
endfunction()
