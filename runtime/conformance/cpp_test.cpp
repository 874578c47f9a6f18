// The C++ twin of the C functions: what only it does, and that every function
// arrives. test_cpp_header.py checks that none is left out.

#include "runtime/conformance/suite.h"

#include "alula/import.h"

#include <atomic>
#include <future>
#include <thread>

namespace alula::runtime {
namespace {

class Cpp : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Device, Cpp, getDevices(),
                         [](const auto &info) { return info.param; });

/// y = x, dispatched, for i64[4]; counts its calls in a global.
Executable loadCounter(const Instance &instance, Error &error) {
  KernelFile file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
  uint32_t one = file.addType(ALULA_DTYPE_I64, {1});
  int64_t start = 40;
  uint32_t counter = file.addGlobal("counter", one, /*isMutable=*/true,
                                    file.addConstant(&start, 8));
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  Operand zero = f.immediate(0), size = f.immediate(32);
  f.copy(f.result(0), zero, f.argument(0), zero, size);
  uint32_t slot = f.global(counter);
  f.store(ALULA_DTYPE_I64, slot, zero,
          f.compute(ALULA_OPERATOR_ADD, f.load(ALULA_DTYPE_I64, slot, zero),
                    f.immediate(1)));
  file.addFact("author", "us");
  std::string bytes = file.finish();
  return Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
}

TEST_P(Cpp, WhatAnExecutableIs) {
  Executable model = loadCounter(instance, error);
  ASSERT_TRUE(model) << error.message();
  EXPECT_EQ(model.functionCount(), 1u);
  EXPECT_STREQ(model.functionName(0), "main");
  EXPECT_EQ(model.find("main", error), 0u);
  EXPECT_EQ(model.argumentCount(0), 1u);
  EXPECT_EQ(model.resultCount(0), 1u);
  EXPECT_STREQ(model.argument(0, 0)->name, "x");
  EXPECT_EQ(model.result(0, 0)->dtype, ALULA_DTYPE_I64);
  EXPECT_EQ(model.argumentDim(0, 0, 0)->size, 4);
  EXPECT_EQ(model.resultDim(0, 0, 0)->size, 4);
  EXPECT_STREQ(model.global(0)->name, "counter");
  EXPECT_EQ(model.globalCount(), 1u);
  EXPECT_EQ(model.findGlobal("counter", error), 0u);
  EXPECT_EQ(model.participantCount(), 1u);
  EXPECT_STREQ(model.variant(), getVariant());
  EXPECT_NE(model.hash(), 0u);
  ASSERT_TRUE(model.fact(0));
  EXPECT_STREQ(model.fact(0)->first, "author");
  EXPECT_STREQ(model.fact(0)->second, "us");
  // What there is not.
  EXPECT_FALSE(model.fact(1));
  EXPECT_FALSE(model.argument(0, 1));
  EXPECT_FALSE(model.result(1, 0));
  EXPECT_FALSE(model.argumentDim(0, 0, 1));
  EXPECT_FALSE(model.resultDim(0, 0, 1));
  EXPECT_FALSE(model.global(1));
  EXPECT_FALSE(model.importedFunction(0));
  model.findGlobal("none", error);
  EXPECT_STREQ(error.message(), "there is no global 'none'");

  EXPECT_STREQ(instance.device(), GetParam());
  EXPECT_EQ(instance.threadCount(), 4u);
  EXPECT_EQ(instance.sharesMemory(), sharesMemory());
  EXPECT_EQ(runtimeVersion(), ALULA_RUNTIME_VERSION);
}

TEST_P(Cpp, States) {
  Executable model = loadCounter(instance, error);
  Buffer x = makeI64({1, 2, 3, 4});
  State state = State::create(model, error);
  ASSERT_TRUE(state) << error.message();
  auto options = makeStruct<alula_call_options>();
  options.state = state.get();
  for (int i = 0; i < 3; ++i)
    run(model, {x}, &options);
  run(model, {x});
  int64_t value = 0;
  state.read(0, &value, sizeof value, error);
  EXPECT_EQ(value, 43);
  State own = model.ownState();
  own.read(0, &value, sizeof value, error);
  EXPECT_EQ(value, 41);
  value = 7;
  own.write(0, &value, sizeof value, error);
  run(model, {x});
  own.read(0, &value, sizeof value, error);
  EXPECT_EQ(value, 8);
  own.read(1, &value, sizeof value, error);
  EXPECT_STREQ(error.message(), "there is no global 1: the artifact has 1");
  // Nothing is done after an error.
  EXPECT_FALSE(State::create(model, error));
}

TEST_P(Cpp, ResultsAreWrittenAgain) {
  Executable model = loadCounter(instance, error);
  std::vector<Buffer> arguments = {makeI64({1, 2, 3, 4})}, results(1);
  model.callInto(0, arguments, results, error);
  ASSERT_FALSE(error) << error.message();
  Buffer first = results[0];
  std::vector<int64_t> more = {5, 6, 7, 8};
  arguments[0].write(more.data(), error);
  model.callInto(0, arguments, results, error);
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(results[0].get(), first.get());
  EXPECT_EQ(get<int64_t>(first), more);
  // A call that fails leaves them.
  model.callInto(0, {}, results, error);
  EXPECT_TRUE(error);
  EXPECT_EQ(results[0].get(), first.get());
  EXPECT_TRUE(run(model, {}).empty());
}

TEST_P(Cpp, AsynchronousCalls) {
  Executable model = loadCounter(instance, error);
  Buffer x = makeI64({1, 2, 3, 4});
  std::vector<std::vector<Buffer>> results(8, std::vector<Buffer>(1));
  std::vector<Event> events;
  for (auto &each : results)
    events.push_back(model.callAsync(0, {x}, each, error));
  ASSERT_FALSE(error) << error.message();
  std::promise<int> done;
  events.back().onDone(
      [&done, kept = std::make_unique<int>(3)] { done.set_value(*kept); });
  EXPECT_EQ(done.get_future().get(), 3);
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].wait(error);
    ASSERT_FALSE(error) << error.message();
    EXPECT_TRUE(events[i].isDone());
    EXPECT_EQ(get<int64_t>(results[i][0])[3], 4);
  }
  // What is wrong shows in the event.
  std::vector<Buffer> none(1);
  Event wrong = model.callAsync(0, {}, none, error);
  ASSERT_FALSE(error);
  wrong.wait(error);
  EXPECT_STREQ(error.message(),
               "function 'main' takes 1 arguments and gives 1 results, not 0 "
               "and 1");
}

