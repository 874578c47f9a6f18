# Headers, libraries, and the files that find_package and pkg-config read.
#   cmake --install build --component runtime --prefix DIR
include(CMakePackageConfigHelpers)

set(dir "${CMAKE_INSTALL_LIBDIR}/cmake/Alula")
install(DIRECTORY "${Alula_SOURCE_DIR}/include/alula"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
# The loader of blobs, for firmware to compile.
install(FILES "${Alula_SOURCE_DIR}/runtime/min/alula_min.c"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/alula" COMPONENT runtime)
# With every component: each may be a package of its own.
foreach(component runtime compiler tools)
  install(FILES "${Alula_SOURCE_DIR}/LICENSE" "${Alula_SOURCE_DIR}/THIRD_PARTY_NOTICES.txt"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component})
endforeach()
install(TARGETS AlulaRuntimeStatic AlulaRuntimeShared
  EXPORT AlulaRuntimeTargets
  ARCHIVE COMPONENT runtime
  LIBRARY COMPONENT runtime
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT AlulaRuntimeTargets NAMESPACE Alula:: DESTINATION "${dir}"
  COMPONENT runtime)

if(TARGET AlulaCompilerShared)
  set_target_properties(AlulaCompilerShared PROPERTIES EXPORT_NAME Compiler)
  install(TARGETS AlulaCompilerShared
    EXPORT AlulaCompilerTargets
    LIBRARY COMPONENT compiler
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT AlulaCompilerTargets NAMESPACE Alula:: DESTINATION "${dir}"
    COMPONENT compiler)
endif()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/AlulaConfig.cmake.in"
  "${Alula_BINARY_DIR}/cmake/AlulaConfig.cmake" INSTALL_DESTINATION "${dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  "${Alula_BINARY_DIR}/cmake/AlulaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${Alula_BINARY_DIR}/cmake/AlulaConfig.cmake"
  "${Alula_BINARY_DIR}/cmake/AlulaConfigVersion.cmake"
  DESTINATION "${dir}" COMPONENT runtime)

# What plugins of the tools are built with.
if(ALULA_BUILD_COMPILER)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/AlulaPlugin.cmake.in"
    "${Alula_BINARY_DIR}/cmake/AlulaPlugin.cmake" @ONLY)
  install(FILES "${Alula_BINARY_DIR}/cmake/AlulaPlugin.cmake"
    DESTINATION "${dir}" COMPONENT tools)
  install(FILES "${Alula_BINARY_DIR}/include/alula/plugin_build.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/alula" COMPONENT tools)
endif()

# A .pc file that may be moved with its tree.
file(RELATIVE_PATH ALULA_PC_PREFIX
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${CMAKE_CURRENT_LIST_DIR}/alula.pc.in"
  "${Alula_BINARY_DIR}/cmake/alula.pc" @ONLY)
install(FILES "${Alula_BINARY_DIR}/cmake/alula.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT runtime)
