// Artifacts of each version of the format still run. They are frozen.

#include "runtime/conformance/suite.h"

namespace alula::runtime {
namespace {

#ifdef __x86_64__

class Goldens : public Conformance {
protected:
  Executable open(const char *name) {
    std::string path = std::string(ALULA_GOLDENS "/") + name;
    Executable model = Executable::loadFile(instance, path.c_str(), error);
    EXPECT_FALSE(error) << error.message();
    return model;
  }
};
// Their kernels are those of the host.
INSTANTIATE_TEST_SUITE_P(Device, Goldens,
                         testing::Values("cpu", "null", "afar"),
                         [](const auto &info) { return info.param; });

TEST_P(Goldens, Format10) {
  Executable model = open("1.0.x86_64.alula");
  uint32_t add = model.find("add", error), count = model.find("count", error);
  Buffer x = make<float>(ALULA_DTYPE_F32, {1, 2}, {1, 2});
  std::vector<Buffer> sum = model.call(add, {x, x}, error);
  ASSERT_FALSE(error) << error.message();
  if (computes())
    EXPECT_EQ(get<float>(sum[0]), (std::vector<float>{2, 4}));
  EXPECT_EQ(get<int64_t>(model.call(count, {}, error)[0])[0], 42);
}

alula_error *twice(void *, const alula_custom_call_args *args) {
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(args->results[0].data)[i] =
        2 * static_cast<float *>(args->operands[0].data)[i];
  return nullptr;
}

// golden/1.1.mlir.in, compiled for cpu:x86-64-v2 with constants of 64 bytes in
// a safetensors file: a loop, dynamic sizes, a custom call.
TEST_P(Goldens, Format11) {
  error.take(alula_instance_register_custom_call(instance.get(), "scale", twice,
                                                 nullptr));
  Executable model = open("1.1.x86_64.alula");
  // The loop ends when a kernel says so.
  if (!computes())
    return;
  Buffer x = make<float>(ALULA_DTYPE_F32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<Buffer> results =
      run(model, {x, make<int64_t>(ALULA_DTYPE_I64, {}, {3})});
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(get<float>(results[0]),
            (std::vector<float>{4, 6, 8, 1, 12, 14, 16, 5}));
  EXPECT_EQ(get<float>(results[1]), (std::vector<float>{8, 8, 8, 8}));
  EXPECT_EQ(
      get<float>(results[2]),
      (std::vector<float>{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 0, 0, 0}));
}

// golden/1.3.kinds.mlir.in, compiled for cpu:x86-64-v2 and
// cpu:x86-64-v2:cores=2: programs for two kinds of machines.
TEST_P(Goldens, Format13Kinds) {
  Executable model = open("1.3.kinds.x86_64.alula");
  Buffer x = make<float>(ALULA_DTYPE_F32, {4}, {1, 1, 2, 2});
  std::vector<Buffer> results = run(model, {x});
  ASSERT_FALSE(error) << error.message();
  if (computes())
    EXPECT_EQ(get<float>(results[0]), (std::vector<float>{1, 2, 6, 8}));
  EXPECT_EQ(get<float>(results[1]), (std::vector<float>{1, 2, 3, 4}));
}

#endif

} // namespace
} // namespace alula::runtime