TEST_P(Cpp, Copies) {
  Buffer x = makeI64({1, 2, 3, 4}), y = makeI64({0, 0, 0, 0});
  std::vector<int64_t> host(2);
  y.copyFrom(x, 8, 0, 16, error);
  Event copied, read;
  y.copyFrom(x, 24, 16, 8, error, &copied);
  y.readRange(8, host.data(), 16, error, &read);
  read.wait(error);
  ASSERT_FALSE(error) << error.message();
  EXPECT_TRUE(copied.isDone());
  EXPECT_EQ(host, (std::vector<int64_t>{3, 4}));
  int64_t nine = 9;
  y.writeRange(24, &nine, 8, error);
  EXPECT_EQ(get<int64_t>(y), (std::vector<int64_t>{2, 3, 4, 9}));
  EXPECT_NE(y.address(), 0u);
  EXPECT_EQ(y.rank(), 1u);
  Event nothing;
  y.readRange(25, host.data(), 8, error, &nothing);
  EXPECT_EQ(error.code(), ALULA_STATUS_OUT_OF_RANGE) << error.message();
  EXPECT_FALSE(nothing);
}

TEST_P(Cpp, WrappedMemoryIsReleased) {
  if (!sharesMemory())
    GTEST_SKIP() << "the host's memory is none of the device's";
  float memory[4] = {1, 2, 3, 4};
  void *released = nullptr;
  {
    Buffer x = Buffer::wrap(
        instance, ALULA_DTYPE_F32, {4}, memory, sizeof memory, error,
        [](void *user, void *data) { *static_cast<void **>(user) = data; },
        &released);
    ASSERT_FALSE(error) << error.message();
    EXPECT_EQ(x.data<float>(), memory);
    Buffer copy = x;
    x = Buffer();
    EXPECT_EQ(released, nullptr);
  }
  EXPECT_EQ(released, memory);
}

