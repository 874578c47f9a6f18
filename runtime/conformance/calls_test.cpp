// Arguments, results, donation, globals, threads, on every device.

#include "runtime/conformance/suite.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

using namespace alula;
using namespace alula::runtime;

/// These tests ask for more memory than there is.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

using Calls = Conformance;
INSTANTIATE_TEST_SUITE_P(Device, Calls, getDevices(),
                         [](const auto &info) { return info.param; });

/// y = 3 x + 1 in place of x; the command list does it through a callee.
void buildInPlace(KernelFile &file) {
  uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
  FunctionWriter &inner = file.addFunction("inner", /*exported=*/false);
  inner.addArgument("x", type);
  inner.addResult("y", type, 0);
  inner.dispatch(file.scaleI64, inner.immediate(1), inner.immediate(1),
                 inner.immediate(1), {inner.argument(0)},
                 {inner.immediate(3), inner.immediate(1)});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addArgument("unused", type);
  f.addResult("y", type, 0);
  uint32_t x = f.argument(0);
  f.call(inner.getIndex(), {x}, {x});
  // Both names show the same bytes.
  f.store(ALULA_DTYPE_I64, f.result(0), f.immediate(24), f.immediate(-1));
}

TEST_P(Calls, InPlaceAndDonation) {
  KernelFile file;
  buildInPlace(file);
  Executable model = load(file);
  std::vector<int64_t> in = {1, 2, 3, 4}, expected = {4, 7, 10, -1};
  if (!computes())
    expected = {1, 2, 3, -1};
  Buffer x = makeI64(in), unused = makeI64(in);
  // Kept: a copy is changed.
  auto results = run(model, {x, unused});
  ASSERT_EQ(results.size(), 1u) << error.message();
  EXPECT_EQ(get<int64_t>(results[0]), expected);
  EXPECT_EQ(get<int64_t>(x), in);
  // Given as the result: no copy, no donation.
  Buffer y = makeI64(in);
  alula_buffer *arguments[] = {y.get(), unused.get()}, *result = y.get();
  ASSERT_TRUE(
      error.take(alula_call(model.get(), 0, nullptr, arguments, 2, &result, 1)))
      << error.message();
  EXPECT_EQ(get<int64_t>(y), expected);
  // Donated: the memory moves.
  uint8_t donate[] = {1, 0};
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.donate = donate;
  uint64_t memory = alula_buffer_get_address(x.get());
  results = run(model, {x, unused}, &options);
  ASSERT_EQ(results.size(), 1u) << error.message();
  EXPECT_EQ(alula_buffer_get_address(results[0].get()), memory);
  EXPECT_EQ(alula_buffer_get_address(x.get()), 0u);
  EXPECT_EQ(x.data(), nullptr);
  EXPECT_EQ(results[0].data() != nullptr, sharesMemory());
  EXPECT_EQ(get<int64_t>(results[0]), expected);
  run(model, {x, unused});
  EXPECT_STREQ(error.message(),
               "argument 0 'x': the buffer was donated to an earlier call");
  EXPECT_EQ(error.code(), ALULA_STATUS_INVALID_ARGUMENT);
  // Donated and used twice.
  Buffer twice = makeI64(in);
  run(model, {twice, twice}, &options);
  EXPECT_STREQ(error.message(),
               "result 0 and argument 1 share memory that is written");
  EXPECT_EQ(get<int64_t>(twice), in);
}

