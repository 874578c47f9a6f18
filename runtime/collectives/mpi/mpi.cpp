// Messages by MPI's sends and receives, tested by one thread: whoever waits for
// them can then give up, which MPI's own collectives do not let them.

#include "runtime/collectives/processes/link.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <mpi.h>

using namespace alula::collectives;

namespace {
using Clock = std::chrono::steady_clock;

/// MPI counts in int.
constexpr size_t chunkBytes = size_t(1) << 30;
enum Tag { firstTag = 1, moreTag = 2 };
/// After the last message the thread looks again and again for so long, and
/// then so often: it shares its processor with those that compute.
constexpr std::chrono::microseconds awakeTime{300}, napTime{50}, sleepTime{500};
constexpr std::chrono::milliseconds idleTime{100};

class MpiLink final : public Link {
public:
  MpiLink(MPI_Comm world, bool isOurs) : isOurs(isOurs), world(world) {
    MPI_Comm_rank(world, &number);
    MPI_Comm_size(world, &count);
    unfinished.resize(size_t(count));
    filled.resize(size_t(count));
  }

  uint32_t getNumber() const override { return uint32_t(number); }
  uint32_t getCount() const override { return uint32_t(count); }

  void start(Receiver &to) override {
    receiver = &to;
    thread = std::thread([this] { run(); });
  }

  void send(uint32_t process, Message message) override {
    {
      std::lock_guard lock(mutex);
      waiting.push_back({process, std::move(message)});
    }
    changed.notify_all();
  }

  /// MPI_Finalize waits for all.
  bool endsTogether() const override { return true; }

  void close(bool isGood) override {
    {
      std::lock_guard lock(mutex);
      isClosing = true;
    }
    changed.notify_all();
    thread.join();
    // Both wait for the others: where one of them can't come, mpirun sees that
    // this process ends without them, and ends the rest.
    if (!isGood)
      return;
    MPI_Comm_free(&world);
    if (isOurs)
      MPI_Finalize();
  }

private:
  struct Waiting {
    uint32_t process;
    Message message;
  };
  struct Sending {
    Message message;
    std::vector<MPI_Request> requests;
  };
  struct Receiving {
    int process;
    int bytes;
    std::unique_ptr<uint8_t[]> memory;
    MPI_Request request;
    bool isFirst, isDone;
  };

  void post(Waiting one) {
    Sending sending;
    uint8_t *data = one.message.getData();
    size_t bytes = one.message.getBytes();
    for (size_t at = 0; at < bytes; at += chunkBytes) {
      MPI_Request request;
      int code =
          MPI_Isend(data + at, int(std::min(chunkBytes, bytes - at)), MPI_BYTE,
                    int(one.process), at ? moreTag : firstTag, world, &request);
      if (code != MPI_SUCCESS)
        return receiver->lose(one.process, describe(code));
      sending.requests.push_back(request);
    }
    sending.message = std::move(one.message);
    sends.push_back(std::move(sending));
  }

  static std::string describe(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return {text, size_t(length)};
  }

  bool testSends() {
    size_t before = sends.size();
    std::erase_if(sends, [](Sending &one) {
      int isDone = 0;
      MPI_Testall(int(one.requests.size()), one.requests.data(), &isDone,
                  MPI_STATUSES_IGNORE);
      return isDone != 0;
    });
    return sends.size() != before;
  }

