// Messages by Gloo's sends and receives over TCP. Its own collectives are not
// used: their folds depend on how members are spread, and after one that does
// not come in time no other works.

#include "runtime/collectives/processes/link.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>

#include <netdb.h>
#include <signal.h>
#include <unistd.h>

using namespace alula::collectives;
using gloo::transport::UnboundBuffer;

namespace {
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// Longer than anything lives; what has a time limit is timed by the caller,
/// since a wait of Gloo's that times out closes all connections.
constexpr Milliseconds forever = std::chrono::hours(24 * 365);
/// Of a message, the first bytes go by themselves: they say how many follow.
constexpr size_t firstBytes = 8192;
enum Slot : uint64_t { firstSlot = 1, restSlot = 2, watchSlot = 3 };

int64_t getRemaining(Clock::time_point deadline) {
  return std::max<int64_t>(
      0, std::chrono::duration_cast<Milliseconds>(deadline - Clock::now())
             .count());
}

// ---- Rendezvous ----

/// What could not be had, and from whom.
struct StoreError : std::runtime_error {
  StoreError(alula_status_code code, const std::string &message)
      : std::runtime_error(message), code(code) {}
  alula_status_code code;
};

class Store : public gloo::rendezvous::Store {
public:
  Store(const alula_collective_connection &connection,
        Clock::time_point deadline)
      : deadline(deadline), timeout(connection.timeout_ms) {}

  std::vector<char> get(const std::string &key) override {
    std::vector<char> value;
    int32_t code = find(key, value);
    if (code == ALULA_STATUS_DEADLINE_EXCEEDED ||
        code == ALULA_STATUS_NOT_FOUND)
      throw StoreError(ALULA_STATUS_DEADLINE_EXCEEDED,
                       "process " + getProcess(key) + " has not come within " +
                           std::to_string(timeout) + " ms");
    if (code)
      throw StoreError(alula_status_code(code),
                       "the key-value store has no '" + key +
                           "': " + alula_status_code_name(code));
    return value;
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys)
      get(key);
  }
  void wait(const std::vector<std::string> &keys,
            const Milliseconds &) override {
    wait(keys);
  }

protected:
  virtual int32_t find(const std::string &key, std::vector<char> &value) = 0;
  Clock::time_point deadline;

private:
  /// Gloo's keys are numbers of processes, some with words before them.
  static std::string getProcess(const std::string &key) {
    return key.substr(key.find_last_not_of("0123456789") + 1);
  }
  uint32_t timeout;
};

/// The embedder's, such as the one of JAX's coordination service.
class GivenStore : public Store {
public:
  GivenStore(const alula_collective_connection &connection,
             Clock::time_point deadline)
      : Store(connection, deadline), store(*connection.store) {}

  void set(const std::string &key, const std::vector<char> &value) override {
    int32_t code = store.put(store.user, ("alula:gloo:" + key).c_str(),
                             value.data(), value.size());
    if (code)
      throw StoreError(alula_status_code(code),
                       "the key-value store does not take '" + key +
                           "': " + alula_status_code_name(code));
  }

protected:
  int32_t find(const std::string &key, std::vector<char> &value) override {
    auto take = [](void *to, const void *bytes, size_t size) {
      auto *from = static_cast<const char *>(bytes);
      static_cast<std::vector<char> *>(to)->assign(from, from + size);
    };
    auto wait = uint32_t(std::max<int64_t>(getRemaining(deadline), 1));
    return store.get(store.user, ("alula:gloo:" + key).c_str(), wait, take,
                     &value);
  }

private:
  const alula_key_value_store &store;
};

/// A folder that all processes see.
class FolderStore : public Store {
public:
  FolderStore(const alula_collective_connection &connection,
              Clock::time_point deadline)
      : Store(connection, deadline), folder(connection.directory),
        number(connection.number) {}

  void set(const std::string &key, const std::vector<char> &value) override {
    std::string path = folder + "/" + key;
    std::string unfinished = path + ".of" + std::to_string(number);
    std::ofstream file(unfinished, std::ios::binary);
    file.write(value.data(), std::streamsize(value.size()));
    file.close();
    if (!file || rename(unfinished.c_str(), path.c_str()) != 0)
      throw StoreError(ALULA_STATUS_PERMISSION_DENIED,
                       "cannot write " + path + ": " + strerror(errno));
  }

protected:
  int32_t find(const std::string &key, std::vector<char> &value) override {
    for (;;) {
      std::ifstream file(folder + "/" + key, std::ios::binary);
      if (file) {
        value.assign(std::istreambuf_iterator<char>(file), {});
        return 0;
      }
      if (Clock::now() >= deadline)
        return ALULA_STATUS_DEADLINE_EXCEEDED;
      std::this_thread::sleep_for(Milliseconds(5));
    }
  }

private:
  std::string folder;
  uint32_t number;
};

// ---- Threads ----

