// What the conformance tests share: an instance of the device under test, and
// artifacts with the kernels of kernels.c.

#pragma once

#include "alula/runtime.hpp"
#include "artifact/cuda_image_writer.h"
#include "artifact/elf.h"
#include "artifact/writer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace alula::runtime {

using namespace alula::artifact;

inline std::string readFile(const char *path) {
  std::string bytes;
  FILE *file = fopen(path, "rb");
  EXPECT_NE(file, nullptr) << path;
  if (!file)
    return bytes;
  char buffer[4096];
  size_t count;
  while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
    bytes.append(buffer, count);
  fclose(file);
  return bytes;
}

inline const char *getHostName() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "riscv64";
#endif
}

/// A writer whose kernels are those of kernels.c.
class KernelFile : public ArtifactWriter {
public:
  uint32_t addF32, scaleI64, markGrid, lookUp, failWith;

  explicit KernelFile(std::vector<std::string> features = {}) {
    addF32 = add("add_f32",
                 {ALULA_ACCESS_READ, ALULA_ACCESS_READ, ALULA_ACCESS_WRITE}, 1);
    scaleI64 = add("scale_i64", {3}, 2);
    markGrid = add("mark_grid", {ALULA_ACCESS_WRITE}, 0, 4);
    lookUp = add("look_up", {3}, 0);
    failWith = add("fail_with", {}, 1);
    VariantSpec variant;
    variant.name = "test";
    variant.target = getHostName();
    variant.features = std::move(features);
    variant.image = readFile(ALULA_TEST_KERNELS);
    Diagnostic diagnostic;
    EXPECT_TRUE(addElfVariant(std::move(variant), diagnostic))
        << diagnostic.text;
    addCudaVariant();
  }

  /// The same kernels for a GPU.
  void addCudaVariant() {
    CudaImageWriter image;
    uint32_t module = image.addModule(readFile(ALULA_TEST_PTX), 80, false);
    auto add = [&](const char *entry,
                   std::vector<alula_cuda_argument> arguments, uint32_t axes,
                   uint32_t threads) {
      CudaLaunchSpec launch;
      launch.entry = entry;
      launch.module = module;
      launch.arguments = std::move(arguments);
      for (uint32_t axis = 0; axis < axes; ++axis)
        launch.gridAxis[axis] = axis;
      launch.block[0] = threads;
      image.addKernel({launch});
    };
    auto binding = [](uint32_t index) -> alula_cuda_argument {
      return {ALULA_CUDA_ARGUMENT_BINDING, 8, index, 0};
    };
    auto constant = [](uint32_t index, uint16_t size) -> alula_cuda_argument {
      return {ALULA_CUDA_ARGUMENT_CONSTANT, size, index, 0};
    };
    alula_cuda_argument bytes = {ALULA_CUDA_ARGUMENT_BINDING_BYTES, 8, 0, 0};
    add("add_f32", {binding(0), binding(1), binding(2), constant(0, 8)}, 1, 64);
    add("scale_i64", {binding(0), bytes, constant(0, 8), constant(1, 8)}, 0,
        32);
    add("mark_grid",
        {binding(0),
         {ALULA_CUDA_ARGUMENT_SCRATCH, 8, 0, 0},
         {ALULA_CUDA_ARGUMENT_WORKGROUPS, 4, 0, 0},
         {ALULA_CUDA_ARGUMENT_WORKGROUPS, 4, 1, 0}},
        3, 1);
    add("look_up", {binding(0), bytes}, 0, 32);
    add("fail_with",
        {{ALULA_CUDA_ARGUMENT_FAILURE, 8, 0, 0}, constant(0, 4)}, 3, 1);
    VariantSpec variant;
    variant.name = "gpu";
    variant.target = "cuda";
    variant.features = {"sm_80"};
    variant.kind = ALULA_IMAGE_CUDA;
    variant.image = image.finish(variant.entries);
    addVariant(std::move(variant));
  }

  std::string finish() {
    Diagnostic diagnostic;
    std::string bytes = ArtifactWriter::finish(diagnostic);
    EXPECT_FALSE(bytes.empty()) << diagnostic.text;
    return bytes;
  }

private:
  uint32_t add(const char *name, std::vector<uint32_t> accesses,
               uint32_t constants, uint64_t scratch = 0) {
    return addKernel({name, std::move(accesses), constants, scratch});
  }
};

/// Every device.
inline auto getDevices() { return testing::Values("cpu", "null", "afar", "cuda"); }

class Conformance : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    alula_instance_options options = {};
    options.struct_bytes = sizeof options;
    options.device = GetParam();
    options.thread_count = 4;
    instance = Instance::create(&options, error);
    ASSERT_FALSE(error) << error.message();
  }

  /// Whether kernels of this device compute.
  bool computes() const { return std::string(GetParam()) != "null"; }
  /// Which of KernelFile's variants it runs.
  const char *getVariant() const {
    return std::string(GetParam()) == "cuda" ? "gpu" : "test";
  }
  bool sharesMemory() const {
    return alula_instance_shares_memory(instance.get());
  }

  Executable load(ArtifactWriter &file) {
    Diagnostic diagnostic;
    std::string bytes = file.finish(diagnostic);
    EXPECT_FALSE(bytes.empty()) << diagnostic.text;
    error.clear();
    Executable executable =
        Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
    EXPECT_FALSE(error) << error.message();
    return executable;
  }

  template <class T>
  Buffer make(alula_dtype dtype, std::vector<int64_t> dims,
              const std::vector<T> &data) {
    error.clear();
    Buffer buffer = Buffer::create(instance, dtype, dims, error);
    EXPECT_FALSE(error) << error.message();
    EXPECT_EQ(buffer.bytes(), data.size() * sizeof(T));
    buffer.write(data.data(), error);
    EXPECT_FALSE(error) << error.message();
    return buffer;
  }
  Buffer makeI64(const std::vector<int64_t> &data) {
    return make(ALULA_DTYPE_I64, {int64_t(data.size())}, data);
  }
  Buffer makeF32(const std::vector<float> &data) {
    return make(ALULA_DTYPE_F32, {int64_t(data.size())}, data);
  }

  template <class T> static std::vector<T> get(const Buffer &buffer) {
    std::vector<T> data(buffer.bytes() / sizeof(T));
    Error failed;
    buffer.read(data.data(), failed);
    EXPECT_FALSE(failed) << failed.message();
    return data;
  }

  /// Calls function 0; the results, or none and `error`.
  std::vector<Buffer> run(const Executable &executable,
                          const std::vector<Buffer> &arguments,
                          const alula_call_options *options = nullptr) {
    error.clear();
    return executable.call(0, arguments, error, options);
  }

  Error error;
  Instance instance;
};

} // namespace alula::runtime
