// libnccl.so.2 for the fake driver of CUDA: exchanges are commands of its
// streams, which run when somebody waits and all members have come. Members may
// be in several processes: then files carry what they send. What NCCL leaves
// undefined is an error.
//
// FAKE_NCCL_FAIL=NAME:N:CODE  the N-th call of the function NAME, or with 0
//                             each, gives CODE; "Async": the N-th exchange is
//                             an error of its communicator when it runs,
//                             "Stall": it never ends
// FAKE_NCCL_LOG=FILE          gets a line for each exchange
// FAKE_NCCL_VERSION           what it says it is
// FAKE_NCCL_FOLDER            where processes meet

#include "runtime/collectives/reduce.h"
#include "runtime/device/cuda/fake/control.h"
#include "runtime/device/cuda/fake/nccl_control.h"
#include "runtime/device/cuda/nccl/api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace alula::runtime::cuda;
using namespace alula::runtime::cuda::nccl;

namespace {

using Bytes = std::vector<uint8_t>;

enum class Kind : uint32_t {
  AllReduce,
  ReduceScatter,
  AllGather,
  Broadcast,
  Send,
  Recv
};
const char *const kindNames[] = {"AllReduce", "ReduceScatter", "AllGather",
                                 "Broadcast", "Send",          "Recv"};

/// What all members of a collective, or both ends of a message, say of it.
struct Terms {
  uint32_t kind, type, reduction, root;
  uint64_t count;
};

struct Step {
  Kind kind;
  const uint8_t *from;
  uint8_t *to;
  Terms terms;
  int peer;
  StreamHandle stream;
  uint64_t bytes;
  /// Of the collectives, or of the messages of the two.
  uint64_t sequence = 0;
};

struct World {
  std::string path;
  int count = 0;
  bool isForeign = false;
  std::map<int, struct Comm *> local;
  /// What was sent within this process, and who has taken it.
  std::map<std::string, Bytes> mails;
  std::map<std::string, int> taken;
};

struct Comm {
  std::shared_ptr<World> world;
  int rank, device;
  bool isAborted = false, isReady = false;
  Code state = inProgress;
  /// Questions until what goes on in the background has ended.
  int lag = 0;
  bool isConnected = false;
  std::string error;
  uint64_t collectives = 0;
  std::map<int, uint64_t> sends, receives;
  /// Not encoded yet.
  std::vector<std::vector<Step>> waiting;
  /// With exchanges that may not have run.
  std::vector<StreamHandle> streams;
};

struct Exchange {
  Comm *comm;
  std::vector<Step> steps;
  bool isPosted = false, fails = false, stalls = false;
  Code failure = fine;
};

struct FakeNccl {
  std::recursive_mutex mutex;
  std::map<std::string, std::shared_ptr<World>> worlds;
  std::vector<std::unique_ptr<Comm>> comms;
  /// That are not over.
  std::map<Exchange *, std::unique_ptr<Exchange>> exchanges;
  std::map<std::string, uint64_t> calls;
  uint64_t identities = 0, live = 0, misuses = 0;
};
FakeNccl &fake() {
  static FakeNccl *made = new FakeNccl;
  return *made;
}
using Guard = std::lock_guard<std::recursive_mutex>;

/// Of this thread: how deep in groups, and what they have.
thread_local int depth = 0;
thread_local std::vector<std::pair<Comm *, Step>> grouped;
thread_local std::string lastError;

/// FAKE_NCCL_NAME, or NULL.
const char *readSetting(const std::string &name) {
  return getenv(("FAKE_NCCL_" + name).c_str());
}

/// Counts a call; whether this one is to fail.
bool isToFail(const std::string &name, Code &code) {
  uint64_t number = ++fake().calls[name];
  const char *text = readSetting("FAIL");
  char wanted[64];
  unsigned long at;
  int result;
  if (!text || sscanf(text, "%63[^:]:%lu:%d", wanted, &at, &result) != 3 ||
      name != wanted || (at && at != number))
    return false;
  code = Code(result);
  lastError = "FAKE_NCCL_FAIL";
  return true;
}
#define BEGIN(name)                                                            \
  Guard guard(fake().mutex);                                                   \
  if (Code asked; isToFail(name, asked))                                       \
  return asked

Code misuse(Code code, const std::string &why) {
  Guard guard(fake().mutex);
  ++fake().misuses;
  lastError = why;
  fprintf(stderr, "fake NCCL: misuse: %s\n", why.c_str());
  return code;
}

Comm *find(CommunicatorHandle handle) {
  for (auto &each : fake().comms)
    if (reinterpret_cast<CommunicatorHandle>(each.get()) == handle)
      return each->isAborted ? nullptr : each.get();
  return nullptr;
}

// ---- Mail ----

void put(World &world, const std::string &key, const Bytes &bytes) {
  if (!world.isForeign) {
    world.mails[key] = bytes;
    return;
  }
  std::string path = world.path + "/" + key, part = path + ".part";
  std::ofstream(part, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             std::streamsize(bytes.size()));
  rename(part.c_str(), path.c_str());
}
bool has(World &world, const std::string &key) {
  return world.isForeign ? access((world.path + "/" + key).c_str(), F_OK) == 0
                         : world.mails.count(key);
}
Bytes get(World &world, const std::string &key) {
  if (!world.isForeign)
    return world.mails[key];
  std::ifstream file(world.path + "/" + key, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
/// Nobody asks for it again after so many.
void take(World &world, const std::string &key, int most) {
  if (world.isForeign || ++world.taken[key] < most)
    return;
  world.mails.erase(key);
  world.taken.erase(key);
}

// ---- What exchanges do ----

size_t getBytes(uint32_t type) {
  static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

void reduce(const Terms &terms, uint8_t *into, const uint8_t *from,
            uint64_t count) {
  static const alula_dtype types[] = {
      ALULA_DTYPE_I8,  ALULA_DTYPE_UI8,  ALULA_DTYPE_I32, ALULA_DTYPE_UI32,
      ALULA_DTYPE_I64, ALULA_DTYPE_UI64, ALULA_DTYPE_F16, ALULA_DTYPE_F32,
      ALULA_DTYPE_F64, ALULA_DTYPE_BF16};
  static const alula_reduction reductions[] = {
      ALULA_REDUCTION_SUM, ALULA_REDUCTION_PRODUCT, ALULA_REDUCTION_MAX,
      ALULA_REDUCTION_MIN};
  alula::runtime::reduceInto(reductions[terms.reduction], types[terms.type],
                             into, from, count);
}

std::string nameMail(const Step &step, int from, int to) {
  std::string text = step.kind == Kind::Send || step.kind == Kind::Recv
                         ? "m" + std::to_string(from) + "-" + std::to_string(to)
                         : "c" + std::to_string(from);
  return text + "." + std::to_string(step.sequence);
}

Bytes pack(const Step &step) {
  Bytes mail(sizeof(Terms));
  memcpy(mail.data(), &step.terms, sizeof(Terms));
  mail.insert(mail.end(), step.from, step.from + step.bytes);
  return mail;
}

/// What a member or the other end has said must be what this one says.
bool agrees(Comm &comm, const Step &step, const Bytes &mail, int other) {
  Terms terms = step.terms;
  terms.kind = uint32_t(step.kind == Kind::Recv ? Kind::Send : step.kind);
  if (memcmp(mail.data(), &terms, sizeof terms) == 0)
    return true;
  if (comm.state == fine) {
    comm.error = "ranks " + std::to_string(comm.rank) + " and " +
                 std::to_string(other) + " differ in " +
                 kindNames[int(step.kind)];
    comm.state = misuse(invalidUsage, comm.error);
  }
  return false;
}

/// Gives what others need of this one.
void post(Exchange &exchange) {
  Comm &comm = *exchange.comm;
  for (const Step &step : exchange.steps)
    if (step.kind == Kind::Recv)
      put(*comm.world, nameMail(step, step.peer, comm.rank) + ".wanted", {});
    else
      put(*comm.world, nameMail(step, comm.rank, step.peer), pack(step));
  exchange.isPosted = true;
}

bool isThere(const Exchange &exchange) {
  Comm &comm = *exchange.comm;
  for (const Step &step : exchange.steps) {
    if (step.kind == Kind::Recv) {
      if (!has(*comm.world, nameMail(step, step.peer, comm.rank)))
        return false;
    } else if (step.kind == Kind::Send) {
      // It may not end before the other one receives.
      if (!has(*comm.world, nameMail(step, comm.rank, step.peer) + ".wanted"))
        return false;
    } else {
      for (int rank = 0; rank < comm.world->count; ++rank)
        if (!has(*comm.world, nameMail(step, rank, 0)))
          return false;
    }
  }
  return true;
}

/// In another order than that of the members.
void collect(Comm &comm, const Step &step, const std::vector<Bytes> &mails) {
  uint64_t element = getBytes(step.terms.type), count = step.terms.count;
  auto at = [&](int rank, uint64_t offset) {
    return mails[size_t(rank)].data() + sizeof(Terms) + offset;
  };
  int last = comm.world->count - 1;
  switch (step.kind) {
  case Kind::AllReduce:
  case Kind::ReduceScatter: {
    uint64_t offset = step.kind == Kind::AllReduce
                          ? 0
                          : uint64_t(comm.rank) * count * element;
    Bytes sum(at(last, offset), at(last, offset) + count * element);
    for (int rank = last - 1; rank >= 0; --rank)
      reduce(step.terms, sum.data(), at(rank, offset), count);
    memcpy(step.to, sum.data(), sum.size());
    return;
  }
  case Kind::AllGather:
    for (int rank = 0; rank <= last; ++rank)
      memcpy(step.to + uint64_t(rank) * count * element, at(rank, 0),
             count * element);
    return;
  case Kind::Broadcast:
    memcpy(step.to, at(int(step.terms.root), 0), count * element);
    return;
  default:
    return;
  }
}

bool finish(Exchange &exchange) {
  Comm &comm = *exchange.comm;
  World &world = *comm.world;
  for (const Step &step : exchange.steps) {
    if (step.kind == Kind::Send) {
      take(world, nameMail(step, comm.rank, step.peer) + ".wanted", 1);
      continue;
    }
    if (step.kind == Kind::Recv) {
      std::string name = nameMail(step, step.peer, comm.rank);
      Bytes mail = get(world, name);
      if (!agrees(comm, step, mail, step.peer))
        return false;
      memcpy(step.to, mail.data() + sizeof(Terms), step.bytes);
      take(world, name, 1);
      continue;
    }
    std::vector<Bytes> mails;
    for (int rank = 0; rank < world.count; ++rank) {
      mails.push_back(get(world, nameMail(step, rank, 0)));
      if (!agrees(comm, step, mails.back(), rank))
        return false;
    }
    collect(comm, step, mails);
    for (int rank = 0; rank < world.count; ++rank)
      take(world, nameMail(step, rank, 0), world.count);
  }
  return true;
}

/// As a command of a stream: not 0 when it is over.
int run(void *user) {
  auto &exchange = *static_cast<Exchange *>(user);
  std::vector<StreamHandle> others;
  {
    Guard guard(fake().mutex);
    Comm &comm = *exchange.comm;
    if (comm.isAborted) {
      fake().exchanges.erase(&exchange);
      return 1;
    }
    if (exchange.fails) {
      comm.state = exchange.failure;
      comm.error = "FAKE_NCCL_FAIL";
      exchange.fails = false;
      exchange.stalls = true;
    }
    if (exchange.stalls || comm.state != fine)
      return 0;
    if (!exchange.isPosted)
      post(exchange);
    if (!isThere(exchange))
      for (auto &[rank, other] : comm.world->local)
        others.insert(others.end(), other->streams.begin(),
                      other->streams.end());
  }
  // GPUs go on by themselves.
  for (StreamHandle stream : others)
    fakeCudaRun(stream);
  Guard guard(fake().mutex);
  bool isOver =
      exchange.comm->isAborted || (isThere(exchange) && finish(exchange));
  if (isOver)
    fake().exchanges.erase(&exchange);
  return isOver;
}

void log(const Comm &comm, const std::vector<Step> &steps) {
  const char *path = readSetting("LOG");
  if (!path)
    return;
  std::ofstream file(path, std::ios::app);
  for (const Step &step : steps)
    file << kindNames[int(step.kind)] + std::string(" ") +
                std::to_string(comm.rank) + "/" +
                std::to_string(comm.world->count) + " " +
                std::to_string(step.terms.count) + "\n";
}

/// All steps of one communicator that belong together.
Code encode(Comm &comm, std::vector<Step> steps) {
  auto *exchange = new Exchange{&comm, std::move(steps)};
  {
    Guard guard(fake().mutex);
    fake().exchanges[exchange].reset(exchange);
    log(comm, exchange->steps);
    exchange->fails = isToFail("Async", exchange->failure);
    Code unused;
    exchange->stalls = isToFail("Stall", unused);
    StreamHandle stream = exchange->steps[0].stream;
    for (Step &step : exchange->steps) {
      if (step.stream != stream)
        return misuse(invalidUsage, "one group, several streams");
      step.sequence = step.kind == Kind::Send   ? comm.sends[step.peer]++
                      : step.kind == Kind::Recv ? comm.receives[step.peer]++
                                                : comm.collectives++;
    }
    bool isKnown = false;
    for (StreamHandle each : comm.streams)
      isKnown |= each == stream;
    if (!isKnown)
      comm.streams.push_back(stream);
  }
  Result result = fakeCudaEncode(exchange->steps[0].stream, run, exchange);
  return result == success ? fine : unhandledCudaError;
}

/// Connecting takes time the first time: until then nothing is encoded.
Code give(Comm &comm, std::vector<Step> steps) {
  {
    Guard guard(fake().mutex);
    if (comm.state == inProgress)
      return misuse(invalidUsage, "the last call is in progress");
    if (!comm.isConnected) {
      comm.isConnected = true;
      comm.waiting.push_back(std::move(steps));
      comm.lag = 2;
      comm.state = inProgress;
      return inProgress;
    }
  }
  return encode(comm, std::move(steps));
}

Code add(CommunicatorHandle handle, Step step) {
  Comm *comm;
  {
    Guard guard(fake().mutex);
    comm = find(handle);
  }
  if (!comm)
    return misuse(invalidArgument, "no communicator, or one that was aborted");
  if (step.terms.type > bfloat16 || step.terms.reduction > min)
    return misuse(invalidArgument, "no such type or reduction");
  uint64_t given = step.bytes, gotten = step.bytes;
  auto members = uint64_t(comm->world->count);
  if (step.kind == Kind::ReduceScatter)
    step.bytes = given = gotten * members;
  else if (step.kind == Kind::AllGather)
    gotten *= members;
  if (step.kind == Kind::Broadcast && int(step.terms.root) != comm->rank)
    step.bytes = 0;
  bool isPiece = step.kind == Kind::Send || step.kind == Kind::Recv;
  if (isPiece ? step.peer < 0 || step.peer >= comm->world->count
              : step.terms.root >= members)
    return misuse(invalidArgument, "no such rank");
  if (fakeCudaDevice(step.stream) != comm->device)
    return misuse(invalidUsage, "a stream of another device");
  if (fakeCudaCurrentDevice() != comm->device)
    return misuse(invalidUsage, "the context of another device is current");
  if ((step.from && !fakeCudaHas(step.from, given, comm->device)) ||
      (step.to && !fakeCudaHas(step.to, gotten, comm->device)))
    return misuse(invalidArgument, "memory that is not the device's");
  if (step.from && step.to && step.from < step.to + gotten &&
      step.to < step.from + given)
    return misuse(invalidArgument, "what is given and gotten overlap");
  if (!depth)
    return give(*comm, {step});
  grouped.emplace_back(comm, step);
  return fine;
}

Step makeStep(Kind kind, const void *from, void *to, size_t count, Type type,
              int reduction, int root, int peer, StreamHandle stream) {
  bool isKnown = unsigned(type) <= bfloat16;
  return {kind,
          static_cast<const uint8_t *>(from),
          static_cast<uint8_t *>(to),
          {uint32_t(kind), uint32_t(type), uint32_t(reduction), uint32_t(root),
           count},
          peer,
          stream,
          isKnown ? count * getBytes(uint32_t(type)) : 0};
}

/// Whether all members have come.
bool haveJoined(World &world) {
  if (int(world.local.size()) == world.count)
    return true;
  if (!world.isForeign && access(world.path.c_str(), F_OK) != 0)
    return false;
  world.isForeign = true;
  for (auto &[rank, comm] : world.local)
    put(world, "joined-" + std::to_string(rank), {});
  for (int rank = 0; rank < world.count; ++rank)
    if (!has(world, "joined-" + std::to_string(rank)))
      return false;
  return true;
}
} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define X(name, parameters) EXPORT Code nccl##name parameters;
ALULA_FOR_EACH_NCCL_FUNCTION(X)
#undef X
EXPORT const char *ncclGetErrorString(Code code);
EXPORT const char *ncclGetLastError(CommunicatorHandle handle);

Code ncclGetVersion(int *version) {
  BEGIN("GetVersion");
  const char *text = readSetting("VERSION");
  *version = text ? atoi(text) : 22800;
  return fine;
}

Code ncclGetUniqueId(UniqueId *id) {
  BEGIN("GetUniqueId");
  const char *folder = readSetting("FOLDER");
  memset(id, 0, sizeof *id);
  snprintf(id->bytes, sizeof id->bytes, "%.90s/fake-nccl-%d-%llu",
           folder ? folder : "/tmp", getpid(),
           static_cast<unsigned long long>(++fake().identities));
  return fine;
}

Code ncclCommInitRankConfig(CommunicatorHandle *communicator, int count,
                            UniqueId id, int rank, Config *config) {
  BEGIN("CommInitRankConfig");
  if (config->magic != 0xCAFEBEEF || config->size != sizeof(Config) ||
      config->version < 21400 || config->blocking != 0)
    return misuse(invalidArgument, "a wrong config");
  if (count < 1 || rank < 0 || rank >= count || fakeCudaCurrentDevice() < 0)
    return misuse(invalidArgument, "no such rank, or no device");
  std::string name(id.bytes, strnlen(id.bytes, sizeof id.bytes));
  auto &world = fake().worlds[name];
  if (!world)
    world = std::make_shared<World>();
  if ((world->count && world->count != count) || world->local.count(rank))
    return misuse(invalidUsage, "a rank that is there, or another size");
  world->path = name;
  world->count = count;
  for (auto &[other, comm] : world->local)
    if (comm->device == fakeCudaCurrentDevice())
      return misuse(invalidUsage, "two ranks on one GPU");
  auto made = std::make_unique<Comm>();
  made->world = world;
  made->rank = rank;
  made->device = fakeCudaCurrentDevice();
  made->lag = 2;
  world->local[rank] = made.get();
  int creator = 0;
  sscanf(strstr(name.c_str(), "fake-nccl-"), "fake-nccl-%d", &creator);
  if (creator != getpid()) {
    mkdir(name.c_str(), 0700);
    world->isForeign = true;
  }
  *communicator = reinterpret_cast<CommunicatorHandle>(made.get());
  fake().comms.push_back(std::move(made));
  ++fake().live;
  return inProgress;
}

Code ncclCommAbort(CommunicatorHandle handle) {
  BEGIN("CommAbort");
  Comm *comm = find(handle);
  if (!comm)
    return misuse(invalidArgument, "a communicator is aborted twice");
  comm->isAborted = true;
  comm->world->local.erase(comm->rank);
  --fake().live;
  return fine;
}

Code ncclCommGetAsyncError(CommunicatorHandle handle, Code *code) {
  std::vector<std::vector<Step>> waiting;
  Comm *comm;
  {
    BEGIN("CommGetAsyncError");
    comm = find(handle);
    if (!comm)
      return misuse(invalidArgument, "no communicator");
    if (comm->state == inProgress && !comm->isReady && haveJoined(*comm->world))
      comm->isReady = true;
    if (comm->state == inProgress && comm->isReady && --comm->lag <= 0) {
      comm->state = fine;
      waiting.swap(comm->waiting);
    }
  }
  for (auto &steps : waiting)
    if (Code result = encode(*comm, std::move(steps)); result != fine)
      comm->state = result;
  Guard guard(fake().mutex);
  *code = comm->state;
  return fine;
}

Code ncclAllReduce(const void *from, void *to, size_t count, Type type,
                   Reduction reduction, CommunicatorHandle communicator,
                   StreamHandle stream) {
  {
    BEGIN("AllReduce");
  }
  return add(communicator, makeStep(Kind::AllReduce, from, to, count, type,
                                    reduction, 0, 0, stream));
}
Code ncclReduceScatter(const void *from, void *to, size_t count, Type type,
                       Reduction reduction, CommunicatorHandle communicator,
                       StreamHandle stream) {
  {
    BEGIN("ReduceScatter");
  }
  return add(communicator, makeStep(Kind::ReduceScatter, from, to, count, type,
                                    reduction, 0, 0, stream));
}
Code ncclAllGather(const void *from, void *to, size_t count, Type type,
                   CommunicatorHandle communicator, StreamHandle stream) {
  {
    BEGIN("AllGather");
  }
  return add(communicator,
             makeStep(Kind::AllGather, from, to, count, type, 0, 0, 0, stream));
}
Code ncclBroadcast(const void *from, void *to, size_t count, Type type,
                   int root, CommunicatorHandle communicator,
                   StreamHandle stream) {
  {
    BEGIN("Broadcast");
  }
  return add(communicator, makeStep(Kind::Broadcast, from, to, count, type, 0,
                                    root, 0, stream));
}
Code ncclSend(const void *from, size_t count, Type type, int peer,
              CommunicatorHandle communicator, StreamHandle stream) {
  {
    BEGIN("Send");
  }
  return add(communicator, makeStep(Kind::Send, from, nullptr, count, type, 0,
                                    0, peer, stream));
}
Code ncclRecv(void *to, size_t count, Type type, int peer,
              CommunicatorHandle communicator, StreamHandle stream) {
  {
    BEGIN("Recv");
  }
  return add(communicator, makeStep(Kind::Recv, nullptr, to, count, type, 0, 0,
                                    peer, stream));
}

Code ncclGroupStart() {
  BEGIN("GroupStart");
  ++depth;
  return fine;
}
Code ncclGroupEnd() {
  {
    BEGIN("GroupEnd");
  }
  if (!depth)
    return misuse(invalidUsage, "ncclGroupEnd without a group");
  if (--depth)
    return fine;
  std::map<Comm *, std::vector<Step>> all;
  for (auto &[comm, step] : grouped)
    all[comm].push_back(step);
  grouped.clear();
  Code worst = fine;
  for (auto &[comm, steps] : all)
    if (Code code = give(*comm, std::move(steps));
        code != fine && (worst == fine || worst == inProgress))
      worst = code;
  return worst;
}

const char *ncclGetErrorString(Code code) {
  static const char *const texts[] = {
      "no error",
      "unhandled cuda error",
      "unhandled system error",
      "internal error",
      "invalid argument",
      "invalid usage",
      "remote process exited or there was a network error",
      "in progress"};
  return unsigned(code) < 8 ? texts[code] : "unknown result code";
}
const char *ncclGetLastError(CommunicatorHandle handle) {
  Guard guard(fake().mutex);
  static thread_local std::string text;
  Comm *comm = find(handle);
  text = comm && !comm->error.empty() ? comm->error : lastError;
  return text.c_str();
}

uint64_t fakeNcclCount(const char *what) {
  Guard guard(fake().mutex);
  return strcmp(what, "communicators") == 0 ? fake().live
         : strcmp(what, "misuses") == 0     ? fake().misuses
                                            : fake().calls[what];
}