TEST_P(Calls, WrongArguments) {
  KernelFile file;
  buildInPlace(file);
  Executable model = load(file);
  Buffer x = makeI64({1, 2, 3, 4});
  run(model, {x});
  EXPECT_STREQ(error.message(), "function 'main' takes 2 arguments and gives 1 "
                                "results, not 1 and 1");
  run(model, {x, Buffer()});
  EXPECT_STREQ(error.message(), "argument 1 'unused' is null");
  run(model, {x, makeI64({1, 2, 3})});
  EXPECT_STREQ(error.message(),
               "argument 1 'unused': expected 4xi64, got 3xi64");
  run(model, {x, makeF32({1, 2, 3, 4})});
  EXPECT_STREQ(error.message(),
               "argument 1 'unused': expected 4xi64, got 4xf32");
  Buffer short1 = makeI64({1});
  alula_buffer *arguments[] = {x.get(), x.get()}, *result = short1.get();
  error.take(alula_call(model.get(), 0, nullptr, arguments, 2, &result, 1));
  EXPECT_STREQ(error.message(), "result 0 'y': expected 4xi64, got 1xi64");
  error.take(alula_call(model.get(), 5, nullptr, arguments, 2, &result, 1));
  EXPECT_STREQ(error.message(), "there is no function 5: the artifact has 1");
  error.take(alula_call(model.get(), 0, nullptr, nullptr, 2, &result, 1));
  EXPECT_STREQ(error.message(),
               "alula_call: executable, arguments or results are null");
  // Part of an argument as a result.
  Buffer all = makeI64({1, 2, 3, 4, 5, 6, 7, 8});
  auto *memory =
      reinterpret_cast<int64_t *>(alula_buffer_get_address(all.get()));
  Buffer low = Buffer::wrap(instance, ALULA_DTYPE_I64, {4}, memory, 32, error);
  Buffer high =
      Buffer::wrap(instance, ALULA_DTYPE_I64, {4}, memory + 2, 32, error);
  ASSERT_FALSE(error) << error.message();
  alula_buffer *overlapping[] = {x.get(), low.get()};
  result = high.get();
  error.take(alula_call(model.get(), 0, nullptr, overlapping, 2, &result, 1));
  EXPECT_STREQ(error.message(),
               "argument 1 and result 0 share memory that is written");
  Error find;
  model.find("man", find);
  EXPECT_STREQ(find.message(),
               "there is no function 'man': the artifact has 1, first 'main'");
}

TEST_P(Calls, WrongBuffers) {
  int64_t memory[4];
  auto wrap = [&](alula_dtype type, std::vector<int64_t> dims, void *data,
                  size_t bytes) {
    error.clear();
    Buffer::wrap(instance, type, dims, data, bytes, error);
    return std::string(error.message());
  };
  EXPECT_EQ(wrap(ALULA_DTYPE_I64, {4}, memory, 31),
            "a buffer of 4xi64 takes 32 bytes, not 31");
  EXPECT_EQ(wrap(ALULA_DTYPE_I64, {4}, memory, 32),
            sharesMemory() ? ""
                           : "a buffer of 4xi64 wraps memory that device '" +
                                 std::string(GetParam()) + "' can't use");
  EXPECT_EQ(wrap(ALULA_DTYPE_I64, {4}, nullptr, 32),
            "a buffer of 4xi64 wraps a null pointer");
  EXPECT_EQ(
      wrap(ALULA_DTYPE_I32, {4}, reinterpret_cast<char *>(memory) + 2, 16),
      "a buffer of 4xi32 must be aligned to 4");
  EXPECT_EQ(wrap(alula_dtype(99), {4}, memory, 32), "unknown element type 99");
  EXPECT_EQ(wrap(ALULA_DTYPE_F32, {-1}, memory, 32),
            "dimension 0 of a buffer is -1");
  EXPECT_EQ(
      wrap(ALULA_DTYPE_F32, {int64_t(1) << 40, int64_t(1) << 40}, memory, 32),
      "a buffer of 1099511627776x1099511627776xf32 has more than 2^48 "
      "bytes");
  EXPECT_EQ(wrap(ALULA_DTYPE_F32, {0, int64_t(1) << 60}, nullptr, 0), "");
  // What a device has for itself is read as wide as it can.
  Buffer all = makeI64({1, 2, 3, 4});
  auto *address =
      reinterpret_cast<int64_t *>(alula_buffer_get_address(all.get()));
  EXPECT_EQ(wrap(ALULA_DTYPE_I64, {2}, address + 2, 16), "");
  EXPECT_EQ(wrap(ALULA_DTYPE_I64, {2}, address + 1, 16),
            sharesMemory()
                ? ""
                : "a buffer of 2xi64 must be aligned to 16 on device '" +
                      std::string(GetParam()) + "'");
  error.clear();
  Buffer::create(instance, ALULA_DTYPE_I8, {int64_t(1) << 47}, error);
  EXPECT_EQ(error.code(), ALULA_STATUS_RESOURCE_EXHAUSTED);
}

