// The same as hello.c with the C++ twin of the C functions.
//
//   alula-compile add.mlir -o add.alula
//   hello-cpp add.alula

#include "alula/runtime.hpp"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: hello-cpp FILE.alula\n");
    return 2;
  }
  // A function that finds an error does nothing: one check at the end is
  // enough.
  alula::Error error;
  auto instance = alula::Instance::create(nullptr, error);
  auto model = alula::Executable::loadFile(instance, argv[1], error);
  uint32_t add = model ? model.find("add", error) : 0;
  float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40};
  std::vector<alula::Buffer> arguments = {
      alula::Buffer::wrap(instance, ALULA_DTYPE_F32, {2, 2}, x, sizeof x,
                          error),
      alula::Buffer::wrap(instance, ALULA_DTYPE_F32, {2, 2}, y, sizeof y,
                          error)};
  auto results = model.call(add, arguments, error);
  if (error) {
    fprintf(stderr, "hello: %s\n", error.message());
    return 1;
  }
  const float *sum = results[0].data<float>();
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
  return 0;
}
