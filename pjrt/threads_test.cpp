// Many threads compile, execute, donate and copy on one client, on one device
// and on several that exchange arrays. Under the tsan preset,
// ALULA_THREAD_ROUNDS=1000 is the whole of it.

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

using namespace alula::pjrt_test;

namespace {
constexpr size_t threadCount = 8, size = 32;

int getRounds() {
  const char *text = getenv("ALULA_THREAD_ROUNDS");
  return text ? atoi(text) : 20;
}

/// A copy on the other device and back.
void *copyThere(void *buffer, void *device) {
  auto args = make<PJRT_Buffer_CopyToDevice_Args>();
  args.buffer = buffer;
  args.dst_device = device;
  EXPECT_EQ(call(getApi().PJRT_Buffer_CopyToDevice, args), "");
  return args.dst_buffer;
}

void work(Client &client, void *sharedExecutable, void *sharedBuffer,
          size_t thread, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    // Few programs, so that threads meet in the cache of compiled ones.
    double scale = 1 + (round + int(thread)) % 3;
    void *executable =
        client.compile(makeProgram(size, scale, /*donates=*/true));
    void *a = client.upload(std::vector<float>(size, float(round)));
    auto first = execute(executable, {a, sharedBuffer});
    EXPECT_TRUE(isDeleted(a));
    void *there = copyThere(first[0], client.devices[1]);
    void *back = copyThere(there, client.devices[0]);
    auto second = execute(sharedExecutable, {back, first[0]});
    float expected = 3 * (float(scale) * float(round) + 1);
    EXPECT_EQ(download(second[0]), std::vector<float>(size, expected));
    for (void *buffer : {a, first[0], there, back, second[0]})
      destroyBuffer(buffer);
    destroyExecutable(executable);
  }
}
} // namespace

namespace {
template <typename Work> void inThreads(Work work) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < threadCount; ++i)
    threads.emplace_back([&work, i] { work(i); });
  for (auto &thread : threads)
    thread.join();
}
} // namespace

TEST(Threads, ShareAClient) {
  Client client(2);
  void *executable = client.compile(makeProgram(size, 2));
  void *ones = client.upload(std::vector<float>(size, 1));
  int rounds = getRounds();
  inThreads(
      [&](size_t thread) { work(client, executable, ones, thread, rounds); });
  destroyBuffer(ones);
  destroyExecutable(executable);
  auto stats = make<PJRT_Device_MemoryStats_Args>();
  stats.device = client.devices[0];
  ASSERT_EQ(call(getApi().PJRT_Device_MemoryStats, stats), "");
  EXPECT_EQ(stats.bytes_in_use, 0);
}

namespace {
/// Two threads want to give the same buffer away: one of them may.
void donate(void *executable, void *buffer, void *other, int *successes) {
  std::vector<void *> results;
  std::string error = tryExecute(executable, {buffer, other}, results);
  *successes = error.empty();
  if (!error.empty())
    EXPECT_NE(error.find("deleted or donated"), std::string::npos) << error;
  for (void *result : results)
    destroyBuffer(result);
}
} // namespace

TEST(Threads, OneOfTwoDonationsWins) {
  Client client;
  void *executable = client.compile(makeProgram(size, 2, /*donates=*/true));
  void *other = client.upload(std::vector<float>(size, 1));
  for (int round = 0; round < getRounds(); ++round) {
    void *buffer = client.upload(std::vector<float>(size, 1));
    int successes[2] = {};
    std::thread one(donate, executable, buffer, other, &successes[0]);
    std::thread two(donate, executable, buffer, other, &successes[1]);
    one.join();
    two.join();
    EXPECT_EQ(successes[0] + successes[1], 1);
    destroyBuffer(buffer);
  }
  destroyBuffer(other);
  destroyExecutable(executable);
}

namespace {
constexpr size_t deviceCount = 4;

/// Each device gives its array away and gets the sum over all, the array of
/// the one before it and one element of each, all scaled.
std::string makeExchanges(int scale) {
  std::string program = R"(
module @exchange {
  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32})
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %scale = stablehlo.constant dense<SCALE.0> : tensor<4xf32>
    %x = stablehlo.multiply %a, %scale : tensor<4xf32>
    %sum = "stablehlo.all_reduce"(%x) <{
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
      use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %before = "stablehlo.collective_permute"(%x) <{
      channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]>
          : tensor<4x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %each = "stablehlo.all_to_all"(%x) <{
      channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>,
      concat_dimension = 0 : i64, split_dimension = 0 : i64,
      split_count = 4 : i64,
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}>
        : (tensor<4xf32>) -> tensor<4xf32>
    return %sum, %before, %each
        : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
})";
  program.replace(program.find("SCALE"), 5, std::to_string(scale));
  return program;
}

void exchange(Client &client, size_t thread, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int scale = 1 + (round + int(thread)) % 3;
    // CompileOptionsProto: num_partitions = 4.
    void *executable = client.compile(makeExchanges(scale), "\x1a\x02\x28\x04");
    // Device d has 10 d + first, + 1, + 2, + 3.
    float first = float(thread) + float(round % 64);
    std::vector<void *> inputs(deviceCount);
    std::vector<std::vector<void *>> results(deviceCount,
                                             std::vector<void *>(3));
    std::vector<void *> lists, outs;
    for (size_t d = 0; d < deviceCount; ++d) {
      float at = 10 * float(d) + first;
      inputs[d] = client.upload({at, at + 1, at + 2, at + 3}, d);
      lists.push_back(&inputs[d]);
      outs.push_back(results[d].data());
    }
    auto run = make<PJRT_LoadedExecutable_Execute_Args>();
    run.executable = executable;
    run.argument_lists = lists.data();
    run.num_devices = deviceCount;
    run.num_args = 1;
    run.output_lists = outs.data();
    ASSERT_EQ(call(getApi().PJRT_LoadedExecutable_Execute, run), "");
    // The neighbour's device has what it gave to this one.
    void *there = copyThere(results[1][1], client.devices[0]);
    auto k = float(scale);
    EXPECT_EQ(download(there),
              (std::vector<float>{k * first, k * (first + 1), k * (first + 2),
                                  k * (first + 3)}));
    for (size_t d = 0; d < deviceCount; ++d) {
      float mine = first + float(d);
      float total = k * (60 + 4 * first);
      EXPECT_EQ(download(results[d][0]),
                (std::vector<float>{total, total + 4 * k, total + 8 * k,
                                    total + 12 * k}));
      EXPECT_EQ(download(results[d][2]),
                (std::vector<float>{k * mine, k * (mine + 10), k * (mine + 20),
                                    k * (mine + 30)}));
      EXPECT_TRUE(isDeleted(inputs[d]));
      destroyBuffer(inputs[d]);
      for (void *result : results[d])
        destroyBuffer(result);
    }
    destroyBuffer(there);
    destroyExecutable(executable);
  }
}
} // namespace

TEST(Threads, ManyRunsOverAllDevices) {
  Client client(deviceCount);
  int rounds = getRounds();
  inThreads([&](size_t thread) { exchange(client, thread, rounds); });
}