/// Writing to a process that is gone must be an error, not a signal: Gloo's
/// threads and ours have it blocked.
class WithoutPipeSignal {
public:
  WithoutPipeSignal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    wasPending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &before);
  }
  ~WithoutPipeSignal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    timespec now = {};
    if (!wasPending && !sigismember(&before, SIGPIPE))
      while (sigtimedwait(&set, nullptr, &now) == -1 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t before;
  bool wasPending;
};

struct Sent {
  Message message;
  std::unique_ptr<UnboundBuffer> first, rest;
};

/// One other process: a thread that receives, one that waits until messages
/// have gone, and one that sees when the connection ends, which Gloo does not
/// tell those that wait in the middle of a message.
struct Peer {
  uint32_t number = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Sent> sent;
  /// What a thread waits for now; to be aborted when it will not come.
  UnboundBuffer *receiving = nullptr, *sending = nullptr;
  std::unique_ptr<UnboundBuffer> watch;
  char watched = 0;
  bool isOver = false;
  std::thread receiver, reaper, watcher;

  void stop() {
    std::lock_guard lock(mutex);
    isOver = true;
    if (receiving)
      receiving->abortWaitRecv();
    if (sending)
      sending->abortWaitSend();
    changed.notify_all();
  }
};

class GlooLink final : public Link {
public:
  GlooLink(std::shared_ptr<gloo::rendezvous::Context> given)
      : context(std::move(given)), peers(size_t(context->size)) {}
  ~GlooLink() override = default;

  uint32_t getNumber() const override { return uint32_t(context->rank); }
  uint32_t getCount() const override { return uint32_t(context->size); }

  void start(Receiver &to) override {
    WithoutPipeSignal scope;
    receiver = &to;
    for (uint32_t i = 0; i < peers.size(); ++i) {
      if (i == getNumber())
        continue;
      peers[i] = std::make_unique<Peer>();
      Peer &peer = *peers[i];
      peer.number = i;
      peer.receiver = std::thread([&] { receive(peer); });
      peer.reaper = std::thread([&] { reap(peer); });
      peer.watcher = std::thread([&] { watch(peer); });
    }
  }

  void send(uint32_t process, Message message) override {
    Peer &peer = *peers[process];
    WithoutPipeSignal scope;
    std::lock_guard lock(peer.mutex);
    if (peer.isOver)
      return;
    Sent sent;
    sent.message = std::move(message);
    uint8_t *data = sent.message.getData();
    size_t bytes = sent.message.getBytes();
    size_t first = std::min(bytes, firstBytes);
    try {
      sent.first = context->createUnboundBuffer(data, first);
      sent.first->send(int(process), firstSlot);
      if (bytes > first) {
        sent.rest = context->createUnboundBuffer(data + first, bytes - first);
        sent.rest->send(int(process), restSlot);
      }
    } catch (const std::exception &) {
      // The watcher tells.
    }
    peer.sent.push_back(std::move(sent));
    peer.changed.notify_all();
  }

  void close(bool) override {
    isClosing = true;
    for (auto &peer : peers) {
      if (!peer)
        continue;
      peer->stop();
      {
        std::lock_guard lock(peer->mutex);
        if (peer->watch)
          peer->watch->abortWaitRecv();
      }
      for (std::thread *thread :
           {&peer->receiver, &peer->reaper, &peer->watcher})
        thread->join();
    }
    context->closeConnections();
  }

private:
  void lose(Peer &peer, const char *why) {
    peer.stop();
    // "[file:line] what happened [address]:port": the middle is for people.
    std::string text = why;
    if (size_t end = text.find("] "); end != text.npos)
      text = text.substr(end + 2);
    if (!isClosing)
      receiver->lose(peer.number, text);
  }

  /// False if it will not come.
  bool waitFor(Peer &peer, UnboundBuffer &buffer) {
    {
      std::lock_guard lock(peer.mutex);
      if (peer.isOver)
        return false;
      peer.receiving = &buffer;
    }
    bool isHere = buffer.waitRecv(nullptr, forever);
    std::lock_guard lock(peer.mutex);
    peer.receiving = nullptr;
    return isHere;
  }

  void receive(Peer &peer) {
    // Two, so that the next can come while the last is looked at.
    std::vector<uint8_t> bytes[2];
    std::unique_ptr<UnboundBuffer> first[2];
    try {
      for (int i = 0; i < 2; ++i) {
        bytes[i].resize(firstBytes);
        first[i] = context->createUnboundBuffer(bytes[i].data(), firstBytes);
        first[i]->recv(int(peer.number), firstSlot);
      }
      for (int turn = 0; waitFor(peer, *first[turn]); turn ^= 1) {
        Header header;
        memcpy(&header, bytes[turn].data(), sizeof header);
        if (header.magic != messageMagic || header.bytes < sizeof header)
          return lose(peer, "it sent what is no message");
        Message message(header, header.bytes - sizeof header);
        memcpy(message.getData(), bytes[turn].data(),
               std::min<size_t>(header.bytes, firstBytes));
        first[turn]->recv(int(peer.number), firstSlot);
        if (header.bytes > firstBytes) {
          auto rest = context->createUnboundBuffer(
              message.getData() + firstBytes, header.bytes - firstBytes);
          rest->recv(int(peer.number), restSlot);
          if (!waitFor(peer, *rest))
            break;
        }
        receiver->deliver(peer.number, std::move(message));
      }
    } catch (const std::exception &error) {
      lose(peer, error.what());
    }
    std::lock_guard lock(peer.mutex);
    peer.receiving = nullptr;
  }

