// Programs that run on several devices at once: what they exchange, and what
// becomes of the others if one of them can't go on.

#include "runtime/conformance/suite.h"

#include <chrono>
#include <functional>
#include <thread>

extern "C" int runOverDevices(const void *artifact, size_t size, uint32_t count,
                              float *first, char *message, size_t messageBytes);

namespace alula::runtime {
namespace {

using Groups = std::vector<std::vector<uint32_t>>;

class Collectives : public Conformance {
protected:
  void make(uint32_t count, uint32_t timeout = 0) {
    alula_collectives_destroy(collectives);
    collectives = nullptr;
    alula_collectives_options options = {};
    options.struct_bytes = sizeof options;
    options.participant_count = count;
    options.timeout_ms = timeout;
    ASSERT_EQ(alula_collectives_create(&options, &collectives), nullptr);
  }
  void TearDown() override { alula_collectives_destroy(collectives); }

  /// Calls `functions[p]` as participant p, all at once; the messages, and
  /// what they gave in `results`.
  std::vector<std::string>
  runAll(const Executable &model,
         const std::vector<std::vector<Buffer>> &arguments,
         std::vector<uint32_t> functions = {}) {
    size_t count = arguments.size();
    std::vector<std::string> messages(count);
    codes.assign(count, ALULA_STATUS_OK);
    results.assign(count, {});
    functions.resize(count, functions.empty() ? 0 : functions.back());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        alula_call_options options = {};
        options.struct_bytes = sizeof options;
        options.collectives = collectives;
        options.participant = uint32_t(i);
        options.cancel = cancelled == i ? &cancel : nullptr;
        Error mine;
        results[i] = model.call(functions[i], arguments[i], mine, &options);
        messages[i] = mine ? mine.message() : "";
        codes[i] = mine ? mine.code() : ALULA_STATUS_OK;
      });
    for (auto &thread : threads)
      thread.join();
    return messages;
  }

  /// One collective: participant p gives `given[p]`, and `gotten` in all.
  template <class T>
  std::vector<std::vector<T>>
  exchange(alula_collective_kind kind, alula_dtype dtype, const Groups &groups,
           uint64_t count, const std::vector<std::vector<T>> &given,
           size_t gotten, alula_reduction reduction = ALULA_REDUCTION_NONE) {
    ArtifactWriter file;
    FunctionWriter &f = file.addFunction("main");
    f.addArgument("x", file.addType(dtype, {int64_t(given[0].size())}));
    f.addResult("y", file.addType(dtype, {int64_t(gotten)}));
    uint32_t number = file.addCollective(
        {.kind = kind,
         .reduction = reduction,
         .dtype = dtype,
         .groups = file.addGroups(uint32_t(given.size()), groups),
         .count = count});
    f.collectiveDone(f.collectiveStart(number, f.argument(0), f.result(0)));
    Executable model = load(file);
    make(uint32_t(given.size()));
    std::vector<std::vector<Buffer>> arguments;
    for (const std::vector<T> &values : given)
      arguments.push_back(
          {Conformance::make(dtype, {int64_t(values.size())}, values)});
    std::vector<std::vector<T>> all;
    std::vector<std::string> messages = runAll(model, arguments);
    for (size_t i = 0; i < given.size(); ++i) {
      EXPECT_EQ(messages[i], "");
      all.push_back(results[i].empty() ? std::vector<T>()
                                       : get<T>(results[i][0]));
    }
    return all;
  }

  using Conformance::make;
  alula_collectives *collectives = nullptr;
  std::vector<alula_status_code> codes;
  std::vector<std::vector<Buffer>> results;
  size_t cancelled = SIZE_MAX;
  int cancel = 0;
};
INSTANTIATE_TEST_SUITE_P(Device, Collectives, getDevices(),
                         [](const auto &info) { return info.param; });

