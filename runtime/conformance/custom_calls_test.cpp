// Programs that call the embedder's C functions.

#include "runtime/conformance/suite.h"

namespace alula::runtime {
namespace {

class CustomCalls : public Conformance {
protected:
  void add(const char *name, alula_custom_call function, void *user = nullptr) {
    error.clear();
    error.take(alula_instance_register_custom_call(instance.get(), name,
                                                   function, user));
    EXPECT_FALSE(error) << error.message();
  }

  std::string loadError(ArtifactWriter &file) {
    Diagnostic diagnostic;
    std::string bytes = file.finish(diagnostic);
    error.clear();
    Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
    return error.message();
  }
};
INSTANTIATE_TEST_SUITE_P(Device, CustomCalls, getDevices(),
                         [](const auto &info) { return info.param; });

/// y[i] = x[i] * number of the call so far, in place or not.
alula_error *scale(void *user, const alula_custom_call_args *args) {
  int count = ++*static_cast<int *>(user);
  const auto &x = args->operands[0], &y = args->results[0];
  for (uint64_t i = 0; i < x.bytes / 4; ++i)
    static_cast<float *>(y.data)[i] =
        static_cast<float *>(x.data)[i] * float(count);
  return nullptr;
}

/// A function whose dynamic argument goes through a custom call `turns` times.
void buildLoop(ArtifactWriter &file, int64_t turns) {
  uint32_t type =
      file.addType(ALULA_DTYPE_F32, {3, Dim::dynamic("n", 0, 100), 1});
  uint32_t call = file.addCustomCall({.name = "scale",
                                      .apiVersion = 2,
                                      .operandTypes = {type},
                                      .resultTypes = {type},
                                      .config = std::string("a\0b", 3),
                                      .attributes = "{\"k\": 1}"});
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", type);
  main.addResult("y", type);
  Operand n = main.argumentDim(0, 1), zero = main.immediate(0);
  main.bindResult(0, {n});
  uint32_t x = main.argument(0), y = main.result(0);
  main.copy(y, zero, x, zero,
            main.compute(ALULA_OPERATOR_MUL, n, main.immediate(12)));
  Operand i = main.newRegister(), going = main.newRegister();
  uint32_t test = main.newBlock(), body = main.newBlock();
  main.loop(test, going, body);
  main.setBlock(test);
  main.compute(going, ALULA_OPERATOR_LT, i, main.immediate(turns));
  main.setBlock(body);
  main.customCall(call, {y}, {y}, {n}, {n});
  main.compute(i, ALULA_OPERATOR_ADD, i, main.immediate(1));
}

TEST_P(CustomCalls, InALoop) {
  int count = 0;
  add("scale", scale, &count);
  ArtifactWriter file;
  buildLoop(file, 3);
  Executable model = load(file);
  Buffer x = make<float>(ALULA_DTYPE_F32, {3, 2, 1}, {1, 2, 3, 4, 5, 6});
  std::vector<Buffer> results = run(model, {x});
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(get<float>(results[0]),
            (std::vector<float>{6, 12, 18, 24, 30, 36}));
  EXPECT_EQ(results[0].dims(), (std::vector<int64_t>{3, 2, 1}));
  // No elements: still a call.
  run(model, {make<float>(ALULA_DTYPE_F32, {3, 0, 1}, {})});
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(count, 6);
}

TEST_P(CustomCalls, WhatItIsGiven) {
  static bool good;
  good = false;
  add("scale",
      [](void *user, const alula_custom_call_args *args) -> alula_error * {
        const auto &x = args->operands[0];
        good = !user && args->struct_bytes == sizeof *args &&
               strcmp(args->name, "scale") == 0 && args->api_version == 2 &&
               args->operand_count == 1 && args->result_count == 1 &&
               args->config_bytes == 3 &&
               memcmp(args->config, "a\0b", 3) == 0 &&
               std::string(args->attributes, args->attribute_bytes) ==
                   "{\"k\": 1}" &&
               x.rank == 3 && x.dtype == ALULA_DTYPE_F32 && x.bytes == 24 &&
               x.dims[0] == 3 && x.dims[1] == 2 && x.dims[2] == 1 &&
               x.data == args->results[0].data && !args->cancel;
        return nullptr;
      });
  ArtifactWriter file;
  buildLoop(file, 1);
  Executable model = load(file);
  std::string traced;
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.trace_user = &traced;
  options.trace = [](void *user, const alula_trace_event *event) {
    *static_cast<std::string *>(user) += std::string(event->name) + " ";
  };
  run(model, {make<float>(ALULA_DTYPE_F32, {3, 2, 1}, {1, 2, 3, 4, 5, 6})},
      &options);
  EXPECT_FALSE(error) << error.message();
  EXPECT_TRUE(good);
  EXPECT_EQ(traced, "copy scale ");
}

TEST_P(CustomCalls, Errors) {
  error.take(alula_instance_register_custom_call(instance.get(), "f", nullptr,
                                                 nullptr));
  EXPECT_STREQ(error.message(),
               "alula_instance_register_custom_call: an argument is null");
  ArtifactWriter file;
  buildLoop(file, 2);
  EXPECT_EQ(loadError(file), "custom call 'scale' has no function: it must be "
                             "registered with the instance before loading");
  EXPECT_EQ(error.code(), ALULA_STATUS_NOT_FOUND);
  int calls = 0;
  auto failing = [](void *user, const alula_custom_call_args *) {
    ++*static_cast<int *>(user);
    return alula_error_create(ALULA_STATUS_UNAVAILABLE, "the disk is full");
  };
  add("scale", failing, &calls);
  error.take(alula_instance_register_custom_call(instance.get(), "scale",
                                                 failing, nullptr));
  EXPECT_STREQ(error.message(), "custom call 'scale' is registered already");
  EXPECT_EQ(error.code(), ALULA_STATUS_ALREADY_EXISTS);
  Executable model = load(file);
  Buffer x = make<float>(ALULA_DTYPE_F32, {3, 1, 1}, {1, 2, 3});
  EXPECT_TRUE(run(model, {x}).empty());
  EXPECT_STREQ(error.message(),
               "function 'main': custom call 'scale': the disk is full");
  EXPECT_EQ(error.code(), ALULA_STATUS_UNAVAILABLE);
  EXPECT_EQ(calls, 1);
  // An error without a code is still one.
  error.take(alula_error_create(ALULA_STATUS_OK, nullptr));
  EXPECT_EQ(error.code(), ALULA_STATUS_UNKNOWN);
}

TEST_P(CustomCalls, SizesAreChecked) {
  int count = 0;
  add("scale", scale, &count);
  ArtifactWriter file;
  uint32_t four = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t any = file.addType(ALULA_DTYPE_F32, {Dim::dynamic("n", 0, 8)});
  uint32_t call = file.addCustomCall({.name = "scale",
                                      .operandTypes = {any},
                                      .resultTypes = {four},
                                      .config = "",
                                      .attributes = ""});
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", four);
  main.addArgument("n", file.addType(ALULA_DTYPE_I64, {}));
  main.addResult("y", four);
  Operand n = main.load(ALULA_DTYPE_I64, main.argument(1), main.immediate(0));
  main.customCall(call, {main.argument(0)}, {main.result(0)}, {n});
  Executable model = load(file);
  Buffer x = makeF32({1, 2, 3, 4});
  auto callWith = [&](int64_t size) {
    run(model, {x, make<int64_t>(ALULA_DTYPE_I64, {}, {size})});
    return std::string(error.message());
  };
  EXPECT_EQ(callWith(4), "");
  EXPECT_EQ(callWith(5),
            "function 'main': scale: 20 bytes at 0 are outside slot "
            "1 of 16 bytes");
  EXPECT_EQ(callWith(9),
            "function 'main': scale: dimension 0 is 9, not 0 to 8");
  EXPECT_EQ(count, 1);
}

} // namespace
} // namespace alula::runtime
