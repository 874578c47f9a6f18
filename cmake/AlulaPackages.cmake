# What goes into packages, and under which names: the wheels of python/ and
# python/runtime (scikit-build-core installs one component of each), a tarball of
# the runtime for C, and a Debian package (CPack). ./dev package makes them all.

# alula_packaged_library(TARGET NAME COMPONENT): one file under the name that
# Python looks for. CMake strips what it installs as a target, not as a file.
function(alula_packaged_library target name component)
  install(FILES $<TARGET_FILE:${target}> DESTINATION alula/lib
    RENAME ${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
      execute_process(COMMAND \"${CMAKE_STRIP}\"
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/alula/lib/${name}\"
        COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

# alula-runtime: the library and the Python that loads and runs compiled files.
# What needs the compiler is in the other wheel, in the same folder alula.
set(compiler_python program report functions.py command_line.py bindings/compiler.py)
set(python "${Alula_SOURCE_DIR}/python")
set(excluded)
foreach(path ${compiler_python})
  list(APPEND excluded PATTERN "alula/${path}" EXCLUDE)
  if(IS_DIRECTORY "${python}/alula/${path}")
    install(DIRECTORY "${python}/alula/${path}" DESTINATION alula
      COMPONENT python_compiler EXCLUDE_FROM_ALL
      FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
  else()
    cmake_path(GET path PARENT_PATH folder)
    install(FILES "${python}/alula/${path}" DESTINATION "alula/${folder}"
      COMPONENT python_compiler EXCLUDE_FROM_ALL)
  endif()
endforeach()
install(DIRECTORY "${python}/alula" DESTINATION .
  COMPONENT python_runtime EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN py.typed
  PATTERN __pycache__ EXCLUDE ${excluded})
alula_packaged_library(AlulaRuntimeShared libalula_runtime.so python_runtime)
add_custom_target(alula-python-runtime DEPENDS AlulaRuntimeShared)
if(TARGET alula_calls)
  add_dependencies(alula-python-runtime alula_calls)
elseif(SKBUILD)
  message(FATAL_ERROR "alula-runtime needs Python.h")
endif()

if(TARGET AlulaCompilerShared)
  install(DIRECTORY "${python}/jax_plugins" DESTINATION .
    COMPONENT python_compiler EXCLUDE_FROM_ALL
    FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
  install(TARGETS AlulaCompilerShared LIBRARY DESTINATION alula/lib
    COMPONENT python_compiler EXCLUDE_FROM_ALL)
  # Who has programs of his own for GPUs; the runtime's wheel stays small.
  alula_packaged_library(AlulaCudaDriver libalula_cuda.so.0 python_compiler)
  alula_packaged_library(AlulaNccl libalula_nccl.so.0 python_compiler)
  alula_packaged_library(AlulaCublasLt libalula_cublaslt.so.0 python_compiler)
  alula_packaged_library(AlulaCudnn libalula_cudnn.so.0 python_compiler)
  get_property(tools GLOBAL PROPERTY ALULA_TOOLS)
  add_custom_target(alula-python-compiler
    DEPENDS AlulaCompilerShared AlulaCudaDriver AlulaNccl AlulaCublasLt AlulaCudnn
    ${tools})
  if(TARGET pjrt_plugin_alula)
    add_dependencies(alula-python-compiler pjrt_plugin_alula)
  endif()
endif()

# What the tools print of themselves, where shells and man look for it.
if(TARGET AlulaCompilerShared AND NOT ALULA_SHARED_MLIR AND NOT CMAKE_CROSSCOMPILING)
  list(REMOVE_ITEM tools alula-plugin-host)
  set(texts)
  # alula_tool_text(TOOL FLAG FOLDER FILE)
  function(alula_tool_text tool flag folder file)
    set(text "${Alula_BINARY_DIR}/${folder}/${file}")
    add_custom_command(OUTPUT "${text}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${Alula_BINARY_DIR}/${folder}"
      COMMAND ${tool} ${flag} > "${text}"
      DEPENDS ${tool} VERBATIM)
    install(FILES "${text}" DESTINATION "${folder}" COMPONENT tools)
    set(texts ${texts} "${text}" PARENT_SCOPE)
  endfunction()
  foreach(tool ${tools})
    alula_tool_text(${tool} --help-man share/man/man1 ${tool}.1)
    alula_tool_text(${tool} --completion=bash share/bash-completion/completions ${tool})
    alula_tool_text(${tool} --completion=zsh share/zsh/vendor-completions _${tool})
    alula_tool_text(${tool} --completion=fish share/fish/vendor_completions.d ${tool}.fish)
  endforeach()
  add_custom_target(alula-tool-texts ALL DEPENDS ${texts})
endif()

# All that packages are made of: CPack builds nothing itself.
add_custom_target(alula-packages DEPENDS alula-python-runtime
  AlulaRuntimeStatic AlulaRuntimeShared)
foreach(target alula-python-compiler alula-tool-texts alula_collectives_gloo
    alula_collectives_openmpi alula_collectives_mpich)
  if(TARGET ${target})
    add_dependencies(alula-packages ${target})
  endif()
endforeach()

# The tarball has the component runtime alone, the Debian package all that is
# installed without asking for a component.
set(CPACK_PACKAGE_NAME alula)
set(CPACK_PACKAGE_VENDOR "Alula")
set(CPACK_PACKAGE_CONTACT "Alula's maintainers <maintainers@alula.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "compiles StableHLO programs ahead of time into one file and runs it")
set(CPACK_RESOURCE_FILE_LICENSE "${Alula_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_SOURCE_GENERATOR "")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Nothing but the C library: dpkg-shlibdeps would also want what engines of
# collectives need, which are loaded when somebody asks for one.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
execute_process(COMMAND getconf GNU_LIBC_VERSION
  OUTPUT_VARIABLE glibc OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REGEX REPLACE "^glibc " "" glibc "${glibc}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${glibc})")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "libgloo0, libopenmpi3 | libopenmpi3t64 | libopenmpi40, libmpich12")
set(ALULA_PACKAGED_BUILD "${Alula_BINARY_DIR}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/package_kind.cmake.in"
  "${Alula_BINARY_DIR}/cmake/package_kind.cmake" @ONLY)
set(CPACK_PROJECT_CONFIG_FILE "${Alula_BINARY_DIR}/cmake/package_kind.cmake")
include(CPack)