TEST_P(Collectives, AllReduce) {
  // In the order of the group: (1e8 + -1e8) + 1 is not 1e8 + (-1e8 + 1).
  std::vector<std::vector<float>> given = {
      {1, 5}, {1e8f, 6}, {-1e8f, 7}, {9, 8}};
  EXPECT_EQ(
      exchange<float>(ALULA_COLLECTIVE_ALL_REDUCE, ALULA_DTYPE_F32, {{1, 2, 0}},
                      2, given, 2, ALULA_REDUCTION_SUM),
      (std::vector<std::vector<float>>{{1, 18}, {1, 18}, {1, 18}, {0, 0}}));
  EXPECT_EQ(exchange<float>(ALULA_COLLECTIVE_ALL_REDUCE, ALULA_DTYPE_F32,
                            {{2, 0, 1}}, 2, given, 2, ALULA_REDUCTION_SUM)[0],
            (std::vector<float>{0, 18}));
  // Groups of several sizes; more than one piece of work.
  std::vector<std::vector<int64_t>> large;
  for (int64_t p = 0; p < 4; ++p) {
    large.emplace_back(50001);
    for (int64_t i = 0; i < 50001; ++i)
      large.back()[size_t(i)] = i * (p + 1);
  }
  auto sums = exchange<int64_t>(ALULA_COLLECTIVE_ALL_REDUCE, ALULA_DTYPE_I64,
                                {{0, 1, 3}, {2}}, 50001, large, 50001,
                                ALULA_REDUCTION_SUM);
  for (int64_t i = 0; i < 50001; ++i)
    for (size_t p = 0; p < 4; ++p)
      ASSERT_EQ(sums[p][size_t(i)], i * (p == 2 ? 3 : 7));
  exchange<float>(ALULA_COLLECTIVE_ALL_REDUCE, ALULA_DTYPE_F32, {{0, 1}}, 0,
                  {{}, {}}, 0, ALULA_REDUCTION_SUM);
}

TEST_P(Collectives, EveryKind) {
  using Values = std::vector<std::vector<int32_t>>;
  Values given = {
      {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
  Groups groups = {{2, 0}, {1, 3}};
  auto run = [&](alula_collective_kind kind, uint64_t count, size_t gotten,
                 const Groups &who,
                 alula_reduction reduction = ALULA_REDUCTION_NONE) {
    return exchange<int32_t>(kind, ALULA_DTYPE_I32, who, count, given, gotten,
                             reduction);
  };
  EXPECT_EQ(run(ALULA_COLLECTIVE_ALL_GATHER, 4, 8, groups),
            (Values{{9, 10, 11, 12, 1, 2, 3, 4},
                    {5, 6, 7, 8, 13, 14, 15, 16},
                    {9, 10, 11, 12, 1, 2, 3, 4},
                    {5, 6, 7, 8, 13, 14, 15, 16}}));
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_REDUCE_SCATTER, 2, 2, groups, ALULA_REDUCTION_MAX),
      (Values{{11, 12}, {13, 14}, {9, 10}, {15, 16}}));
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_ALL_TO_ALL, 2, 4, groups),
      (Values{{11, 12, 3, 4}, {5, 6, 13, 14}, {9, 10, 1, 2}, {7, 8, 15, 16}}));
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_PERMUTE, 4, 4, {{0, 1}, {1, 0}, {2, 2}}),
      (Values{{5, 6, 7, 8}, {1, 2, 3, 4}, {9, 10, 11, 12}, {0, 0, 0, 0}}));
  EXPECT_EQ(run(ALULA_COLLECTIVE_PERMUTE, 4, 4, {{0, 3}}),
            (Values{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 3, 4}}));
  EXPECT_EQ(run(ALULA_COLLECTIVE_PERMUTE, 4, 4, {}), Values(4, {0, 0, 0, 0}));
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_BROADCAST, 4, 4, {{3, 1, 0}}),
      (Values{
          {13, 14, 15, 16}, {13, 14, 15, 16}, {0, 0, 0, 0}, {13, 14, 15, 16}}));
}

/// n calls of a program: `turns` sums in a loop, two of them on their way at
/// once, then each participant's number.
void buildLoop(ArtifactWriter &file, uint32_t participants) {
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  Groups all(1);
  for (uint32_t i = 0; i < participants; ++i)
    all[0].push_back(i);
  CollectiveSpec spec = {.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                         .reduction = ALULA_REDUCTION_SUM,
                         .dtype = ALULA_DTYPE_I64,
                         .groups = file.addGroups(participants, all),
                         .count = 1};
  uint32_t sum = file.addCollective(spec);
  spec.reduction = ALULA_REDUCTION_MAX;
  uint32_t most = file.addCollective(spec);
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addArgument("turns", type);
  f.addResult("sum", type);
  f.addResult("most", type);
  f.addResult("number", type);
  f.setArenaBytes(64);
  uint32_t x = f.argument(0), s = f.result(0), m = f.result(1), n = f.result(2),
           a = f.arena(0, 8);
  Operand zero = f.immediate(0), one = f.immediate(1);
  Operand turns = f.load(ALULA_DTYPE_I64, f.argument(1), zero);
  Operand i = f.newRegister(), going = f.newRegister();
  f.store(ALULA_DTYPE_I64, n, zero, f.participant());
  uint32_t test = f.newBlock(), body = f.newBlock();
  f.loop(test, going, body);
  f.setBlock(test);
  f.compute(going, ALULA_OPERATOR_LT, i, turns);
  f.setBlock(body);
  f.store(ALULA_DTYPE_I64, a, zero,
          f.compute(ALULA_OPERATOR_ADD, f.load(ALULA_DTYPE_I64, x, zero), i));
  Operand first = f.collectiveStart(sum, a, s);
  Operand second = f.collectiveStart(most, a, m);
  // In another order than they began.
  f.collectiveDone(second);
  f.collectiveDone(first);
  f.compute(i, ALULA_OPERATOR_ADD, i, one);
}

