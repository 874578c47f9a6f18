// Many threads compile, execute, donate and copy on one client. Under the tsan
// preset, ALULA_THREAD_ROUNDS=1000 is the whole of it.

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

TEST(Threads, ShareAClient) {
  Client client(2);
  void *executable = client.compile(makeProgram(size, 2));
  void *ones = client.upload(std::vector<float>(size, 1));
  int rounds = getRounds();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < threadCount; ++i)
    threads.emplace_back(
        [&, i] { work(client, executable, ones, i, rounds); });
  for (auto &thread : threads)
    thread.join();
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
