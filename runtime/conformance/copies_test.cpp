// Bytes between the host and buffers, and from buffer to buffer, on every
// device; what the host must not touch.

#include "runtime/conformance/suite.h"

using namespace alula;
using namespace alula::runtime;

namespace {

using Copies = Conformance;
INSTANTIATE_TEST_SUITE_P(Device, Copies, getDevices(),
                         [](const auto &info) { return info.param; });

TEST_P(Copies, Ranges) {
  EXPECT_STREQ(alula_instance_get_device(instance.get()), GetParam());
  std::string_view chip = alula_instance_get_chip(instance.get());
  EXPECT_EQ(chip.substr(0, 3), GetParam() == std::string("cuda") ? "sm_" : "");
  Buffer x = makeI64({1, 2, 3, 4, 5, 6}), y = makeI64({0, 0, 0});
  int64_t two[] = {20, 30};
  ASSERT_TRUE(error.take(alula_buffer_write(x.get(), 8, two, 16, nullptr)));
  EXPECT_EQ(get<int64_t>(x), (std::vector<int64_t>{1, 20, 30, 4, 5, 6}));
  ASSERT_TRUE(
      error.take(alula_buffer_copy(y.get(), 8, x.get(), 16, 16, nullptr)));
  EXPECT_EQ(get<int64_t>(y), (std::vector<int64_t>{0, 30, 4}));
  // Overlapping, in both directions.
  ASSERT_TRUE(
      error.take(alula_buffer_copy(x.get(), 8, x.get(), 0, 40, nullptr)));
  EXPECT_EQ(get<int64_t>(x), (std::vector<int64_t>{1, 1, 20, 30, 4, 5}));
  ASSERT_TRUE(
      error.take(alula_buffer_copy(x.get(), 0, x.get(), 8, 40, nullptr)));
  EXPECT_EQ(get<int64_t>(x), (std::vector<int64_t>{1, 20, 30, 4, 5, 5}));
  ASSERT_TRUE(error.take(alula_buffer_read(x.get(), 32, two, 16, nullptr)));
  EXPECT_EQ(two[0], 5);
  EXPECT_EQ(two[1], 5);
  // Nothing at the end of a buffer is inside it.
  EXPECT_TRUE(error.take(alula_buffer_read(x.get(), 48, nullptr, 0, nullptr)));
  EXPECT_FALSE(error.take(alula_buffer_read(x.get(), 40, two, 16, nullptr)));
  EXPECT_STREQ(error.message(), "alula_buffer_read: 16 bytes at 40 are outside "
                                "a buffer of 48 bytes");
  EXPECT_EQ(error.code(), ALULA_STATUS_OUT_OF_RANGE);
  error.take(alula_buffer_write(x.get(), SIZE_MAX, two, 2, nullptr));
  EXPECT_EQ(error.code(), ALULA_STATUS_OUT_OF_RANGE);
  error.take(alula_buffer_copy(y.get(), 0, x.get(), 0, 32, nullptr));
  EXPECT_STREQ(error.message(), "alula_buffer_copy: 32 bytes at 0 are outside "
                                "a buffer of 24 bytes");
  error.take(alula_buffer_read(x.get(), 0, nullptr, 8, nullptr));
  EXPECT_STREQ(error.message(), "alula_buffer_read: the host's memory is null");
  error.take(alula_buffer_write(x.get(), 0, nullptr, 8, nullptr));
  EXPECT_STREQ(error.message(),
               "alula_buffer_write: the host's memory is null");
}

TEST_P(Copies, LargeOnes) {
  std::vector<int64_t> values(400000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int64_t(i * i);
  Buffer x = makeI64(values), y = makeI64(std::vector<int64_t>(400000));
  ASSERT_TRUE(error.take(
      alula_buffer_copy(y.get(), 0, x.get(), 0, 8 * values.size(), nullptr)));
  EXPECT_EQ(get<int64_t>(y), values);
}

TEST_P(Copies, BetweenInstances) {
  std::vector<int64_t> values(300000, 7);
  values.back() = 8;
  for (const char *device : {"cpu", "afar"}) {
    alula_instance_options options = {};
    options.struct_bytes = sizeof options;
    options.device = device;
    error.clear();
    Instance other = Instance::create(&options, error);
    Buffer from = makeI64(values);
    Buffer to = Buffer::create(other, ALULA_DTYPE_I64, {300000}, error);
    Buffer back = makeI64(std::vector<int64_t>(300000));
    error.take(alula_buffer_copy(to.get(), 0, from.get(), 0, 8 * values.size(),
                                 nullptr));
    ASSERT_FALSE(error) << error.message();
    EXPECT_EQ(get<int64_t>(to), values);
    error.take(alula_buffer_copy(back.get(), 8, to.get(), 16,
                                 8 * values.size() - 16, nullptr));
    ASSERT_FALSE(error) << error.message();
    EXPECT_EQ(get<int64_t>(back)[299998], 8);
  }
}

TEST_P(Copies, MemoryOfTheHost) {
  int64_t size = 1000, bytes = 8 * size;
  alula_buffer *made = nullptr;
  alula_error *failed = alula_buffer_create_on_host(
      instance.get(), ALULA_DTYPE_I64, 1, &size, &made);
  if (std::string(GetParam()) == "afar") {
    error.take(failed);
    EXPECT_STREQ(error.message(),
                 "device 'afar' reaches no memory of the host");
    EXPECT_EQ(error.code(), ALULA_STATUS_UNIMPLEMENTED);
    return;
  }
  ASSERT_TRUE(error.take(failed)) << error.message();
  auto *seen = static_cast<int64_t *>(alula_buffer_get_data(made));
  ASSERT_TRUE(seen);
  for (int64_t i = 0; i < size; ++i)
    seen[i] = i;
  // Kernels read it and, where it is given away, write it.
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {size});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type, 0);
  Operand one = f.immediate(1);
  f.dispatch(file.scaleI64, one, one, one, {f.result(0)}, {one, one});
  Executable model = load(file);
  alula_buffer *result = nullptr;
  ASSERT_TRUE(
      error.take(alula_call(model.get(), 0, nullptr, &made, 1, &result, 1)))
      << error.message();
  int64_t out[1000];
  ASSERT_TRUE(error.take(alula_buffer_read(result, 0, out, 8000, nullptr)));
  EXPECT_EQ(out[5], computes() ? 6 : 5);
  EXPECT_EQ(seen[5], 5);
  uint8_t donate[] = {1};
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.donate = donate;
  alula_buffer *moved = nullptr;
  ASSERT_TRUE(
      error.take(alula_call(model.get(), 0, &options, &made, 1, &moved, 1)));
  EXPECT_EQ(alula_buffer_get_data(moved), seen);
  EXPECT_FALSE(alula_buffer_get_data(made));
  EXPECT_EQ(seen[5], computes() ? 6 : 5);
  // Copies to and from it, within and by the host.
  ASSERT_TRUE(error.take(
      alula_buffer_copy(moved, 0, result, 0, size_t(bytes), nullptr)));
  EXPECT_EQ(seen[999], out[999]);
  seen[0] = -7;
  ASSERT_TRUE(error.take(alula_buffer_copy(result, 0, moved, 0, 80, nullptr)));
  ASSERT_TRUE(error.take(alula_buffer_copy(moved, 8, moved, 0, 80, nullptr)));
  ASSERT_TRUE(error.take(alula_buffer_read(result, 0, out, 80, nullptr)));
  EXPECT_EQ(out[0], -7);
  EXPECT_EQ(seen[1], -7);
  int64_t more[] = {11, 12};
  ASSERT_TRUE(error.take(alula_buffer_write(moved, 16, more, 16, nullptr)));
  EXPECT_EQ(seen[3], 12);
  // Devices of another kind, and another device of this kind.
  for (const char *device : {"cpu", "afar", "cuda:1"}) {
    if (device[0] == 'c' && device[1] == 'u' && sharesMemory())
      continue;
    alula_instance_options of = {};
    of.struct_bytes = sizeof of;
    of.device = device;
    error.clear();
    Instance other = Instance::create(&of, error);
    ASSERT_FALSE(error) << error.message();
    Buffer there = Buffer::create(other, ALULA_DTYPE_I64, {size}, error);
    ASSERT_TRUE(error.take(
        alula_buffer_copy(there.get(), 0, moved, 0, size_t(bytes), nullptr)));
    EXPECT_EQ(get<int64_t>(there)[3], 12);
    seen[3] = 0;
    ASSERT_TRUE(error.take(
        alula_buffer_copy(moved, 0, there.get(), 0, size_t(bytes), nullptr)));
    EXPECT_EQ(seen[3], 12);
  }
  for (alula_buffer *buffer : {made, result, moved})
    alula_buffer_release(buffer);
}