  bool probe() {
    int isThere = 0;
    MPI_Message handle;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &isThere, &handle,
                    &status) != MPI_SUCCESS ||
        !isThere)
      return false;
    Receiving one = {};
    MPI_Get_count(&status, MPI_BYTE, &one.bytes);
    one.process = status.MPI_SOURCE;
    one.isFirst = status.MPI_TAG == firstTag;
    one.memory = std::make_unique_for_overwrite<uint8_t[]>(size_t(one.bytes));
    MPI_Imrecv(one.memory.get(), one.bytes, MPI_BYTE, &handle, &one.request);
    receives.push_back(std::move(one));
    return true;
  }

  /// Those that are complete, for each process in the order in which they were
  /// sent.
  bool testReceives() {
    bool hasMore = false;
    for (auto one = receives.begin(); one != receives.end();) {
      if (!one->isDone) {
        int isDone = 0;
        MPI_Test(&one->request, &isDone, MPI_STATUS_IGNORE);
        one->isDone = isDone;
      }
      bool isNext = one->isDone;
      for (auto earlier = receives.begin(); earlier != one; ++earlier)
        isNext &= earlier->process != one->process;
      if (!isNext) {
        ++one;
        continue;
      }
      take(*one);
      one = receives.erase(one);
      hasMore = true;
    }
    return hasMore;
  }

  void take(const Receiving &one) {
    auto source = size_t(one.process);
    Message &message = unfinished[source];
    if (one.isFirst) {
      Header header;
      memcpy(&header, one.memory.get(), sizeof header);
      message = Message(header, header.bytes - sizeof header);
      filled[source] = 0;
    }
    memcpy(message.getData() + filled[source], one.memory.get(),
           size_t(one.bytes));
    filled[source] += size_t(one.bytes);
    if (filled[source] == message.getBytes())
      receiver->deliver(uint32_t(source), std::move(message));
  }

  void run() {
    auto last = Clock::now();
    for (;;) {
      std::deque<Waiting> now;
      {
        std::lock_guard lock(mutex);
        now.swap(waiting);
        if (isClosing && now.empty() && sends.empty())
          return;
        // What is stuck stays so.
        if (isClosing && Clock::now() - last > idleTime)
          return;
      }
      bool isBusy = !now.empty();
      for (Waiting &one : now)
        post(std::move(one));
      isBusy |= testSends();
      isBusy |= probe();
      isBusy |= testReceives();
      if (isBusy)
        last = Clock::now();
      auto idle = Clock::now() - last;
      if (idle < awakeTime) {
        std::this_thread::yield();
        continue;
      }
      std::unique_lock lock(mutex);
      changed.wait_for(lock, idle < idleTime ? napTime : sleepTime,
                       [&] { return isClosing || !waiting.empty(); });
    }
  }

  const bool isOurs;
  MPI_Comm world;
  int number = 0, count = 0;
  Receiver *receiver = nullptr;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Waiting> waiting;
  bool isClosing = false;

  // Of the thread alone.
  std::vector<Sending> sends;
  std::deque<Receiving> receives;
  /// For each process the message of which a part has come, and how much.
  std::vector<Message> unfinished;
  std::vector<size_t> filled;
};

std::unique_ptr<Link> openMpi(const alula_collective_connection &connection,
                              Failure &failure) {
  auto fail = [&](alula_status_code code, const std::string &why) {
    failure = {code, std::string(ALULA_MPI_NAME) + ": " + why};
    return nullptr;
  };
  // MPI's own plugins look for its symbols, which are not global where it was
  // loaded as a part of this library.
  Dl_info self;
  if (dladdr(reinterpret_cast<const void *>(&MPI_Init_thread), &self))
    dlopen(self.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  int isThere = 0, isOver = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&isThere);
  MPI_Finalized(&isOver);
  if (isOver)
    return fail(ALULA_STATUS_FAILED_PRECONDITION,
                "processes can be connected once, and were");
  if (isThere)
    MPI_Query_thread(&level);
  else
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  // If it is ours alone, our thread is the only one that calls it meanwhile.
  if (level < (isThere ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED))
    return fail(ALULA_STATUS_FAILED_PRECONDITION,
                "it does not let several threads call it");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int number = 0, count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if (connection.count && (connection.count != uint32_t(count) ||
                           connection.number != uint32_t(number)))
    return fail(ALULA_STATUS_INVALID_ARGUMENT,
                "this is process " + std::to_string(number) + " of " +
                    std::to_string(count) + ", process " +
                    std::to_string(connection.number) + " of " +
                    std::to_string(connection.count) + " is asked for");
  MPI_Comm world;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
    return fail(ALULA_STATUS_UNAVAILABLE, "there is no communicator");
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  return std::make_unique<MpiLink>(world, !isThere);
}

alula_error *connectByMpi(const alula_collective_connection *connection,
                          alula_collective_world **world, uint32_t *number,
                          uint32_t *count) {
  return connectProcesses(openMpi, connection, world, number, count);
}
} // namespace

extern "C" __attribute__((visibility("default")))
const alula_collective_engine *
alula_collective_engine_get(uint16_t major, uint16_t minor) {
  static const alula_collective_engine engine = [] {
    alula_collective_engine made = makeEngine(ALULA_MPI_NAME);
    made.connect = connectByMpi;
    return made;
  }();
  return serves(major, minor) ? &engine : nullptr;
}
