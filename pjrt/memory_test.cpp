// What devices keep of released arrays: it comes again, it is counted, and
// there is not more of it than said.

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>

using namespace alula::pjrt_test;

namespace {
constexpr int64_t mebi = 1 << 20;

PJRT_Device_MemoryStats_Args getStatistics(const Client &client) {
  auto statistics = make<PJRT_Device_MemoryStats_Args>();
  statistics.device = client.devices[0];
  EXPECT_EQ(call(getApi().PJRT_Device_MemoryStats, statistics), "");
  return statistics;
}

bool keeps(const Client &client) {
  return getStatistics(client).pool_bytes_is_set;
}
} // namespace

TEST(Memory, ReleasedArraysAreCounted) {
  Client client;
  if (!keeps(client))
    GTEST_SKIP() << "this device, or this build, keeps nothing";
  EXPECT_EQ(getStatistics(client).pool_bytes, 0);
  void *executable = client.compile(makeProgram(mebi, 2));
  void *a = client.upload(std::vector<float>(mebi, 1));
  int64_t before = getStatistics(client).bytes_in_use;
  // The second and all others take what the one before had.
  for (int i = 0; i < 5; ++i) {
    void *result = execute(executable, {a, a})[0];
    EXPECT_EQ(download(result)[mebi - 1], 3);
    EXPECT_EQ(getStatistics(client).bytes_in_use, before + 4 * mebi);
    EXPECT_EQ(getStatistics(client).pool_bytes, 0);
    destroyBuffer(result);
    auto statistics = getStatistics(client);
    EXPECT_EQ(statistics.bytes_in_use, before);
    EXPECT_EQ(statistics.pool_bytes, 4 * mebi);
    EXPECT_TRUE(statistics.peak_pool_bytes_is_set);
    EXPECT_EQ(statistics.peak_pool_bytes, 4 * mebi);
    EXPECT_TRUE(statistics.largest_free_block_bytes_is_set);
    EXPECT_EQ(statistics.largest_free_block_bytes, 4 * mebi);
  }
  destroyBuffer(a);
  destroyExecutable(executable);
}

TEST(Memory, ClientsSayHowMuchIsKept) {
  setenv("ALULA_KEPT_BYTES", "0", 1);
  {
    Client client;
    EXPECT_FALSE(keeps(client));
  }
  for (const char *wrong : {"64M", "-1"}) {
    setenv("ALULA_KEPT_BYTES", wrong, 1);
    auto args = make<PJRT_Client_Create_Args>();
    EXPECT_EQ(call(getApi().PJRT_Client_Create, args),
              "3: alula: ALULA_KEPT_BYTES is '" + std::string(wrong) +
                  "', not a number of bytes");
  }
  unsetenv("ALULA_KEPT_BYTES");
}

/// A caller that never waits: the device's queue holds the arguments of few
/// calls.
TEST(Memory, CallersAreNotFarAhead) {
  constexpr int64_t size = 1 << 16, bytes = size * 4, calls = 150,
                    underWay = 32;
  const std::string type = "tensor<" + std::to_string(size) + "xf32>";
  Client client;
  void *executable = client.compile(
      "func.func public @main(%a: " + type + ") -> " + type +
      " {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %i, %r = stablehlo.while(%j = %zero, %x = %a) : tensor<i32>, " +
      type +
      "\n"
      "  cond {\n"
      "    %end = stablehlo.constant dense<200> : tensor<i32>\n"
      "    %p = stablehlo.compare LT, %j, %end : (tensor<i32>, tensor<i32>) "
      "-> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "    %k = stablehlo.add %j, %one : tensor<i32>\n"
      "    %y = stablehlo.sine %x : " +
      type +
      "\n"
      "    stablehlo.return %k, %y : tensor<i32>, " +
      type +
      "\n"
      "  }\n"
      "  return %r : " +
      type + "\n}\n");
  int64_t before = getStatistics(client).bytes_in_use, most = 0;
  std::vector<void *> results;
  void *done = nullptr;
  for (int64_t call = 0; call < calls; ++call) {
    if (call) {
      destroyBuffer(results[0]);
      destroyEvent(done);
    }
    void *argument = client.upload(std::vector<float>(size, 1));
    ASSERT_EQ(tryStart(executable, {argument}, results, done), "");
    destroyBuffer(argument);
    most = std::max(most, getStatistics(client).bytes_in_use - before);
  }
  // Besides what waits: one call, which has two more arrays, and the one that
  // is made.
  EXPECT_LE(most, (underWay + 4) * bytes);
  EXPECT_NEAR(download(results[0])[size - 1], 0.121, 1e-3);
  EXPECT_EQ(await(done), "");
  destroyBuffer(results[0]);
  destroyExecutable(executable);
}

/// ALULA_EXECUTIONS=10000 is the whole of it.
TEST(Memory, WhatIsResidentIsWhatLives) {
  const char *text = getenv("ALULA_EXECUTIONS");
  int executions = text ? atoi(text) : 300;
  Client client;
  const size_t sizes[] = {20'000, 100'000, 300'000, 1'000'000, 3'000'000};
  std::vector<void *> executables, arguments;
  int64_t live = 0;
  for (size_t size : sizes) {
    executables.push_back(client.compile(makeProgram(size, 2)));
    arguments.push_back(client.upload(std::vector<float>(size, 1)));
    live += int64_t(size) * 4;
  }
  std::vector<void *> results[5];
  auto run = [&](int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<void *> &held = results[seed];
    held.resize(8);
    for (int i = 0; i < count; ++i) {
      size_t which = random() % std::size(sizes);
      void *&place = held[random() % held.size()];
      if (place)
        destroyBuffer(place);
      place =
          execute(executables[which], {arguments[which], arguments[which]})[0];
    }
  };
  run(1, 0);
  long before = getResident();
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed)
    threads.emplace_back(run, executions / 4, seed);
  for (std::thread &thread : threads)
    thread.join();
  for (std::vector<void *> &held : results)
    for (void *result : held)
      if (result) {
        std::vector<float> values = download(result);
        EXPECT_EQ(values.front(), 3);
        EXPECT_EQ(values.back(), 3);
        destroyBuffer(result);
      }
  long grown = getResident() - before;
  printf("%d executions: %.1f MB more than the arrays\n", executions,
         double(grown) / 1e6);
  EXPECT_LE(grown, 64'000'000 + live / 10);
  for (void *array : arguments)
    destroyBuffer(array);
  for (void *executable : executables)
    destroyExecutable(executable);
}
