# Installs the runtime into a fresh folder, builds examples/hello against it as
# a stranger would, and runs that on the artifact of the tools' tests.
#   cmake -DBUILD= -DSOURCE= -DWORK= -DARTIFACT_WRITER= -DC= -DCXX= -DCOMPILER= -P …
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_sum program)
  run("${program}" "${WORK}/add.alula")
  if(NOT output MATCHES "^11 22 33 44\n")
    message(FATAL_ERROR "${program} printed: ${output}")
  endif()
endfunction()

run("${ARTIFACT_WRITER}" "${WORK}/add.alula")
run(${CMAKE_COMMAND} --install "${BUILD}" --component runtime
  --prefix "${WORK}/installed")
if(COMPILER)
  run(${CMAKE_COMMAND} --install "${BUILD}" --component compiler
    --prefix "${WORK}/installed")
endif()
# What was installed may be moved.
file(RENAME "${WORK}/installed" "${WORK}/prefix")

function(build_hello name)
  run(${CMAKE_COMMAND} -G Ninja -S "${SOURCE}/examples/hello"
    -B "${WORK}/${name}" "-DCMAKE_C_COMPILER=${C}" "-DCMAKE_CXX_COMPILER=${CXX}"
    ${ARGN})
  set(targets hello-c hello-cpp)
  if(COMPILER AND NOT name STREQUAL "source")
    list(APPEND targets hello-compile)
  endif()
  run(${CMAKE_COMMAND} --build "${WORK}/${name}" --target ${targets})
endfunction()

foreach(shared ON OFF)
  build_hello("shared-${shared}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
    -DBUILD_SHARED_LIBS=${shared})
  expect_sum("${WORK}/shared-${shared}/hello-c")
  expect_sum("${WORK}/shared-${shared}/hello-cpp")
  if(COMPILER)
    run("${WORK}/shared-${shared}/hello-compile")
    if(NOT output MATCHES "^1 4 9 16\n")
      message(FATAL_ERROR "hello-compile printed: ${output}")
    endif()
  endif()
endforeach()
build_hello(source "-DALULA_SOURCE=${SOURCE}" -DCMAKE_BUILD_TYPE=Release)
expect_sum("${WORK}/source/hello-c")

find_program(pkg_config pkg-config)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} "${WORK}/prefix/lib/pkgconfig")
  run(${pkg_config} --cflags --libs --static alula)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("${C}" "${SOURCE}/examples/hello/hello.c" ${flags} -o "${WORK}/hello-pc")
  set(ENV{LD_LIBRARY_PATH} "${WORK}/prefix/lib")
  expect_sum("${WORK}/hello-pc")
endif()
message("find_package (shared, static), add_subdirectory and pkg-config work")