TEST_P(Collectives, ManyInALoop) {
  constexpr uint32_t count = 8;
  constexpr int64_t turns = 500;
  ArtifactWriter file;
  buildLoop(file, count);
  Executable model = load(file);
  EXPECT_EQ(alula_executable_get_participant_count(model.get()), count);
  make(count);
  std::vector<std::vector<Buffer>> arguments;
  for (int64_t i = 0; i < count; ++i)
    arguments.push_back({makeI64({i}), makeI64({turns})});
  // The n-th calls of all belong together, whoever comes first.
  for (int repeat = 0; repeat < 4; ++repeat) {
    std::vector<std::string> messages = runAll(model, arguments);
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(messages[i], "");
      EXPECT_EQ(get<int64_t>(results[i][0])[0], 28 + count * (turns - 1));
      EXPECT_EQ(get<int64_t>(results[i][1])[0], 7 + turns - 1);
      EXPECT_EQ(get<int64_t>(results[i][2])[0], i);
    }
  }
}

TEST_P(Collectives, WhoFailsEndsTheOthersWaiting) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  uint32_t sum = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                                     .reduction = ALULA_REDUCTION_SUM,
                                     .dtype = ALULA_DTYPE_I64,
                                     .groups = file.addGroups(3, {{0, 1, 2}}),
                                     .count = 1});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  uint32_t x = f.argument(0);
  Operand value = f.load(ALULA_DTYPE_I64, x, f.immediate(0));
  f.assertThat(f.compute(ALULA_OPERATOR_LT, value, f.immediate(10)),
               "{0} is too much", {value});
  f.collectiveDone(f.collectiveStart(sum, x, f.result(0)));
  Executable model = load(file);
  make(3);
  std::vector<std::vector<Buffer>> arguments = {
      {makeI64({1})}, {makeI64({11})}, {makeI64({3})}};
  std::vector<std::string> messages = runAll(model, arguments);
  EXPECT_EQ(messages[1], "11 is too much");
  EXPECT_EQ(codes[1], ALULA_STATUS_INVALID_ARGUMENT);
  for (size_t i : {0u, 2u}) {
    // It may come after the other has failed.
    EXPECT_TRUE(messages[i] == "participant 1 failed: 11 is too much" ||
                messages[i] == "function 'main': all_reduce #0: participant 1 "
                               "failed: 11 is too much")
        << messages[i];
    EXPECT_EQ(codes[i], ALULA_STATUS_ABORTED);
  }
  // From then on nothing goes any more.
  arguments[1] = {makeI64({2})};
  for (const std::string &message : runAll(model, arguments))
    EXPECT_EQ(message, "participant 1 failed: 11 is too much");
  // Wrong arguments are a failure as well.
  make(3);
  arguments[2] = {makeI64({1, 2})};
  messages = runAll(model, arguments);
  EXPECT_EQ(messages[2], "argument 0 'x': expected 1xi64, got 2xi64");
  EXPECT_NE(messages[0].find("participant 2 failed: argument 0 'x'"),
            std::string::npos)
      << messages[0];
  // So is a participant that is cancelled while it waits for one that waits.
  make(3);
  arguments.resize(2);
  cancelled = 0;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
  });
  messages = runAll(model, arguments);
  later.join();
  // Before it waits, if it is slow.
  EXPECT_NE(messages[0].find("the call was cancelled"), std::string::npos)
      << messages[0];
  EXPECT_EQ(codes[0], ALULA_STATUS_CANCELLED);
  EXPECT_EQ(messages[1], "function 'main': all_reduce #0: participant 0 "
                         "failed: " +
                             messages[0]);
  // And one that is never called: the embedder says so, or time is up.
  cancelled = SIZE_MAX;
  make(3);
  std::thread gone([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    alula_collectives_abort(collectives, "device 2 is gone");
  });
  messages = runAll(model, arguments);
  gone.join();
  EXPECT_EQ(messages[0], "function 'main': all_reduce #0: device 2 is gone");
  make(3, /*timeout=*/50);
  arguments.resize(1);
  messages = runAll(model, arguments);
  EXPECT_EQ(messages[0], "function 'main': all_reduce #0: participant 1 has "
                         "not come within 50 ms");
  EXPECT_EQ(codes[0], ALULA_STATUS_DEADLINE_EXCEEDED);
}

