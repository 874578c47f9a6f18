// The pool: all work is done once, whoever comes; callers don't wait for one
// another.

#include "runtime/threads/pool.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

using namespace alula::runtime;

namespace {

/// Pieces that workers take one by one.
struct Work {
  explicit Work(size_t size) : done(size) {}
  std::atomic<size_t> next{0};
  std::vector<std::atomic<int>> done;
  std::atomic<uint32_t> workers{0}, others{0}, badNumbers{0};

  static void count(void *context, uint32_t workers) {
    static_cast<Work *>(context)->workers = workers;
  }
  static void run(void *context, uint32_t worker) {
    auto &work = *static_cast<Work *>(context);
    work.badNumbers += worker >= work.workers;
    work.others += worker != 0;
    for (size_t i; (i = work.next.fetch_add(1)) < work.done.size();)
      ++work.done[i];
  }
  bool isDoneOnce() const {
    for (const std::atomic<int> &piece : done)
      if (piece != 1)
        return false;
    return badNumbers == 0;
  }
};

TEST(Pool, DoesEveryPieceOnce) {
  for (uint32_t threads : {1u, 2u, 3u, 8u}) {
    Pool pool(threads);
    for (int round = 0; round < 2000; ++round) {
      Work work(1 + size_t(round) % 17);
      pool.run(1 + uint32_t(round) % 9, Work::run, &work, Work::count);
      ASSERT_TRUE(work.isDoneOnce()) << threads << " " << round;
      ASSERT_LE(work.workers, threads);
    }
  }
}

TEST(Pool, WakesThreadsThatSleep) {
  Pool pool(4);
  uint32_t others = 0;
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Work work(1);
    // Long enough for sleepers to come.
    auto slow = [](void *context, uint32_t worker) {
      if (worker == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      Work::run(context, worker);
    };
    pool.run(4, slow, &work, Work::count);
    EXPECT_TRUE(work.isDoneOnce());
    others += work.others;
  }
  EXPECT_GT(others, 0u);
}

#ifdef __linux__
/// The caller, then the worker, on the same processor: where the worker comes.
TEST(Pool, WorkersAreKeptOffTheCallersProcessor) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2)
    GTEST_SKIP() << "one processor";
  struct Visit {
    pthread_t worker;
    std::atomic<int> cpu{-1};
  };
  Pool pool(2);
  // The thread is started before this one is on a processor alone.
  Work work(1);
  pool.run(2, Work::run, &work, Work::count);
  int moves = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && moves < 8; ++cpu) {
    if (!CPU_ISSET(cpu, &all))
      continue;
    ++moves;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    for (int round = 0; round < 5; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      Visit visit;
      auto come = [](void *context, uint32_t number) {
        auto &visit = *static_cast<Visit *>(context);
        if (number != 0) {
          visit.worker = pthread_self();
          visit.cpu = sched_getcpu();
          return;
        }
        // It never comes if it waits for this processor.
        auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (visit.cpu < 0 && std::chrono::steady_clock::now() < end) {
        }
      };
      pool.run(2, come, &visit, [](void *, uint32_t) {});
      ASSERT_NE(visit.cpu, -1);
      EXPECT_NE(visit.cpu, cpu);
      cpu_set_t allowed;
      ASSERT_EQ(pthread_getaffinity_np(visit.worker, sizeof allowed, &allowed),
                0);
      EXPECT_EQ(CPU_COUNT(&allowed), CPU_COUNT(&all) - 1);
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}
#endif

TEST(Pool, CallersDoNotWaitForOneAnother) {
  Pool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> bad{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        Work work(5);
        pool.run(2, Work::run, &work, Work::count);
        bad += !work.isDoneOnce();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(bad, 0);
}

TEST(Pool, GivesTheEmbeddersThreadsAllNumbers) {
  uint32_t asked = 0;
  alula_thread_pool hooks = {
      &asked, 3,
      [](void *user, uint32_t count, alula_task task, void *context) {
        *static_cast<uint32_t *>(user) = count;
        for (uint32_t i = count; i--;)
          task(context, i);
      }};
  Pool pool(hooks);
  Work work(7);
  pool.run(64, Work::run, &work, Work::count);
  EXPECT_EQ(asked, 3u);
  EXPECT_EQ(work.others, 2u);
  EXPECT_TRUE(work.isDoneOnce());
}

} // namespace