TEST_P(Calls, Globals) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  int64_t start = 40;
  uint32_t counter = file.addGlobal("counter", type, /*isMutable=*/true,
                                    file.addConstant(&start, 8));
  uint32_t late = file.addGlobal("late", type, /*isMutable=*/true);
  uint32_t fixed = file.addGlobal("fixed", type, /*isMutable=*/false,
                                  file.addConstant(&start, 8));
  FunctionWriter &count = file.addFunction("count");
  count.addResult("y", type);
  Operand zero = count.immediate(0);
  uint32_t slot = count.global(counter);
  Operand next =
      count.compute(ALULA_OPERATOR_ADD, count.load(ALULA_DTYPE_I64, slot, zero),
                    count.immediate(1));
  count.store(ALULA_DTYPE_I64, slot, zero, next);
  count.store(ALULA_DTYPE_I64, count.result(0), zero, next);
  FunctionWriter &read = file.addFunction("read");
  read.addResult("y", type);
  read.checkGlobal(late);
  read.copy(read.result(0), zero, read.global(late), zero, read.immediate(8));
  FunctionWriter &define = file.addFunction("define");
  define.store(ALULA_DTYPE_I64, define.global(late), zero, define.immediate(5));
  define.defineGlobal(late);
  FunctionWriter &readFixed = file.addFunction("read_fixed");
  readFixed.addResult("y", type);
  readFixed.copy(readFixed.result(0), zero, readFixed.global(fixed), zero,
                 readFixed.immediate(8));
  Executable model = load(file);

  for (int64_t expected : {41, 42, 43})
    EXPECT_EQ(get<int64_t>(run(model, {})[0])[0], expected);
  alula_state *state;
  ASSERT_TRUE(error.take(alula_state_create(model.get(), &state)));
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.state = state;
  EXPECT_EQ(get<int64_t>(run(model, {}, &options)[0])[0], 41);
  alula_state_destroy(state);
  int64_t value = 0;
  ASSERT_TRUE(error.take(alula_global_get(model.get(), nullptr, 0, &value, 8)));
  EXPECT_EQ(value, 43);

  model.call(1, {}, error);
  EXPECT_STREQ(error.message(), "function 'read': global 'late' is read before "
                                "it is initialised");
  error.take(alula_global_get(model.get(), nullptr, 1, &value, 8));
  EXPECT_STREQ(error.message(),
               "global 'late' is read before it is initialised");
  error.clear();
  model.call(2, {}, error);
  EXPECT_EQ(get<int64_t>(model.call(1, {}, error)[0])[0], 5);
  value = 6;
  ASSERT_TRUE(error.take(alula_global_set(model.get(), nullptr, 1, &value, 8)));
  EXPECT_EQ(get<int64_t>(model.call(1, {}, error)[0])[0], 6);

  EXPECT_EQ(get<int64_t>(model.call(3, {}, error)[0])[0], 40);
  error.take(alula_global_set(model.get(), nullptr, 2, &value, 8));
  EXPECT_STREQ(error.message(),
               "global 'fixed' is immutable and has its value");
  error.clear();
  EXPECT_EQ(get<int64_t>(model.call(3, {}, error)[0])[0], 40);

  error.take(alula_global_set(model.get(), nullptr, 2, &value, 4));
  EXPECT_STREQ(error.message(), "global 'fixed' has 8 bytes, not 4");
  error.take(alula_global_get(model.get(), nullptr, 9, &value, 8));
  EXPECT_STREQ(error.message(), "there is no global 9: the artifact has 3");
  alula_value_info info = {};
  info.struct_bytes = sizeof info;
  ASSERT_TRUE(alula_executable_get_global(model.get(), 0, &info));
  EXPECT_STREQ(info.name, "counter");
  EXPECT_TRUE(info.is_mutable);
}

