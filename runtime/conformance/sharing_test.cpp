// One program on several devices of a driver: what they share, and what each
// has of its own.

#include "runtime/conformance/suite.h"

#include <atomic>

namespace alula::runtime {
namespace {

class Sharing : public Conformance {
protected:
  /// One more instance of the device, with the threads of the first.
  Instance makeOther(const alula_allocator *allocator = nullptr) {
    alula_instance_options options = {};
    options.struct_bytes = sizeof options;
    options.device = GetParam();
    options.share_threads = instance.get();
    options.allocator = allocator;
    error.clear();
    Instance made = Instance::create(&options, error);
    EXPECT_FALSE(error) << error.message();
    return made;
  }

  Executable share(const Executable &model, const Instance &other) {
    error.clear();
    Executable made = model.share(other, error);
    EXPECT_FALSE(error) << error.message();
    return made;
  }

  static int64_t callCounter(const Executable &model, Error &error) {
    auto results = model.call(0, {}, error);
    return results.size() == 1 ? get<int64_t>(results[0])[0] : -1;
  }
};
INSTANTIATE_TEST_SUITE_P(Device, Sharing, getDevices(),
                         [](const auto &info) { return info.param; });

/// A function that counts its calls, and one that gives a constant.
void buildCounter(ArtifactWriter &file) {
  int64_t zero = 0, values[] = {7, 8};
  uint32_t one = file.addType(ALULA_DTYPE_I64, {1});
  uint32_t two = file.addType(ALULA_DTYPE_I64, {2});
  uint32_t counter = file.addGlobal("counter", one, /*isMutable=*/true,
                                    file.addConstant(&zero, 8));
  FunctionWriter &count = file.addFunction("count");
  count.addResult("y", one);
  count.setArenaBytes(100);
  Operand begin = count.immediate(0);
  uint32_t slot = count.global(counter);
  Operand next = count.compute(ALULA_OPERATOR_ADD,
                               count.load(ALULA_DTYPE_I64, slot, begin),
                               count.immediate(1));
  count.store(ALULA_DTYPE_I64, slot, begin, next);
  count.store(ALULA_DTYPE_I64, count.result(0), begin, next);
  FunctionWriter &give = file.addFunction("give");
  give.addResult("y", two);
  uint32_t constant = file.addConstant(values, sizeof values, two);
  give.copy(give.result(0), give.immediate(0), give.constant(constant),
            give.immediate(0), give.immediate(16));
}

TEST_P(Sharing, StatesAreNotShared) {
  ArtifactWriter file;
  buildCounter(file);
  Executable first = load(file);
  Instance other = makeOther(), third = makeOther();
  Executable second = share(first, other), last = share(second, third);
  for (int64_t expected : {1, 2, 3})
    EXPECT_EQ(callCounter(first, error), expected);
  EXPECT_EQ(callCounter(second, error), 1);
  EXPECT_EQ(callCounter(last, error), 1);
  // Whoever loaded it may go first, with the instance whose threads they use.
  first = share(second, other);
  instance = Instance();
  EXPECT_EQ(callCounter(second, error), 2);
  EXPECT_EQ(callCounter(first, error), 1);
  second = share(first, third);
  EXPECT_EQ(callCounter(second, error), 1);
  EXPECT_EQ(get<int64_t>(last.call(1, {}, error)[0]),
            (std::vector<int64_t>{7, 8}));
  EXPECT_FALSE(error) << error.message();
}

/// Whoever uses what was released is found by AddressSanitizer: there nothing is
/// kept.
#if defined(__SANITIZE_ADDRESS__)
#define ALULA_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ALULA_HAS_ASAN 1
#endif
#endif
#ifdef ALULA_HAS_ASAN
constexpr bool canKeep = false;
#else
constexpr bool canKeep = true;
#endif

/// An instance that keeps what is released, and one that shares its threads.
TEST_P(Sharing, ReleasedMemoryIsForAllDevices) {
  EXPECT_FALSE(instance.memoryStatistics());
  instance.trimMemory();
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.device = GetParam();
  options.kept_bytes = 8 << 20;
  Instance first = Instance::create(&options, error);
  options.share_threads = first.get();
  Instance second = Instance::create(&options, error);
  ASSERT_FALSE(error) << error.message();
  bool keeps = sharesMemory() && canKeep;
  ASSERT_EQ(bool(first.memoryStatistics()), keeps);
  std::vector<int64_t> dims = {1 << 18};
  uint64_t address = 0;
  for (const Instance *each : {&first, &second, &first}) {
    Buffer buffer = Buffer::create(*each, ALULA_DTYPE_F32, dims, error);
    ASSERT_FALSE(error) << error.message();
    if (keeps && address) {
      EXPECT_EQ(buffer.address(), address);
    }
    address = buffer.address();
    if (keeps) {
      EXPECT_EQ(first.memoryStatistics()->bytes_in_use, 1u << 20);
    }
  }
  if (keeps) {
    alula_memory_statistics read = *second.memoryStatistics();
    EXPECT_EQ(read.bytes_kept, 1u << 20);
    EXPECT_EQ(read.largest_kept, 1u << 20);
    EXPECT_EQ(read.allocations, 3u);
    EXPECT_EQ(read.reused, 2u);
    // Older programs know less of it.
    alula_memory_statistics old = {};
    old.struct_bytes = offsetof(alula_memory_statistics, bytes_kept);
    EXPECT_TRUE(alula_instance_get_memory_statistics(first.get(), &old));
    EXPECT_EQ(old.peak_bytes_in_use, 1u << 20);
    EXPECT_EQ(old.bytes_kept, 0u);
  }
  // The first may go before.
  first = Instance();
  { Buffer last = Buffer::create(second, ALULA_DTYPE_F32, dims, error); }
  second.trimMemory();
  if (keeps) {
    EXPECT_EQ(second.memoryStatistics()->bytes_kept, 0u);
    EXPECT_EQ(second.memoryStatistics()->reused, 3u);
  }
  EXPECT_FALSE(error) << error.message();
}

#ifdef ALULA_HAS_ASAN
TEST(SharingDeathTest, UseAfterReleaseIsFound) {
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.kept_bytes = 8 << 20;
  Error error;
  Instance instance = Instance::create(&options, error);
  EXPECT_FALSE(instance.memoryStatistics());
  volatile float *data;
  {
    Buffer buffer = Buffer::create(instance, ALULA_DTYPE_F32, {1 << 18}, error);
    data = static_cast<float *>(alula_buffer_get_data(buffer.get()));
  }
  EXPECT_DEATH(data[7] = 1, "use-after-free");
}
#endif

TEST_P(Sharing, WhatWasLoadedIsThereOnce) {
  ArtifactWriter file;
  buildCounter(file);
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  uint32_t call = file.addCustomCall({.name = "who",
                                      .operandTypes = {},
                                      .resultTypes = {type},
                                      .config = "me",
                                      .attributes = ""});
  FunctionWriter &ask = file.addFunction("ask");
  ask.addResult("y", type);
  ask.customCall(call, {}, {ask.result(0)}, {}, {});
  // Each instance has a function of its own.
  Instance other = makeOther();
  int64_t numbers[] = {10, 20};
  auto who = [](void *user, const alula_custom_call_args *args) {
    memcpy(args->results[0].data, user, 8);
    return static_cast<alula_error *>(nullptr);
  };
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(alula_instance_register_custom_call(
                  i ? other.get() : instance.get(), "who", who, &numbers[i]),
              nullptr);
  // The constants are asked for once.
  std::string tensors = file.externalizeConstants("w.safetensors", 1);
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  ASSERT_FALSE(bytes.empty()) << diagnostic.text;
  struct Found {
    int count = 0;
    alignas(64) int64_t zeros[8] = {};
  } found;
  alula_load_options options = {};
  options.struct_bytes = sizeof options;
  options.find_external = [](void *user, const alula_external_constant *,
                             const void **data) -> alula_error * {
    ++static_cast<Found *>(user)->count;
    *data = static_cast<Found *>(user)->zeros;
    return nullptr;
  };
  options.find_external_user = &found;
  Executable first = Executable::loadMemory(instance, bytes.data(),
                                            bytes.size(), error, &options);
  ASSERT_FALSE(error) << error.message();
  int asked = found.count;
  EXPECT_GT(asked, 0);
  Executable second = share(first, other);
  EXPECT_EQ(found.count, asked);
  EXPECT_EQ(get<int64_t>(first.call(2, {}, error)[0])[0], 10);
  EXPECT_EQ(get<int64_t>(second.call(2, {}, error)[0])[0], 20);
  auto here = first.customCall(0), there = second.customCall(0);
  ASSERT_TRUE(here && there);
  EXPECT_FALSE(first.customCall(1));
  EXPECT_STREQ(here->name, "who");
  EXPECT_EQ(
      std::string(static_cast<const char *>(here->config), here->config_bytes),
      "me");
  EXPECT_EQ(here->operand_count, 0u);
  EXPECT_EQ(here->result_count, 1u);
  EXPECT_EQ(here->config, there->config);
  EXPECT_EQ(first.hash(), second.hash());
  // A third instance knows no such function.
  Executable none = first.share(makeOther(), error);
  EXPECT_FALSE(none);
  EXPECT_STREQ(error.message(),
               "custom call 'who' has no function: it must be registered with "
               "the instance before loading");
}

TEST_P(Sharing, MemoryOfAFunction) {
  KernelFile file;
  buildCounter(file);
  Executable model = load(file);
  auto count = model.memory(0), give = model.memory(1);
  ASSERT_TRUE(count && give);
  EXPECT_EQ(count->temporary_bytes, 128u);
  EXPECT_EQ(count->constant_bytes, 24u);
  EXPECT_GT(count->code_bytes, 0u);
  EXPECT_EQ(give->temporary_bytes, 0u);
  EXPECT_FALSE(model.memory(2));
}

TEST_P(Sharing, WhatIsRefused) {
  ArtifactWriter file;
  buildCounter(file);
  Executable model = load(file);
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.device = std::string(GetParam()) == "cpu" ? "null" : "cpu";
  error.clear();
  Instance other = Instance::create(&options, error);
  EXPECT_FALSE(model.share(other, error));
  EXPECT_EQ(std::string(error.message()),
            "alula_executable_share: the executable was loaded for device '" +
                std::string(GetParam()) + "', the instance is one of '" +
                options.device + "'");
  error.clear();
  options.share_threads = other.get();
  EXPECT_EQ(
      alula_instance_get_thread_count(Instance::create(&options, error).get()),
      alula_instance_get_thread_count(other.get()));
  options.thread_count = 2;
  Instance::create(&options, error);
  EXPECT_STREQ(error.message(), "an instance that shares threads has neither a "
                                "thread count nor a thread pool of its own");
}

TEST_P(Sharing, BuffersOfAnotherDevice) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type, 0);
  Operand one = f.immediate(1);
  f.dispatch(file.scaleI64, one, one, one, {f.argument(0)}, {one, one});
  Executable model = load(file);
  static std::atomic<int64_t> living;
  living = 0;
  alula_allocator allocator = {
      nullptr,
      [](void *, size_t bytes, size_t alignment) {
        ++living;
        return aligned_alloc(alignment,
                             (bytes + alignment) / alignment * alignment);
      },
      [](void *, void *memory, size_t, size_t) {
        --living;
        free(memory);
      }};
  Instance other = makeOther(&allocator);
  int64_t values[] = {1, 2, 3, 4};
  error.clear();
  Buffer x = Buffer::create(other, ALULA_DTYPE_I64, {4}, error);
  x.write(values, error);
  ASSERT_FALSE(error) << error.message();
  uint8_t donate[] = {1};
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.donate = donate;
  auto results = run(model, {x}, &options);
  if (!sharesMemory()) {
    std::string device = GetParam();
    EXPECT_EQ(error.message(), "argument 0 'x': the buffer is on another "
                               "device, of '" +
                                   device + "'");
    Buffer mine = makeI64({1, 2, 3, 4});
    alula_buffer *argument = mine.get(), *result = x.get();
    EXPECT_FALSE(error.take(
        alula_call(model.get(), 0, nullptr, &argument, 1, &result, 1)));
    EXPECT_EQ(error.message(), "result 0 'y': the buffer is on another "
                               "device, of '" +
                                   device + "'");
    return;
  }
  // What was donated goes back to whom it came from.
  ASSERT_EQ(results.size(), 1u) << error.message();
  if (computes())
    EXPECT_EQ(get<int64_t>(results[0]), (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(living, 1);
  results.clear();
  EXPECT_EQ(living, 0);
}

} // namespace
} // namespace alula::runtime