TEST_P(Collectives, Disagreement) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  uint32_t groups = file.addGroups(2, {{0, 1}});
  uint32_t other = file.addGroups(2, {{1, 0}});
  CollectiveSpec spec = {.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                         .reduction = ALULA_REDUCTION_SUM,
                         .dtype = ALULA_DTYPE_I64,
                         .groups = groups,
                         .count = 1};
  uint32_t sum = file.addCollective(spec);
  spec.reduction = ALULA_REDUCTION_MAX;
  uint32_t most = file.addCollective(spec);
  spec.groups = other;
  uint32_t turned = file.addCollective(spec);
  // Participants choose by their argument what to take part in.
  for (const char *name : {"main", "other"}) {
    FunctionWriter &f = file.addFunction(name);
    f.addArgument("x", type);
    f.addResult("y", type);
    uint32_t x = f.argument(0), y = f.result(0);
    std::vector<uint32_t> cases;
    for (int i = 0; i < 4; ++i)
      cases.push_back(f.newBlock());
    f.branch(f.load(ALULA_DTYPE_I64, x, f.immediate(0)), cases);
    for (uint32_t i = 0; i < 3; ++i) {
      f.setBlock(cases[i]);
      f.collectiveDone(
          f.collectiveStart(std::vector<uint32_t>{sum, most, turned}[i], x, y));
    }
  }
  Executable model = load(file);
  auto run = [&](int64_t a, int64_t b, std::vector<uint32_t> functions = {}) {
    make(2);
    return runAll(model, {{makeI64({a})}, {makeI64({b})}}, functions);
  };
  auto expect = [&](const std::vector<std::string> &messages,
                    std::vector<const char *> parts) {
    for (size_t i = 0; i < messages.size(); ++i) {
      bool found = false;
      for (const char *part : parts)
        found |= messages[i].find(part) != std::string::npos;
      EXPECT_TRUE(found) << messages[i];
      EXPECT_EQ(codes[i], ALULA_STATUS_ABORTED);
    }
  };
  EXPECT_EQ(run(0, 0), (std::vector<std::string>{"", ""}));
  expect(run(0, 1), {"participant 1 starts all_reduce #1 where others start "
                     "all_reduce #0",
                     "participant 0 starts all_reduce #0 where others start "
                     "all_reduce #1"});
  expect(run(0, 2), {"all participants wait for each other, participant "});
  expect(run(0, 0, {0, 1}),
         {"runs another program than those that came before it in call 0"});
  // One that ends without coming.
  std::vector<std::string> messages = run(0, 3);
  EXPECT_EQ(messages[1], "");
  EXPECT_EQ(messages[0],
            "function 'main': all_reduce #0: participant 1 ended "
            "without all_reduce #0, which participant 0 waits for");
}

TEST_P(Collectives, WhatTheCallMustSay) {
  ArtifactWriter file;
  buildLoop(file, 2);
  Executable model = load(file);
  std::vector<Buffer> arguments = {makeI64({1}), makeI64({1})};
  EXPECT_TRUE(run(model, arguments).empty());
  EXPECT_STREQ(error.message(),
               "function 'main': all_reduce #0: the program is for 2 devices "
               "at once, the call has no collectives to meet the others");
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  options.participant = 2;
  run(model, arguments, &options);
  EXPECT_STREQ(error.message(), "there is no participant 2: the program runs "
                                "on 2 devices at once");
  make(3);
  options.collectives = collectives;
  run(model, arguments, &options);
  EXPECT_STREQ(error.message(),
               "the program is for 2 devices at once, it runs on 3");
  alula_collectives *none = nullptr;
  alula_collectives_options settings = {};
  settings.struct_bytes = sizeof settings;
  error.take(alula_collectives_create(&settings, &none));
  EXPECT_STREQ(error.message(), "collectives of 0 participants");
  settings.participant_count = 2;
  settings.engine = "pigeons";
  error.take(alula_collectives_create(&settings, &none));
  EXPECT_STREQ(error.message(), "there is no engine 'pigeons' here: threads "
                                "have local, processes theirs");
  error.take(alula_collectives_create(nullptr, &none));
  EXPECT_STREQ(error.message(),
               "alula_collectives_create: an argument is null");
  EXPECT_EQ(alula_executable_get_participant_count(nullptr), 0u);
}