TEST_P(Calls, ManyThreadsOnOneExecutable) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_F32, {64});
  int64_t zeros = 0;
  uint32_t global =
      file.addGlobal("calls", file.addType(ALULA_DTYPE_I64, {1}),
                     /*isMutable=*/true, file.addConstant(&zeros, 8));
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  f.setArenaBytes(256);
  uint32_t x = f.argument(0), t = f.arena(0, 256);
  Operand parts = f.immediate(4), one = f.immediate(1), n = f.immediate(64);
  f.dispatch(file.addF32, parts, one, one, {x, x, t}, {n});
  f.dispatch(file.addF32, parts, one, one, {t, t, f.result(0)}, {n});
  FunctionWriter &count = file.addFunction("count");
  uint32_t slot = count.global(global);
  count.store(
      ALULA_DTYPE_I64, slot, count.immediate(0),
      count.compute(ALULA_OPERATOR_ADD,
                    count.load(ALULA_DTYPE_I64, slot, count.immediate(0)),
                    count.immediate(1)));
  Executable model = load(file);
  // More by `./dev test threads`.
  const char *asked = getenv("ALULA_TEST_ROUNDS");
  const int threads = 64, rounds = asked ? atoi(asked) : 100;
  std::atomic<int> wrong{0};
  std::vector<std::thread> workers;
  for (int w = 0; w < threads; ++w)
    workers.emplace_back([&, w] {
      Error mine;
      Buffer in = Buffer::create(instance, ALULA_DTYPE_F32, {64}, mine);
      std::vector<float> values(64);
      for (size_t i = 0; i < 64; ++i)
        values[i] = float(int(i) + w);
      in.write(values.data(), mine);
      for (int r = 0; r < rounds; ++r) {
        auto results = model.call(0, {in}, mine);
        model.call(1, {}, mine);
        if (mine || results.size() != 1) {
          ++wrong;
          return;
        }
        std::vector<float> sums = get<float>(results[0]);
        for (size_t i = 0; computes() && i < 64; ++i)
          wrong += sums[i] != 4.0f * values[i];
      }
    });
  for (std::thread &worker : workers)
    worker.join();
  EXPECT_EQ(wrong, 0);
  int64_t calls = 0;
  ASSERT_TRUE(error.take(alula_global_get(model.get(), nullptr, 0, &calls, 8)));
  EXPECT_EQ(calls, threads * rounds);
}