TEST_P(Copies, InTheOrderOfCalls) {
  // y = x + 1 by a call between a copy to x and one from y.
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1000});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  Operand zero = f.immediate(0), one = f.immediate(1);
  uint32_t y = f.result(0);
  f.copy(y, zero, f.argument(0), zero, f.immediate(8000));
  f.dispatch(file.scaleI64, one, one, one, {y}, {one, one});
  Executable model = load(file);
  std::vector<int64_t> in(1000, 3), out(1000), expected(1000, 4);
  if (!computes())
    expected = in;
  Buffer x = makeI64(std::vector<int64_t>(1000)),
         y1 = makeI64(std::vector<int64_t>(1000));
  alula_buffer *argument = x.get(), *result = y1.get();
  for (int turn = 0; turn < 20; ++turn) {
    alula_event *events[3] = {};
    ASSERT_TRUE(error.take(
        alula_buffer_write(x.get(), 0, in.data(), 8000, &events[0])));
    ASSERT_TRUE(error.take(alula_call_async(model.get(), 0, nullptr, &argument,
                                            1, &result, 1, &events[1])));
    ASSERT_TRUE(error.take(
        alula_buffer_read(y1.get(), 0, out.data(), 8000, &events[2])));
    EXPECT_TRUE(error.take(alula_event_wait(events[2])));
    EXPECT_EQ(out, expected);
    for (alula_event *event : events) {
      EXPECT_TRUE(alula_event_is_done(event));
      alula_event_destroy(event);
    }
  }
}