/// Commands that verify, but ask for what can't be.
TEST_P(Collectives, RunTimeErrors) {
  auto fails = [&](auto build) {
    ArtifactWriter file;
    uint32_t type = file.addType(ALULA_DTYPE_I64, {4});
    uint32_t gather = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_GATHER,
                                          .dtype = ALULA_DTYPE_I64,
                                          .groups = file.addGroups(1, {{0}}),
                                          .count = 4});
    FunctionWriter &f = file.addFunction("main");
    f.addArgument("x", type);
    f.addResult("y", type);
    f.setArenaBytes(64);
    build(f, gather, f.argument(0), f.result(0));
    Executable model = load(file);
    make(1);
    return runAll(model, {{makeI64({1, 2, 3, 4})}})[0];
  };
  using F = FunctionWriter &;
  using U = uint32_t;
  EXPECT_EQ(fails([](F f, U gather, U x, U y) {
              f.collectiveDone(f.collectiveStart(gather, x, y));
            }),
            "");
  EXPECT_EQ(fails([](F f, U gather, U x, U) {
              f.collectiveStart(gather, x, f.arena(40, 24));
            }),
            "function 'main': all_gather: 32 bytes at 0 are outside slot 2 of "
            "24 bytes");
  EXPECT_EQ(fails([](F f, U gather, U x, U) {
              f.collectiveStart(gather, x, f.local());
            }),
            "function 'main': all_gather: slot 2 has no storage yet");
  EXPECT_EQ(fails([](F f, U gather, U x, U) {
              f.collectiveStart(gather, x, f.arena(4, 32));
            }),
            "function 'main': all_gather #0: the memory is not aligned to its "
            "elements");
  EXPECT_EQ(fails([](F f, U gather, U, U) {
              f.collectiveStart(gather, f.arena(0, 32), f.arena(8, 32));
            }),
            "function 'main': all_gather #0: what is given and what is gotten "
            "share memory");
  EXPECT_EQ(fails([](F f, U, U, U) { f.collectiveDone(f.immediate(0)); }),
            "function 'main': collective_done: nothing is on its way as 0");
  EXPECT_EQ(fails([](F f, U gather, U x, U y) {
              Operand handle = f.collectiveStart(gather, x, y);
              f.collectiveDone(handle);
              f.collectiveDone(handle);
            }),
            "function 'main': collective_done: nothing is on its way as 0");
  // It may end without waiting, but then the others can't go on.
  EXPECT_EQ(
      fails([](F f, U gather, U x, U y) { f.collectiveStart(gather, x, y); }),
      "");
  error.take(alula_call(nullptr, 0, nullptr, nullptr, 0, nullptr, 0));
}

TEST_P(Collectives, StatesAreNotShared) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  uint32_t global = file.addGlobal("g", type, /*isMutable=*/true);
  uint32_t sum = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                                     .reduction = ALULA_REDUCTION_SUM,
                                     .dtype = ALULA_DTYPE_I64,
                                     .groups = file.addGroups(2, {{0, 1}}),
                                     .count = 1});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.collectiveDone(f.collectiveStart(sum, f.argument(0), f.global(global)));
  f.defineGlobal(global);
  Executable model = load(file);
  make(2);
  std::vector<std::string> messages =
      runAll(model, {{makeI64({1})}, {makeI64({2})}});
  std::string wanted = "another call uses the globals of this state: each "
                       "participant needs a state of its own";
  EXPECT_TRUE(messages[0] == wanted || messages[1] == wanted)
      << messages[0] << "; " << messages[1];
}

TEST_P(Collectives, FromC) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t sum =
      file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                          .reduction = ALULA_REDUCTION_SUM,
                          .dtype = ALULA_DTYPE_F32,
                          .groups = file.addGroups(4, {{0, 1}, {2, 3}}),
                          .count = 4});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  f.collectiveDone(f.collectiveStart(sum, f.argument(0), f.result(0)));
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  float first[4] = {};
  char message[256] = "";
  EXPECT_EQ(runOverDevices(bytes.data(), bytes.size(), 4, first, message,
                           sizeof message),
            1)
      << message;
  EXPECT_EQ(std::vector<float>(first, first + 4),
            (std::vector<float>{1, 1, 5, 5}));
  EXPECT_EQ(runOverDevices(bytes.data(), bytes.size(), 3, first, message,
                           sizeof message),
            0);
  EXPECT_STREQ(message, "the program is for 4 devices at once, it runs on 3");
}

} // namespace
} // namespace alula::runtime