TEST_P(Calls, AsyncTraceCancel) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  uint32_t y = f.result(0);
  Operand zero = f.immediate(0), one = f.immediate(1);
  f.copy(y, zero, f.argument(0), zero, f.immediate(32));
  f.dispatch(file.scaleI64, one, one, one, {y}, {f.immediate(2), zero});
  FunctionWriter &forever = file.addFunction("forever");
  uint32_t test = forever.newBlock(), body = forever.newBlock();
  forever.loop(test, one, body);
  Executable model = load(file);

  struct Heard {
    std::string names;
    bool hasThreads;
  } heard = {"", computes() && std::string(GetParam()).substr(0, 4) != "cuda"};
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.trace_user = &heard;
  options.trace = [](void *user, const alula_trace_event *event) {
    auto &told = *static_cast<Heard *>(user);
    told.names += std::string(event->name) + " ";
    EXPECT_LE(event->begin_ns, event->end_ns);
    EXPECT_EQ(event->bytes, 32u);
    ASSERT_EQ(event->thread_count, event->grid[0] && told.hasThreads ? 1u : 0u);
    for (uint32_t i = 0; i < event->thread_count; ++i) {
      EXPECT_EQ(event->threads[i].workgroups, 1u);
      EXPECT_GE(event->threads[i].begin_ns, event->begin_ns);
      EXPECT_LE(event->threads[i].end_ns, event->end_ns);
    }
  };
  Buffer x = makeI64({1, 2, 3, 4});
  std::vector<alula_buffer *> results(20, nullptr);
  std::vector<alula_event *> events(20);
  alula_buffer *in = x.get();
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(error.take(
        alula_call_async(model.get(), 0, i ? nullptr : &options, &in, 1,
                         &results[size_t(i)], 1, &events[size_t(i)])));
  std::atomic<int> done{0};
  alula_event_on_done(
      events[19], [](void *user) { ++*static_cast<std::atomic<int> *>(user); },
      &done);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(error.take(alula_event_wait(events[size_t(i)])));
    EXPECT_TRUE(alula_event_is_done(events[size_t(i)]));
    Buffer y1(results[size_t(i)]);
    EXPECT_EQ(get<int64_t>(y1)[3], computes() ? 8 : 4);
  }
  EXPECT_EQ(heard.names, "copy scale_i64 ");

  int cancel = 0;
  alula_call_options stop = {};
  stop.struct_bytes = sizeof stop;
  stop.cancel = &cancel;
  alula_event *endless;
  ASSERT_TRUE(error.take(alula_call_async(model.get(), 1, &stop, nullptr, 0,
                                          nullptr, 0, &endless)));
  EXPECT_FALSE(alula_event_is_done(endless));
  __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
  EXPECT_FALSE(error.take(alula_event_wait(endless)));
  EXPECT_EQ(error.code(), ALULA_STATUS_CANCELLED);
  EXPECT_STREQ(error.message(), "function 'forever': the call was cancelled");
  alula_event_destroy(endless);
  for (alula_event *event : events)
    alula_event_destroy(event);
  EXPECT_EQ(done, 1);
}

TEST_P(Calls, CancelledWithinGrids) {
  // A launch that is on a GPU runs to its end.
  if (!computes() || std::string(GetParam()) == "cuda")
    return;
  KernelFile file;
  FunctionWriter &f = file.addFunction("long");
  // Weeks of workgroups that do nothing.
  Operand many = f.immediate(1 << 22);
  f.together(2);
  for (int i = 0; i < 2; ++i)
    f.dispatch(file.failWith, many, many, f.immediate(1), {}, {f.immediate(0)});
  Executable model = load(file);
  int cancel = 0;
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.cancel = &cancel;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
  });
  run(model, {}, &options);
  other.join();
  EXPECT_EQ(error.code(), ALULA_STATUS_CANCELLED);
  EXPECT_STREQ(error.message(), "function 'long': the call was cancelled");
}

