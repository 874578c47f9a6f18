// Collectives between processes, whose links are queues of this one: every kind
// gives the bytes that threads of one process get by the engine `local`.

#include "runtime/collectives/engine.h"
#include "runtime/collectives/processes/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace alula::collectives {
namespace {

struct Hub;

/// Delivers what others put into its queue, in order.
class QueueLink final : public Link {
public:
  QueueLink(Hub &hub, uint32_t number) : hub(hub), number(number) {}
  uint32_t getNumber() const override { return number; }
  uint32_t getCount() const override;
  void start(Receiver &receiver) override {
    thread = std::thread([&] {
      std::unique_lock lock(mutex);
      for (;;) {
        changed.wait(lock, [&] { return isClosed || !queue.empty(); });
        if (isClosed)
          return;
        auto [from, message] = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        receiver.deliver(from, std::move(message));
        lock.lock();
      }
    });
  }
  void send(uint32_t process, Message message) override;
  bool endsTogether() const override { return true; }
  void close(bool) override {
    {
      std::lock_guard lock(mutex);
      isClosed = true;
    }
    changed.notify_all();
    thread.join();
  }

private:
  Hub &hub;
  uint32_t number;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<uint32_t, Message>> queue;
  bool isClosed = false;
  std::thread thread;
};

struct Hub {
  std::vector<QueueLink *> links;
};

uint32_t QueueLink::getCount() const { return uint32_t(hub.links.size()); }

void QueueLink::send(uint32_t process, Message message) {
  QueueLink &to = *hub.links[process];
  std::lock_guard lock(to.mutex);
  if (!to.isClosed)
    to.queue.emplace_back(number, std::move(message));
  to.changed.notify_all();
}

/// Processes of this test, connected.
struct Worlds {
  explicit Worlds(uint32_t count) : hub{std::vector<QueueLink *>(count)} {
    alula_collective_connection connection = {};
    connection.make_error = alula_error_create;
    std::vector<std::unique_ptr<QueueLink>> made;
    for (uint32_t i = 0; i < count; ++i) {
      made.push_back(std::make_unique<QueueLink>(hub, i));
      hub.links[i] = made.back().get();
    }
    for (auto &link : made)
      all.push_back(std::make_unique<World>(connection, std::move(link)));
    std::vector<std::thread> threads;
    for (auto &world : all)
      threads.emplace_back(
          [&] { EXPECT_EQ(world->meet(std::chrono::seconds(600)), nullptr); });
    for (auto &thread : threads)
      thread.join();
  }
  ~Worlds() {
    // Each waits for the others to have got what it sent.
    std::vector<std::thread> threads;
    for (auto &world : all)
      threads.emplace_back([&] { world.reset(); });
    for (auto &thread : threads)
      thread.join();
  }
  Hub hub;
  std::vector<std::unique_ptr<World>> all;
};

struct Case {
  alula_collective what;
  std::vector<std::vector<uint32_t>> groups;
  bool arePairs;
  std::vector<std::vector<uint8_t>> operands;
  size_t resultBytes;
};

std::string describe(alula_error *error) {
  std::string text = alula_error_get_message(error);
  alula_error_destroy(error);
  return text;
}

/// What every participant gets; two of them are on their way at once.
std::vector<std::vector<uint8_t>>
exchange(const alula_collective_engine &engine,
         const std::vector<alula_collective_rendezvous *> &rendezvous,
         const Case &one) {
  size_t count = one.operands.size();
  std::vector<std::vector<uint8_t>> results(
      count, std::vector<uint8_t>(one.resultBytes, 0xEE));
  std::vector<std::vector<uint8_t>> again = results;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      EXPECT_EQ(describe(engine.begin(rendezvous[i], i, 5)), "");
      for (const auto &numbers : one.groups) {
        if (std::find(numbers.begin(), numbers.end(), i) == numbers.end())
          continue;
        alula_collective_members members = {
            numbers.data(), uint32_t(numbers.size()), one.arePairs};
        alula_collective_group *group;
        EXPECT_EQ(describe(engine.get_group(rendezvous[i], &members, &group)),
                  "");
        alula_collective_request first, second;
        alula_collective what = one.what;
        what.operand = one.operands[i].data();
        what.result = results[i].data();
        EXPECT_EQ(describe(engine.start(group, i, &what, &first)), "");
        what.result = again[i].data();
        EXPECT_EQ(describe(engine.start(group, i, &what, &second)), "");
        EXPECT_EQ(describe(engine.done(&second, nullptr)), "");
        EXPECT_EQ(describe(engine.done(&first, nullptr)), "");
      }
      engine.settle(rendezvous[i], i, nullptr);
      engine.end(rendezvous[i], i, nullptr);
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(results, again);
  return results;
}

Case makeCase(std::mt19937 &random, uint32_t participants,
              alula_collective_kind kind, alula_reduction reduction,
              alula_dtype dtype, uint64_t count) {
  Case one = {{kind, reduction, dtype, 3, count, nullptr, nullptr, kind},
              {},
              kind == ALULA_COLLECTIVE_PERMUTE,
              {},
              0};
  std::vector<uint32_t> order(participants);
  for (uint32_t i = 0; i < participants; ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  if (one.arePairs) {
    // Each sends at most once and gets at most once.
    std::vector<uint32_t> targets = order, pairs;
    std::shuffle(targets.begin(), targets.end(), random);
    for (uint32_t i = 0; i + 1 < participants; ++i) {
      pairs.push_back(order[i]);
      pairs.push_back(targets[i]);
    }
    one.groups = {pairs};
  } else {
    // Of equal sizes, as blocks are.
    uint32_t size =
        participants % 2 || random() % 2 ? participants : participants / 2;
    for (uint32_t i = 0; i < participants; i += size)
      one.groups.emplace_back(order.begin() + i, order.begin() + i + size);
  }
  uint64_t width = one.groups[0].size();
  uint64_t block = count * alula_dtype_get_bytes(dtype);
  bool givesMany = kind == ALULA_COLLECTIVE_REDUCE_SCATTER ||
                   kind == ALULA_COLLECTIVE_ALL_TO_ALL;
  bool getsMany = kind == ALULA_COLLECTIVE_ALL_GATHER ||
                  kind == ALULA_COLLECTIVE_ALL_TO_ALL;
  one.resultBytes = getsMany ? block * width : block;
  for (uint32_t i = 0; i < participants; ++i) {
    one.operands.emplace_back(givesMany ? block * width : block);
    for (uint8_t &byte : one.operands.back())
      byte = uint8_t(random());
  }
  return one;
}

void compare(std::mt19937 &random, alula_collective_kind kind,
             alula_reduction reduction, alula_dtype dtype, uint64_t count) {
  uint32_t participants = 2 + random() % 6, processes = 1 + random() % 4;
  Case one = makeCase(random, participants, kind, reduction, dtype, count);
  std::vector<uint32_t> processOf(participants);
  for (uint32_t &process : processOf)
    process = random() % processes;
  alula_collective_settings settings = {sizeof settings, participants,
                                        60'000'000'000, processOf.data(), ""};
  alula_collective_rendezvous *local;
  const auto &threads = runtime::localEngine;
  ASSERT_EQ(threads.create(nullptr, &settings, &local), nullptr);
  auto expected = exchange(threads, std::vector(participants, local), one);
  threads.destroy(local);

  Worlds worlds(processes);
  alula_collective_engine engine = makeEngine("queues");
  std::vector<alula_collective_rendezvous *> made(processes), rendezvous;
  for (uint32_t i = 0; i < processes; ++i)
    ASSERT_EQ(engine.create(reinterpret_cast<alula_collective_world *>(
                                worlds.all[i].get()),
                            &settings, &made[i]),
              nullptr);
  for (uint32_t process : processOf)
    rendezvous.push_back(made[process]);
  EXPECT_EQ(exchange(engine, rendezvous, one), expected)
      << alula_collective_get_name(kind) << " of " << count << " "
      << alula_dtype_get_name(dtype) << " in " << processes << " processes";
  for (auto *each : made)
    engine.destroy(each);
}

// Numbers below a byte travel as bytes, floats of 8 bits are not reduced by
// engines: see docs/adr/0028-collectives-are-commands.md.
constexpr alula_dtype dtypes[] = {
    ALULA_DTYPE_I1,   ALULA_DTYPE_I8,      ALULA_DTYPE_UI8, ALULA_DTYPE_I16,
    ALULA_DTYPE_UI16, ALULA_DTYPE_BF16,    ALULA_DTYPE_F16, ALULA_DTYPE_F32,
    ALULA_DTYPE_F64,  ALULA_DTYPE_I32,     ALULA_DTYPE_I64, ALULA_DTYPE_C64,
    ALULA_DTYPE_C128, ALULA_DTYPE_F8E4M3FN};
constexpr uint64_t counts[] = {0, 1, 5, 700, 20'001};

TEST(Processes, MoveWhatThreadsMove) {
  std::mt19937 random(11);
  for (auto kind : {ALULA_COLLECTIVE_ALL_GATHER, ALULA_COLLECTIVE_ALL_TO_ALL,
                    ALULA_COLLECTIVE_PERMUTE, ALULA_COLLECTIVE_BROADCAST})
    for (alula_dtype dtype : dtypes)
      compare(random, kind, ALULA_REDUCTION_NONE, dtype,
              counts[random() % std::size(counts)]);
}

TEST(Processes, ReduceAsThreadsDo) {
  std::mt19937 random(12);
  for (auto kind :
       {ALULA_COLLECTIVE_ALL_REDUCE, ALULA_COLLECTIVE_REDUCE_SCATTER})
    for (alula_dtype dtype : dtypes)
      for (uint32_t reduction = ALULA_REDUCTION_SUM;
           reduction <= ALULA_REDUCTION_LAST; ++reduction)
        if (alula_reduction_takes(reduction, dtype))
          compare(random, kind, alula_reduction(reduction), dtype,
                  counts[random() % std::size(counts)]);
}

/// Two processes with a participant each.
class Pair : public testing::Test {
protected:
  Pair() : worlds(2), engine(makeEngine("queues")) {
    uint32_t processOf[] = {0, 1};
    alula_collective_settings settings = {sizeof settings, 2, 200'000'000,
                                          processOf, ""};
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(engine.create(reinterpret_cast<alula_collective_world *>(
                                  worlds.all[size_t(i)].get()),
                              &settings, &rendezvous[i]),
                nullptr);
  }
  ~Pair() override {
    for (auto *one : rendezvous)
      engine.destroy(one);
  }
  /// A sum as one of the two wants it, in a call.
  std::string sum(uint32_t number, uint32_t collective, uint64_t program = 1) {
    std::string text =
        describe(engine.begin(rendezvous[number], number, program));
    if (!text.empty())
      return text;
    static const uint32_t numbers[] = {0, 1};
    alula_collective_members members = {numbers, 2, 0};
    alula_collective_group *group;
    // The other one may have failed already.
    text = describe(engine.get_group(rendezvous[number], &members, &group));
    float one = 1, result = 0;
    alula_collective what = {ALULA_COLLECTIVE_ALL_REDUCE,
                             ALULA_REDUCTION_SUM,
                             ALULA_DTYPE_F32,
                             collective,
                             1,
                             reinterpret_cast<uint8_t *>(&one),
                             reinterpret_cast<uint8_t *>(&result),
                             ALULA_COLLECTIVE_ALL_REDUCE};
    alula_collective_request request;
    if (text.empty())
      text = describe(engine.start(group, number, &what, &request));
    if (text.empty())
      text = describe(engine.done(&request, nullptr));
    const char *failure = text.empty() ? nullptr : text.c_str();
    engine.settle(rendezvous[number], number, failure);
    engine.end(rendezvous[number], number, failure);
    if (text.empty()) {
      EXPECT_EQ(result, 2);
    }
    return text;
  }
  std::vector<std::string> sumBoth(uint32_t first, uint32_t second,
                                   uint64_t program = 1) {
    std::vector<std::string> texts(2);
    std::thread other([&] { texts[1] = sum(1, second, program); });
    texts[0] = sum(0, first);
    other.join();
    return texts;
  }
  static bool contains(const std::string &text, const char *part) {
    return text.find(part) != text.npos;
  }

  Worlds worlds;
  alula_collective_engine engine;
  alula_collective_rendezvous *rendezvous[2];
};

TEST_F(Pair, Meet) {
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(sumBoth(4, 4), (std::vector<std::string>{"", ""}));
}

TEST_F(Pair, OtherCollective) {
  for (const std::string &text : sumBoth(4, 9)) {
    EXPECT_PRED2(contains, text, " starts all_reduce #");
    EXPECT_PRED2(contains, text, " where process ");
    EXPECT_PRED2(contains, text, " of call 0");
  }
}

TEST_F(Pair, OtherProgram) {
  for (const std::string &text : sumBoth(4, 4, /*program=*/2))
    EXPECT_PRED2(contains, text, " runs another program than process ");
}

TEST_F(Pair, NobodyComes) {
  std::string text = sum(0, 4);
  EXPECT_PRED2(contains, text, "process 1 (");
  EXPECT_PRED2(contains, text,
               ") has not come to all_reduce #4 of call 0 within 200 ms");
  // Whoever comes afterwards hears why.
  text = sum(1, 4);
  EXPECT_PRED2(contains, text, "process 0 (");
  EXPECT_PRED2(contains, text, ": participant 0 failed: process 1 (");
}

TEST_F(Pair, GivenUp) {
  engine.abort(rendezvous[1], "there is no room");
  std::string text = sum(0, 4);
  EXPECT_PRED2(contains, text, "process 1 (");
  EXPECT_PRED2(contains, text, "): there is no room");
  EXPECT_EQ(sum(1, 4), "there is no room");
}

TEST_F(Pair, WrongParticipant) {
  alula_error *error = engine.begin(rendezvous[0], 1, 1);
  EXPECT_EQ(describe(error), "participant 1 is in process 1, this is 0");
  EXPECT_EQ(sumBoth(4, 4), (std::vector<std::string>{"", ""}));
}

} // namespace
} // namespace alula::collectives