  void reap(Peer &peer) {
    for (;;) {
      Sent sent;
      {
        std::unique_lock lock(peer.mutex);
        peer.changed.wait(lock,
                          [&] { return peer.isOver || !peer.sent.empty(); });
        if (peer.isOver)
          return;
        sent = std::move(peer.sent.front());
        peer.sent.pop_front();
      }
      for (UnboundBuffer *buffer : {sent.first.get(), sent.rest.get()}) {
        if (!buffer)
          continue;
        {
          std::lock_guard lock(peer.mutex);
          if (peer.isOver)
            return;
          peer.sending = buffer;
        }
        try {
          buffer->waitSend(nullptr, forever);
        } catch (const std::exception &error) {
          std::unique_lock lock(peer.mutex);
          peer.sending = nullptr;
          lock.unlock();
          return lose(peer, error.what());
        }
        std::lock_guard lock(peer.mutex);
        peer.sending = nullptr;
      }
    }
  }

  /// A receive that nothing is sent to.
  void watch(Peer &peer) {
    try {
      {
        std::lock_guard lock(peer.mutex);
        peer.watch = context->createUnboundBuffer(&peer.watched, 1);
        peer.watch->recv(int(peer.number), watchSlot);
        if (isClosing)
          return;
      }
      peer.watch->waitRecv(nullptr, forever);
    } catch (const std::exception &error) {
      lose(peer, error.what());
    }
  }

  std::shared_ptr<gloo::rendezvous::Context> context;
  std::vector<std::unique_ptr<Peer>> peers;
  Receiver *receiver = nullptr;
  std::atomic<bool> isClosing{false};
};

// ---- Connecting ----

/// Where others reach this process: the interface that GLOO_SOCKET_IFNAME
/// names, else what the host's name stands for, else this machine alone.
gloo::transport::tcp::attr findAddress() {
  gloo::transport::tcp::attr attr;
  if (const char *interface = getenv("GLOO_SOCKET_IFNAME");
      interface && *interface) {
    attr.iface = interface;
    return attr;
  }
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  attr.hostname = host;
  // Gloo takes for an address whatever this leaves.
  if (getaddrinfo(host, nullptr, &hints, &found) != 0)
    attr.hostname = "127.0.0.1";
  else
    freeaddrinfo(found);
  return attr;
}

std::unique_ptr<Link> openGloo(const alula_collective_connection &connection,
                               Failure &failure) {
  if (connection.count == 0 || connection.number >= connection.count) {
    failure = {ALULA_STATUS_INVALID_ARGUMENT,
               "gloo: process " + std::to_string(connection.number) + " of " +
                   std::to_string(connection.count) + " processes"};
    return nullptr;
  }
  auto deadline = Clock::now() + Milliseconds(connection.timeout_ms);
  std::unique_ptr<Store> store;
  if (connection.store)
    store = std::make_unique<GivenStore>(connection, deadline);
  else if (connection.directory)
    store = std::make_unique<FolderStore>(connection, deadline);
  if (!store) {
    failure = {ALULA_STATUS_INVALID_ARGUMENT,
               "gloo: processes find each other by a key-value store or a "
               "folder, neither is given"};
    return nullptr;
  }
  WithoutPipeSignal scope;
  try {
    // First whether all are here, which says who is not.
    store->set("here" + std::to_string(connection.number), {'1'});
    for (uint32_t i = 0; i < connection.count; ++i)
      store->get("here" + std::to_string(i));
    auto context = std::make_shared<gloo::rendezvous::Context>(
        int(connection.number), int(connection.count));
    // Gloo waits five times as long for a connection.
    context->setTimeout(
        Milliseconds(std::max<int64_t>(getRemaining(deadline) / 5, 200)));
    auto device = gloo::transport::tcp::CreateDevice(findAddress());
    context->connectFullMesh(*store, device);
    return std::make_unique<GlooLink>(std::move(context));
  } catch (const StoreError &error) {
    failure = {error.code, error.what()};
  } catch (const std::exception &error) {
    failure = {ALULA_STATUS_UNAVAILABLE,
               std::string("gloo cannot connect the processes: ") +
                   error.what()};
  }
  return nullptr;
}

alula_error *connectByGloo(const alula_collective_connection *connection,
                           alula_collective_world **world, uint32_t *number,
                           uint32_t *count) {
  return connectProcesses(openGloo, connection, world, number, count);
}
} // namespace

extern "C" __attribute__((visibility("default")))
const alula_collective_engine *
alula_collective_engine_get(uint16_t major, uint16_t minor) {
  static const alula_collective_engine engine = [] {
    alula_collective_engine made = makeEngine("gloo");
    made.connect = connectByGloo;
    return made;
  }();
  return serves(major, minor) ? &engine : nullptr;
}