TEST_P(Copies, AfterDonation) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type, 0);
  Executable model = load(file);
  Buffer x = makeI64({1, 2, 3, 4});
  uint8_t donate[] = {1};
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.donate = donate;
  alula_buffer *argument = x.get(), *result = nullptr;
  int64_t out[4];
  alula_event *events[2] = {};
  ASSERT_TRUE(error.take(alula_call_async(model.get(), 0, &options, &argument,
                                          1, &result, 1, &events[0])));
  // Good or not, as the call has run by now or not: never a crash.
  alula_error *early = alula_buffer_read(x.get(), 0, out, 32, &events[1]);
  alula_error_destroy(early);
  EXPECT_TRUE(error.take(alula_event_wait(events[0])));
  if (!early) {
    EXPECT_FALSE(error.take(alula_event_wait(events[1])));
    EXPECT_STREQ(error.message(),
                 "a buffer of a copy was donated to an earlier call");
    alula_event_destroy(events[1]);
  }
  alula_event_destroy(events[0]);
  Buffer taken(result);
  EXPECT_EQ(get<int64_t>(taken), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_FALSE(error.take(alula_buffer_read(x.get(), 0, out, 32, nullptr)));
  EXPECT_STREQ(error.message(), "alula_buffer_read: the buffer was donated to "
                                "an earlier call");
}

// ---- Behind the driver's back ----

/// An instance of the device that keeps the host out.
class Afar : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Device, Afar, testing::Values("afar"),
                         [](const auto &info) { return info.param; });
using AfarDeathTest = Afar;
INSTANTIATE_TEST_SUITE_P(Device, AfarDeathTest, testing::Values("afar"),
                         [](const auto &info) { return info.param; });

TEST_P(AfarDeathTest, WhoTouchesItsMemoryDies) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Buffer x = makeI64({1, 2, 3, 4});
  EXPECT_EQ(x.data(), nullptr);
  auto *memory =
      reinterpret_cast<volatile int64_t *>(alula_buffer_get_address(x.get()));
  EXPECT_DEATH((void)*memory, "");
  EXPECT_DEATH(*memory = 5, "");
  EXPECT_EQ(get<int64_t>(x)[0], 1);
}

/// A kernel's binding that the device has not given out.
TEST_P(AfarDeathTest, AddressesOfTheHostDieInCommands) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Buffer x = makeI64({1, 2, 3, 4});
        auto *memory =
            reinterpret_cast<void *>(alula_buffer_get_address(x.get()));
        Buffer y =
            Buffer::wrap(instance, ALULA_DTYPE_I64, {4}, memory, 32, error);
        x = Buffer();
        get<int64_t>(y);
      },
      "device 'afar': a copy from of 32 bytes at .*, which is not its memory");
}

/// What kernels compute wrongly is known later, and is the call's error.
TEST_P(Afar, ErrorsOfKernelsComeWithTheCall) {
  KernelFile file;
  FunctionWriter &f = file.addFunction("main");
  f.addResult("y", file.addType(ALULA_DTYPE_I64, {1}));
  Operand one = f.immediate(1), zero = f.immediate(0);
  f.dispatch(file.failWith, one, one, one, {}, {f.immediate(9)});
  f.store(ALULA_DTYPE_I64, f.result(0), zero, f.immediate(5));
  Executable model = load(file);
  for (int turn = 0; turn < 20; ++turn) {
    run(model, {});
    EXPECT_STREQ(error.message(),
                 "function 'main': kernel 'fail_with' failed with code 9");
  }
  // The stream works again.
  Buffer x = makeI64({3});
  EXPECT_EQ(get<int64_t>(x)[0], 3);
}

} // namespace