TEST_P(Cpp, CustomCalls) {
  struct Add {
    int calls = 0;
    void operator()(const CustomCall &call, Error &failed) {
      ++calls;
      EXPECT_STREQ(call.name(), "add");
      EXPECT_EQ(call.apiVersion(), 4u);
      EXPECT_EQ(call.attributes(), "{\"by\": 2}");
      EXPECT_FALSE(call.isCancelled());
      if (call.operandCount() != 1 || call.resultCount() != 1)
        return failed.set(ALULA_STATUS_INTERNAL, "wrong counts");
      CustomCallBuffer x = call.operand(0), y = call.result(0);
      EXPECT_EQ(x.rank(), 1u);
      EXPECT_EQ(x.dim(0), 3);
      EXPECT_EQ(x.dtype(), ALULA_DTYPE_I64);
      EXPECT_EQ(x.bytes(), 24u);
      if (call.config() == "fail")
        return failed.set(ALULA_STATUS_INVALID_ARGUMENT, "told to fail");
      for (int i = 0; i < 3; ++i)
        y.data<int64_t>()[i] = x.data<int64_t>()[i] + 2;
    }
  } add;
  instance.registerCustomCall("add", &add, error);
  instance.registerCustomCall(
      "other",
      [](void *, const alula_custom_call_args *) -> alula_error * {
        return nullptr;
      },
      nullptr, error);
  ASSERT_FALSE(error) << error.message();
  for (const char *config : {"", "fail"}) {
    ArtifactWriter file;
    uint32_t type = file.addType(ALULA_DTYPE_I64, {3});
    uint32_t call = file.addCustomCall({.name = "add",
                                        .apiVersion = 4,
                                        .operandTypes = {type},
                                        .resultTypes = {type},
                                        .config = config,
                                        .attributes = "{\"by\": 2}"});
    FunctionWriter &main = file.addFunction("main");
    main.addArgument("x", type);
    main.addResult("y", type);
    main.customCall(call, {main.argument(0)}, {main.result(0)}, {}, {});
    Executable model = load(file);
    std::vector<Buffer> results = run(model, {makeI64({1, 2, 3})});
    if (*config) {
      EXPECT_EQ(error.code(), ALULA_STATUS_INVALID_ARGUMENT);
      EXPECT_NE(strstr(error.message(), "told to fail"), nullptr)
          << error.message();
    } else {
      ASSERT_FALSE(error) << error.message();
      EXPECT_EQ(get<int64_t>(results[0]), (std::vector<int64_t>{3, 4, 5}));
    }
  }
  EXPECT_EQ(add.calls, 2);
  error.clear();
  instance.registerCustomCall("add", &add, error);
  EXPECT_EQ(error.code(), ALULA_STATUS_ALREADY_EXISTS) << error.message();
}

TEST_P(Cpp, TraceAndCollectives) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_F32, {2});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  uint32_t number = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                                        .reduction = ALULA_REDUCTION_SUM,
                                        .dtype = ALULA_DTYPE_F32,
                                        .groups = file.addGroups(2, {{0, 1}}),
                                        .count = 2});
  f.collectiveDone(f.collectiveStart(number, f.argument(0), f.result(0)));
  Executable model = load(file);
  Collectives collectives =
      Collectives::create(model.participantCount(), error);
  ASSERT_TRUE(collectives) << error.message();
  std::vector<float> sums[2];
  std::atomic<int> traced{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      auto options = makeStruct<alula_call_options>();
      options.collectives = collectives.get();
      options.participant = i;
      auto count = [&](const alula_trace_event &event) {
        traced += event.begin_ns <= event.end_ns;
      };
      trace(options, &count);
      Error mine;
      Buffer x = Buffer::create(instance, ALULA_DTYPE_F32, {2}, mine);
      float given[] = {float(i + 1), 10};
      x.write(given, mine);
      auto results = model.call(0, {x}, mine, &options);
      ASSERT_FALSE(mine) << mine.message();
      sums[i] = get<float>(results[0]);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sums[0], (std::vector<float>{3, 20}));
  EXPECT_EQ(sums[1], sums[0]);
  EXPECT_EQ(traced, 2);

  collectives.abort("nobody comes");
  auto options = makeStruct<alula_call_options>();
  options.collectives = collectives.get();
  run(model, {makeF32({1, 2})}, &options);
  EXPECT_EQ(error.code(), ALULA_STATUS_ABORTED) << error.message();
}

TEST_P(Cpp, Processes) {
  auto options = makeStruct<alula_processes_options>();
  options.engine = "/no/such/engine.so";
  options.count = 1;
  EXPECT_FALSE(Processes::connect(options, error));
  EXPECT_NE(std::string(error.message()).find("/no/such/engine.so"),
            std::string::npos)
      << error.message();
  // One process by itself, where the engine was built.
  std::string directory = testing::TempDir() + "alula-processes-XXXXXX";
  ASSERT_TRUE(mkdtemp(directory.data()));
  options.engine = "gloo";
  options.directory = directory.c_str();
  Error missing;
  if (Processes alone = Processes::connect(options, missing)) {
    EXPECT_EQ(alone.number(), 0u);
    EXPECT_EQ(alone.count(), 1u);
  } else {
    EXPECT_EQ(missing.code(), ALULA_STATUS_NOT_FOUND) << missing.message();
  }
}

TEST_P(Cpp, Imports) {
  instance.addImports(nullptr, nullptr, 0, error);
  EXPECT_TRUE(error);
}

} // namespace
} // namespace alula::runtime