TEST_P(Calls, Loading) {
  KernelFile file;
  buildInPlace(file);
  file.addFact("compiler", "by hand");
  std::string bytes = file.finish();
  std::string path = "/tmp/alula-conformance-" + std::to_string(getpid());
  FILE *out = fopen(path.c_str(), "wb");
  ASSERT_EQ(fwrite(bytes.data(), 1, bytes.size(), out), bytes.size());
  fclose(out);
  Executable model = Executable::loadFile(instance, path.c_str(), error);
  unlink(path.c_str());
  ASSERT_FALSE(error) << error.message();
  EXPECT_STREQ(alula_executable_get_variant(model.get()), getVariant());
  const char *key, *value;
  ASSERT_TRUE(alula_executable_get_fact(model.get(), 0, &key, &value));
  EXPECT_STREQ(value, "by hand");
  EXPECT_FALSE(alula_executable_get_fact(model.get(), 1, &key, &value));
  EXPECT_EQ(alula_executable_get_function_count(model.get()), 1u);
  alula_value_info info = {};
  info.struct_bytes = sizeof info;
  ASSERT_TRUE(alula_executable_get_argument(model.get(), 0, 1, &info));
  EXPECT_STREQ(info.name, "unused");
  EXPECT_EQ(info.dims[0], 4);
  EXPECT_EQ(info.alias, -1);
  EXPECT_FALSE(alula_executable_get_argument(model.get(), 0, 2, &info));
  EXPECT_FALSE(alula_executable_get_result(model.get(), 1, 0, &info));
  ASSERT_TRUE(alula_executable_get_result(model.get(), 0, 0, &info));
  EXPECT_EQ(info.alias, 0);

  auto fails = [&](const std::string &content, uint32_t flags = 0,
                   const char *variant = nullptr) {
    alula_load_options options = {};
    options.struct_bytes = sizeof options;
    options.flags = flags;
    options.variant = variant;
    error.clear();
    Executable::loadMemory(instance, content.data(), content.size(), error,
                           &options);
    return std::string(error.message());
  };
  EXPECT_EQ(fails("x"),
            "artifact is truncated: 1 bytes, the header alone takes "
            "64");
  EXPECT_EQ(fails(bytes, 0, getVariant()), "");
  EXPECT_EQ(fails(bytes, 0, "other"), "the artifact has no variant 'other'");
  EXPECT_EQ(fails(std::string(1000, 'y')),
            "not an Alula artifact: wrong magic number");
  error.clear();
  Executable::loadFile(instance, "/no/such/file", error);
  EXPECT_STREQ(error.message(), "/no/such/file: No such file or directory");
  error.clear();
  Executable::loadFile(instance, "/tmp", error);
  EXPECT_STREQ(error.message(), "/tmp: not a file with content");
}

TEST_P(Calls, GlobalsOfALimitedSize) {
  ArtifactWriter file;
  uint32_t large = file.addType(ALULA_DTYPE_UI8, {int64_t(1) << 33});
  uint32_t small = file.addType(ALULA_DTYPE_I64, {4});
  int64_t numbers[4] = {};
  uint32_t constant = file.addConstant(numbers, sizeof numbers);
  file.addGlobal("cache", large, /*isMutable=*/true);
  file.addGlobal("copied", small, /*isMutable=*/true, constant);
  file.addGlobal("mapped", small, /*isMutable=*/false, constant);
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  auto loadWith = [&](uint64_t limit) {
    alula_load_options options = {};
    options.struct_bytes = sizeof options;
    options.max_global_bytes = limit;
    error.clear();
    Executable::loadMemory(instance, bytes.data(), bytes.size(), error,
                           &options);
    return std::string(error.message());
  };
  EXPECT_EQ(loadWith(0),
            "globals take 8589934624 bytes, more than the limit of " +
                std::to_string(ALULA_DEFAULT_GLOBAL_BYTES + bytes.size()) +
                " (max_global_bytes of the load options)");
  EXPECT_EQ(error.code(), ALULA_STATUS_RESOURCE_EXHAUSTED);
  EXPECT_EQ(loadWith(8589934623),
            "globals take 8589934624 bytes, more than the limit of 8589934623 "
            "(max_global_bytes of the load options)");
  // Small ones within a small limit.
  ArtifactWriter other;
  uint32_t type = other.addType(ALULA_DTYPE_I64, {4});
  uint32_t initial = other.addConstant(numbers, sizeof numbers);
  other.addGlobal("copied", type, /*isMutable=*/true, initial);
  other.addGlobal("mapped", type, /*isMutable=*/false, initial);
  bytes = other.finish(diagnostic);
  EXPECT_EQ(loadWith(32), "");
  EXPECT_EQ(loadWith(31), "globals take 32 bytes, more than the limit of 31 "
                          "(max_global_bytes of the load options)");
}

} // namespace
