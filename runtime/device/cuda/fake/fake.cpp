// libcuda.so.1 for machines without a GPU: the host's memory is the device's,
// kernels are interpreted, and streams run as late as they may: only when
// somebody waits for them. Whoever does not wait for what he needs gets it
// wrong.

#include "runtime/device/cuda/api.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/tensor_map.h"
#include "runtime/device/cuda/fake/control.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace alula::runtime::cuda;
namespace ptx = alula::ptx;

namespace {

struct Fake;

struct FakeContext {
  int device;
  int users = 0;
};
struct Memory {
  uint64_t bytes;
  int device; ///< -1: the host's
};
struct FakeGraph;
struct FakeStream {
  int device;
  /// What it is given goes there.
  FakeGraph *captured = nullptr;
  std::deque<std::function<void()>> commands;
  uint64_t encoded = 0, done = 0;
  bool isRunning = false;
  /// Of the command that runs: it is a loop, and has one more round.
  bool isAgain = false;
  /// Of the command that runs: it waits for what is not there yet.
  bool isBlocked = false;
};
struct FakeEvent {
  std::shared_ptr<FakeStream> stream;
  uint64_t wanted = 0;
};
struct FakeModule {
  std::unique_ptr<ptx::Module> module;
  int device;
};
struct FakeFunction {
  const ptx::Module *module;
  const ptx::Kernel *kernel;
  uint32_t mostShared = 48 << 10;
  uint64_t serial = 0;
};
struct FakePool {
  int device;
  std::set<int> users;
};

/// A graph is a chain here: each node comes after the one before it.
struct FakeNode {
  enum { Launch, Copy, Fill, Condition, Child, Captured } kind;
  KernelNode launch = {};
  std::vector<uint64_t> values;
  CopyNode copy = {};
  FillNode fill = {};
  int device = 0;
  /// Of the function: what is there later may be another one.
  uint64_t serial = 0;
  /// Of a condition: the word that kernels write, and what it decides about.
  uint64_t condition = 0;
  bool isLoop = false;
  /// What it decides about, or a graph as a node.
  std::shared_ptr<FakeGraph> body;
  std::function<void()> command;
};
struct FakeGraph {
  std::vector<std::shared_ptr<FakeNode>> nodes;
  /// Words that no node has yet, and all.
  std::set<uint64_t> freeConditions, conditions;
};
struct FakeGraphExec {
  std::vector<std::shared_ptr<FakeNode>> nodes;
  /// By the node that one was made of.
  std::map<const void *, FakeNode *> places;
};

/// What is changed later changes no copy.
std::shared_ptr<FakeNode> copyNode(const FakeNode &node,
                                   std::map<const void *, FakeNode *> *places) {
  auto made = std::make_shared<FakeNode>(node);
  if (places)
    (*places)[&node] = made.get();
  if (node.body) {
    made->body = std::make_shared<FakeGraph>();
    for (const auto &each : node.body->nodes)
      made->body->nodes.push_back(copyNode(*each, places));
  }
  return made;
}

struct Fake {
  std::recursive_mutex mutex;
  /// Something was encoded, or has run.
  std::condition_variable_any changed;
  uint32_t chip = 80, deviceCount = 2, version = 12040, threads = 1;
  Result sticky = success;
  std::string text;
  std::map<std::string, Result> failures;
  FakeContext contexts[16];
  std::map<uint64_t, Memory> memory;
  std::map<StreamHandle, std::shared_ptr<FakeStream>> streams;
  std::set<FakeEvent *> events;
  std::set<FakePool *> pools;
  std::set<FakeModule *> modules;
  std::map<std::pair<FakeModule *, std::string>, std::unique_ptr<FakeFunction>>
      functions;
  std::vector<std::unique_ptr<FakeFunction>> goneFunctions;
  uint64_t functionCount = 0;
  std::set<FakeGraph *> graphs;
  std::set<FakeGraphExec *> graphExecs;
  uint64_t launches = 0, instructions = 0, graphLaunches = 0, changedNodes = 0,
           cubins = 0, captures = 0;

  Fake() {
    auto read = [](const char *name, uint32_t &value) {
      if (const char *text = getenv(name))
        value = uint32_t(atoi(text));
    };
    read("FAKE_CUDA_CHIP", chip);
    read("FAKE_CUDA_DEVICES", deviceCount);
    read("FAKE_CUDA_VERSION", version);
    threads = std::max(std::thread::hardware_concurrency(), 1u);
    for (int i = 0; i < 16; ++i)
      contexts[i].device = i;
  }

  /// The allocation that has all of these bytes.
  const Memory *find(uint64_t address, uint64_t bytes,
                     uint64_t *begin = nullptr) {
    auto found = memory.upper_bound(address);
    if (found == memory.begin())
      return nullptr;
    --found;
    if (address - found->first > found->second.bytes ||
        bytes > found->second.bytes - (address - found->first))
      return nullptr;
    if (begin)
      *begin = found->first;
    return &found->second;
  }
  /// Of a device's own memory, or of the host's that is pinned.
  bool isDeviceMemory(uint64_t address, uint64_t bytes) {
    const Memory *found = find(address, bytes);
    return found && found->device >= 0;
  }
  bool isPinned(const void *address, uint64_t bytes) {
    const Memory *found = find(reinterpret_cast<uint64_t>(address), bytes);
    return found && found->device < 0;
  }

  /// Where one was that is gone, if there is such a place.
  std::unique_ptr<FakeFunction> makeFunction(const ptx::Module *module,
                                             const ptx::Kernel *kernel) {
    std::unique_ptr<FakeFunction> made;
    if (goneFunctions.empty()) {
      made.reset(new FakeFunction);
    } else {
      made = std::move(goneFunctions.front());
      goneFunctions.erase(goneFunctions.begin());
    }
    *made = {module, kernel};
    made->serial = ++functionCount;
    return made;
  }

  void *allocate(uint64_t bytes, int device) {
    if (bytes > uint64_t(1) << 40)
      return nullptr;
    void *made = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!made)
      return nullptr;
    // What nobody has written is not zero.
    memset(made, 0xCB, std::min<uint64_t>(bytes, 1 << 20));
    memory[reinterpret_cast<uint64_t>(made)] = {bytes, device};
    return made;
  }
  void release(uint64_t address) {
    memory.erase(address);
    free(reinterpret_cast<void *>(address));
  }

  void fault(Result result, const std::string &why) {
    if (sticky == success) {
      sticky = result;
      text = why;
    }
  }

  /// Runs a stream's commands up to this one.
  void run(const std::shared_ptr<FakeStream> &stream, uint64_t until) {
    // A stream that waits for itself has nothing to wait for.
    if (stream->isRunning)
      return;
    stream->isRunning = true;
    stream->isBlocked = false;
    while (stream->done < until && !stream->commands.empty() &&
           !stream->isBlocked)
      step(*stream);
    stream->isRunning = false;
  }
  /// One command, or one round of a loop.
  void step(FakeStream &stream) {
    auto command = std::move(stream.commands.front());
    stream.commands.pop_front();
    stream.isAgain = stream.isBlocked = false;
    if (sticky == success)
      command();
    if ((stream.isAgain || stream.isBlocked) && sticky == success)
      stream.commands.push_front(std::move(command));
    else
      ++stream.done;
    changed.notify_all();
  }
  /// Runs a stream until this command, whatever it waits for. The caller has
  /// the lock once.
  void await(const std::shared_ptr<FakeStream> &stream, uint64_t until) {
    run(stream, until);
    while (stream->done < until && sticky == success) {
      changed.wait_for(mutex, std::chrono::milliseconds(1));
      run(stream, until);
    }
  }
  void runAll() {
    for (auto &[handle, stream] : streams)
      run(stream, stream->encoded);
  }
};

Fake &fake() {
  static Fake *made = new Fake;
  return *made;
}

thread_local std::vector<FakeContext *> contextStack;

using Guard = std::lock_guard<std::recursive_mutex>;

/// An error that was asked for, or that has killed the context.
Result begin(const char *name) {
  auto found = fake().failures.find(name);
  if (found != fake().failures.end()) {
    Result result = found->second;
    fake().failures.erase(found);
    return result;
  }
  return fake().sticky;
}
#define BEGIN(name)                                                            \
  Guard guard(fake().mutex);                                                   \
  if (Result result = begin(name); result != success)                          \
  return result

Result needContext() { return contextStack.empty() ? invalidContext : success; }

std::shared_ptr<FakeStream> findStream(StreamHandle handle) {
  auto found = fake().streams.find(handle);
  return found == fake().streams.end() ? nullptr : found->second;
}
Result encode(StreamHandle handle, std::function<void()> command) {
  auto stream = findStream(handle);
  if (!stream)
    return invalidHandle;
  if (contextStack.empty() || contextStack.back()->device != stream->device)
    return invalidContext;
  if (stream->captured) {
    auto node = std::make_shared<FakeNode>();
    node->kind = FakeNode::Captured;
    node->device = stream->device;
    node->command = std::move(command);
    stream->captured->nodes.push_back(std::move(node));
    return success;
  }
  stream->commands.push_back(std::move(command));
  ++stream->encoded;
  fake().changed.notify_all();
  return success;
}

// ---- Devices and contexts ----

Result Init(unsigned) { return success; }
Result DriverGetVersion(int *version) {
  *version = int(fake().version);
  return success;
}
Result DeviceGetCount(int *count) {
  BEGIN("DeviceGetCount");
  *count = int(fake().deviceCount);
  return *count ? success : noDevice;
}
Result DeviceGet(DeviceNumber *device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && uint32_t(ordinal) < fake().deviceCount ? success
                                                                : invalidValue;
}
Result DeviceGetAttribute(int *value, int attribute, DeviceNumber) {
  switch (attribute) {
  case capabilityMajor:
    *value = int(fake().chip / 10);
    return success;
  case capabilityMinor:
    *value = int(fake().chip % 10);
    return success;
  case sharedBytesOptin:
    *value = fake().chip >= 90 ? 227 << 10 : 163 << 10;
    return success;
  case memoryPools:
    *value = 1;
    return success;
  default:
    *value = 0;
    return invalidValue;
  }
}
/// No two processes have the same GPU.
Result DeviceGetUuid(uint8_t *uuid, DeviceNumber device) {
  auto number = uint32_t(getpid());
  memset(uuid, 0xA1, 16);
  memcpy(uuid, &number, sizeof number);
  memcpy(uuid + 8, &device, sizeof device);
  return success;
}
Result DevicePrimaryCtxRetain(ContextHandle *context, DeviceNumber device) {
  BEGIN("DevicePrimaryCtxRetain");
  ++fake().contexts[device].users;
  *context = reinterpret_cast<ContextHandle>(&fake().contexts[device]);
  return success;
}
Result DevicePrimaryCtxRelease(DeviceNumber device) {
  Guard guard(fake().mutex);
  FakeContext &context = fake().contexts[device];
  if (context.users <= 0)
    return invalidContext;
  --context.users;
  return success;
}
Result CtxPushCurrent(ContextHandle context) {
  contextStack.push_back(reinterpret_cast<FakeContext *>(context));
  return success;
}
Result CtxPopCurrent(ContextHandle *context) {
  if (contextStack.empty())
    return invalidContext;
  *context = reinterpret_cast<ContextHandle>(contextStack.back());
  contextStack.pop_back();
  return success;
}
Result DeviceCanAccessPeer(int *can, DeviceNumber, DeviceNumber) {
  *can = 1;
  return success;
}

// ---- Memory ----

Result MemPoolCreate(PoolHandle *pool, const PoolProperties *properties) {
  BEGIN("MemPoolCreate");
  if (properties->allocationType != 1 || properties->location.type != 1)
    return invalidValue;
  auto *made = new FakePool{properties->location.id, {properties->location.id}};
  fake().pools.insert(made);
  *pool = reinterpret_cast<PoolHandle>(made);
  return success;
}
Result MemPoolDestroy(PoolHandle pool) {
  Guard guard(fake().mutex);
  auto *mine = reinterpret_cast<FakePool *>(pool);
  if (!fake().pools.erase(mine))
    return invalidValue;
  delete mine;
  return success;
}
Result MemPoolSetAttribute(PoolHandle, int attribute, void *) {
  return attribute == poolReleaseThreshold ? success : invalidValue;
}
Result MemPoolSetAccess(PoolHandle pool, const PoolAccess *access,
                        size_t count) {
  Guard guard(fake().mutex);
  for (size_t i = 0; i < count; ++i)
    reinterpret_cast<FakePool *>(pool)->users.insert(access[i].location.id);
  return success;
}
Result MemAllocFromPoolAsync(DeviceAddress *address, size_t bytes,
                             PoolHandle pool, StreamHandle stream) {
  BEGIN("MemAllocFromPoolAsync");
  if (!findStream(stream) || !bytes)
    return invalidValue;
  void *made =
      fake().allocate(bytes, reinterpret_cast<FakePool *>(pool)->device);
  if (!made)
    return outOfMemory;
  *address = reinterpret_cast<DeviceAddress>(made);
  return success;
}
Result MemFreeAsync(DeviceAddress address, StreamHandle stream) {
  Guard guard(fake().mutex);
  if (!fake().memory.count(address))
    return invalidValue;
  // Even where an error has stopped all else, memory is given back.
  if (fake().sticky != success) {
    fake().release(address);
    return fake().sticky;
  }
  return encode(stream, [address] { fake().release(address); });
}
Result MemHostAlloc(void **memory, size_t bytes, unsigned) {
  BEGIN("MemHostAlloc");
  if (Result result = needContext())
    return result;
  *memory = fake().allocate(bytes, -1);
  return *memory ? success : outOfMemory;
}
Result MemFreeHost(void *memory) {
  Guard guard(fake().mutex);
  auto address = reinterpret_cast<uint64_t>(memory);
  if (!fake().memory.count(address))
    return invalidValue;
  fake().runAll();
  fake().release(address);
  return success;
}
Result PointerGetAttribute(void *value, int attribute, DeviceAddress address) {
  BEGIN("PointerGetAttribute");
  uint64_t first;
  const Memory *found = fake().find(address, 1, &first);
  if (!found)
    return invalidValue;
  switch (attribute) {
  case pointerType:
    *static_cast<unsigned *>(value) = found->device < 0 ? 1 : 2;
    return success;
  case pointerDevice:
    *static_cast<int *>(value) = found->device;
    return success;
  case rangeStart:
    *static_cast<DeviceAddress *>(value) = first;
    return success;
  case rangeSize:
    *static_cast<size_t *>(value) = found->bytes;
    return success;
  default:
    return invalidValue;
  }
}

void *at(DeviceAddress address) { return reinterpret_cast<void *>(address); }

/// Whether the device may touch these bytes when the command runs.
bool check(const char *what, DeviceAddress address, uint64_t bytes) {
  if (fake().find(address, bytes))
    return true;
  char text[200];
  snprintf(text, sizeof text, "%s: %llu bytes at %#llx, where no memory is",
           what, static_cast<unsigned long long>(bytes),
           static_cast<unsigned long long>(address));
  fake().fault(illegalAddress, text);
  return false;
}

/// Addresses that nobody has given out are those of other memory of the host,
/// which is read at once, and written before this returns.
Result MemcpyAsync(DeviceAddress to, DeviceAddress from, size_t bytes,
                   StreamHandle stream) {
  BEGIN("MemcpyAsync");
  if (to < from + bytes && from < to + bytes)
    return invalidValue; // not defined
  bool isTargetKnown = fake().find(to, bytes);
  if (!fake().find(from, bytes)) {
    if (!isTargetKnown)
      return invalidValue;
    auto copy = std::make_shared<std::string>(
        static_cast<const char *>(at(from)), bytes);
    return encode(stream, [=] {
      if (check("a copy", to, bytes))
        memcpy(at(to), copy->data(), bytes);
    });
  }
  Result result = encode(stream, [=] {
    if (check("a copy", from, bytes) &&
        (!isTargetKnown || check("a copy", to, bytes)))
      memcpy(at(to), at(from), bytes);
  });
  if (result == success && !isTargetKnown) {
    auto mine = findStream(stream);
    fake().await(mine, mine->encoded);
    result = fake().sticky;
  }
  return result;
}
Result MemcpyPeerAsync(DeviceAddress to, ContextHandle toContext,
                       DeviceAddress from, ContextHandle fromContext,
                       size_t bytes, StreamHandle stream) {
  BEGIN("MemcpyPeerAsync");
  const Memory *target = fake().find(to, bytes),
               *source = fake().find(from, bytes);
  if (!target || !source ||
      target->device != reinterpret_cast<FakeContext *>(toContext)->device ||
      source->device != reinterpret_cast<FakeContext *>(fromContext)->device)
    return invalidValue;
  return encode(stream, [=] {
    if (check("a copy", to, bytes) && check("a copy", from, bytes))
      memmove(at(to), at(from), bytes);
  });
}
template <class T>
Result fill(DeviceAddress to, T value, size_t count, size_t stride,
            StreamHandle stream) {
  uint64_t bytes = count ? (count - 1) * stride + sizeof(T) : 0;
  if (to % sizeof(T) || !fake().find(to, bytes))
    return invalidValue;
  return encode(stream, [=] {
    if (check("a fill", to, bytes))
      for (size_t i = 0; i < count; ++i)
        memcpy(static_cast<char *>(at(to)) + i * stride, &value, sizeof(T));
  });
}
Result MemsetD8Async(DeviceAddress to, unsigned char value, size_t count,
                     StreamHandle stream) {
  BEGIN("MemsetD8Async");
  return fill(to, value, count, 1, stream);
}
Result MemsetD16Async(DeviceAddress to, unsigned short value, size_t count,
                      StreamHandle stream) {
  BEGIN("MemsetD16Async");
  return fill(to, value, count, 2, stream);
}
Result MemsetD32Async(DeviceAddress to, unsigned value, size_t count,
                      StreamHandle stream) {
  BEGIN("MemsetD32Async");
  return fill(to, value, count, 4, stream);
}
Result MemsetD2D32Async(DeviceAddress to, size_t pitch, unsigned value,
                        size_t width, size_t height, StreamHandle stream) {
  BEGIN("MemsetD2D32Async");
  return width == 1 && pitch % 4 == 0 ? fill(to, value, height, pitch, stream)
                                      : invalidValue;
}

// ---- Streams and events ----

Result StreamCreate(StreamHandle *stream, unsigned) {
  BEGIN("StreamCreate");
  if (Result result = needContext())
    return result;
  auto made = std::make_shared<FakeStream>();
  made->device = contextStack.back()->device;
  *stream = reinterpret_cast<StreamHandle>(made.get());
  fake().streams[*stream] = made;
  return success;
}
Result StreamSynchronize(StreamHandle handle) {
  BEGIN("StreamSynchronize");
  auto stream = findStream(handle);
  if (!stream)
    return invalidHandle;
  // Nobody may wait for a stream that captures.
  if (stream->captured)
    return invalidValue;
  fake().await(stream, stream->encoded);
  return fake().sticky;
}
Result StreamBeginCapture(StreamHandle handle, int mode) {
  BEGIN("StreamBeginCapture");
  auto stream = findStream(handle);
  if (!stream || stream->captured || mode != captureRelaxed)
    return invalidValue;
  stream->captured = new FakeGraph;
  fake().graphs.insert(stream->captured);
  ++fake().captures;
  return success;
}
Result StreamEndCapture(StreamHandle handle, GraphHandle *graph) {
  BEGIN("StreamEndCapture");
  auto stream = findStream(handle);
  if (!stream || !stream->captured)
    return invalidValue;
  *graph = reinterpret_cast<GraphHandle>(stream->captured);
  stream->captured = nullptr;
  return success;
}
Result StreamDestroy(StreamHandle handle) {
  Guard guard(fake().mutex);
  auto stream = findStream(handle);
  if (!stream)
    return invalidHandle;
  fake().run(stream, stream->encoded);
  fake().streams.erase(handle);
  return success;
}
Result StreamWaitEvent(StreamHandle handle, EventHandle event, unsigned) {
  BEGIN("StreamWaitEvent");
  FakeEvent now = *reinterpret_cast<FakeEvent *>(event);
  if (!now.stream)
    return findStream(handle) ? success : invalidHandle;
  FakeStream *self = findStream(handle).get();
  return encode(handle, [now, self] {
    fake().run(now.stream, now.wanted);
    self->isBlocked = !now.stream->isRunning && now.stream->done < now.wanted;
  });
}
Result EventCreate(EventHandle *event, unsigned) {
  BEGIN("EventCreate");
  if (Result result = needContext())
    return result;
  auto *made = new FakeEvent;
  fake().events.insert(made);
  *event = reinterpret_cast<EventHandle>(made);
  return success;
}
Result EventDestroy(EventHandle event) {
  Guard guard(fake().mutex);
  auto *mine = reinterpret_cast<FakeEvent *>(event);
  if (!fake().events.erase(mine))
    return invalidHandle;
  delete mine;
  return success;
}
Result EventRecord(EventHandle event, StreamHandle handle) {
  BEGIN("EventRecord");
  auto stream = findStream(handle);
  if (!stream)
    return invalidHandle;
  *reinterpret_cast<FakeEvent *>(event) = {stream, stream->encoded};
  return success;
}
/// Each question lets the stream do one thing more.
Result EventQuery(EventHandle event) {
  BEGIN("EventQuery");
  auto &mine = *reinterpret_cast<FakeEvent *>(event);
  if (!mine.stream || mine.stream->done >= mine.wanted)
    return success;
  if (!mine.stream->isRunning && !mine.stream->commands.empty()) {
    mine.stream->isRunning = true;
    fake().step(*mine.stream);
    mine.stream->isRunning = false;
  }
  if (fake().sticky != success)
    return fake().sticky;
  return mine.stream->done >= mine.wanted ? success : notReady;
}
Result EventSynchronize(EventHandle event) {
  BEGIN("EventSynchronize");
  auto &mine = *reinterpret_cast<FakeEvent *>(event);
  if (mine.stream)
    fake().await(mine.stream, mine.wanted);
  return fake().sticky;
}

// ---- Code ----

/// Machine code of the ptxas that tests have: an ELF file's first bytes,
/// "sm_86" and the text that it was made of. `text` is then that.
bool runsCubin(const char *&text) {
  unsigned chip = 0;
  int length = 0;
  char suffix = 0;
  if (sscanf(text + 4, " sm_%u%c%n", &chip, &suffix, &length) < 2)
    return false;
  if (suffix == 'a' ? chip != fake().chip
                    : suffix != '\n' || chip / 10 != fake().chip / 10 ||
                          chip > fake().chip)
    return false;
  text += 4 + length;
  return true;
}

Result ModuleLoadDataEx(ModuleHandle *module, const void *image, unsigned count,
                        int *options, void **values) {
  BEGIN("ModuleLoadDataEx");
  if (Result result = needContext())
    return result;
  char *log = nullptr;
  size_t logBytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == errorLog)
      log = static_cast<char *>(values[i]);
    if (options[i] == errorLogBytes)
      logBytes = reinterpret_cast<size_t>(values[i]);
  }
  const char *text = static_cast<const char *>(image);
  if (memcmp(text,
             "\x7F"
             "ELF",
             4) == 0) {
    if (!runsCubin(text))
      return noBinary;
    ++fake().cubins;
  }
  std::string error;
  // What the driver links in; a condition is the address of its word.
  std::string linked;
  if (strstr(text, ".extern .func cudaGraphSetConditional") &&
      fake().version >= 12030) {
    linked = std::string(text) + R"(
.visible .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [condition];
  ld.param.u32 %r1, [value];
  st.global.u32 [%d1], %r1;
  ret;
}
)";
    text = linked.c_str();
  }
  auto made = ptx::parseModule(text, error);
  if (!made) {
    if (log)
      snprintf(log, logBytes, "ptxas application ptx input, %s\n",
               error.c_str());
    return invalidPtx;
  }
  // 11.0 reads 7.0, 12.0 reads 8.0.
  uint32_t major = fake().version / 1000 - 4,
           minor = fake().version % 1000 / 10;
  if (made->versionMajor > major ||
      (made->versionMajor == major && made->versionMinor > minor))
    return unsupportedPtxVersion;
  char *end;
  unsigned long chip = made->target.starts_with("sm_")
                           ? strtoul(made->target.c_str() + 3, &end, 10)
                           : 999;
  if (chip > fake().chip || (*end == 'a' && chip != fake().chip))
    return noBinary;
  auto *mine = new FakeModule{std::move(made), contextStack.back()->device};
  fake().modules.insert(mine);
  *module = reinterpret_cast<ModuleHandle>(mine);
  return success;
}
Result ModuleUnload(ModuleHandle module) {
  Guard guard(fake().mutex);
  auto *mine = reinterpret_cast<FakeModule *>(module);
  if (!fake().modules.erase(mine))
    return invalidHandle;
  fake().runAll();
  auto &functions = fake().functions;
  for (auto each = functions.begin(); each != functions.end();) {
    if (each->first.first != mine) {
      ++each;
      continue;
    }
    each->second->serial = 0;
    fake().goneFunctions.push_back(std::move(each->second));
    each = functions.erase(each);
  }
  delete mine;
  return success;
}
Result ModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                         const char *name) {
  BEGIN("ModuleGetFunction");
  auto *mine = reinterpret_cast<FakeModule *>(module);
  auto found = mine->module->kernels.find(name);
  if (found == mine->module->kernels.end())
    return notFound;
  auto &made = fake().functions[{mine, name}];
  if (!made)
    made = fake().makeFunction(mine->module.get(), &found->second);
  *function = reinterpret_cast<FunctionHandle>(made.get());
  return success;
}
Result FuncSetAttribute(FunctionHandle function, int attribute, int value) {
  BEGIN("FuncSetAttribute");
  int most;
  DeviceGetAttribute(&most, sharedBytesOptin, 0);
  if (attribute != maxDynamicShared || value < 0 || value > most)
    return invalidValue;
  reinterpret_cast<FakeFunction *>(function)->mostShared = uint32_t(value);
  return success;
}

bool findMemory(void *, uint64_t address, uint64_t *begin, uint64_t *end) {
  // Nobody changes the table while a launch runs: it holds the lock.
  const Memory *found = fake().find(address, 1, begin);
  if (!found)
    return false;
  *end = *begin + found->bytes;
  return true;
}

Result getResult(ptx::FaultKind kind) {
  switch (kind) {
  case ptx::FaultKind::none:
    return success;
  case ptx::FaultKind::illegalAddress:
    return illegalAddress;
  case ptx::FaultKind::misaligned:
    return misalignedAddress;
  case ptx::FaultKind::timeout:
  case ptx::FaultKind::deadlock:
    return launchTimeout;
  case ptx::FaultKind::trap:
    return illegalInstruction;
  default:
    return launchFailed;
  }
}

Result LaunchKernelEx(const LaunchConfig *config, FunctionHandle handle,
                      void **parameters, void **) {
  BEGIN("LaunchKernelEx");
  auto &function = *reinterpret_cast<FakeFunction *>(handle);
  const ptx::Kernel &kernel = *function.kernel;
  uint64_t threads =
      uint64_t(config->block[0]) * config->block[1] * config->block[2];
  if (!config->grid[0] || !config->grid[1] || !config->grid[2] || !threads ||
      threads > 1024 || config->block[2] > 64 || config->grid[1] > 65535 ||
      config->grid[2] > 65535)
    return invalidValue;
  if (kernel.requiredBlock[0] && memcmp(kernel.requiredBlock, config->block,
                                        sizeof kernel.requiredBlock) != 0)
    return invalidValue;
  if (kernel.maxThreads && threads > kernel.maxThreads)
    return invalidValue;
  if (config->sharedBytes > function.mostShared ||
      config->sharedBytes + kernel.sharedBytes >
          std::max(function.mostShared, 48u << 10))
    return invalidValue;
  auto values =
      std::make_shared<std::vector<uint8_t>>(kernel.parameterBytes + 8);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    memcpy(values->data() + kernel.parameters[i].offset, parameters[i],
           kernel.parameters[i].bytes);
  ptx::Launch launch;
  launch.module = function.module;
  launch.kernel = function.kernel;
  memcpy(launch.grid, config->grid, sizeof launch.grid);
  memcpy(launch.block, config->block, sizeof launch.block);
  launch.sharedBytes = config->sharedBytes;
  launch.memory = {nullptr, findMemory};
  launch.threads = fake().threads;
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    if (config->attributes[i].id == launchCooperative)
      launch.isCooperative = config->attributes[i].value.cooperative;
    else
      return invalidValue;
  }
  ++fake().launches;
  return encode(config->stream, [launch, values]() mutable {
    launch.parameters = values->data();
    uint64_t instructions = 0;
    ptx::Fault fault = ptx::runLaunch(launch, &instructions);
    fake().instructions += instructions;
    if (fault.kind != ptx::FaultKind::none)
      fake().fault(getResult(fault.kind), fault.text);
  });
}
Result LaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY,
                    unsigned gridZ, unsigned blockX, unsigned blockY,
                    unsigned blockZ, unsigned sharedBytes, StreamHandle stream,
                    void **parameters, void **extra) {
  LaunchConfig config = {{gridX, gridY, gridZ},
                         {blockX, blockY, blockZ},
                         sharedBytes,
                         stream,
                         nullptr,
                         0};
  return LaunchKernelEx(&config, function, parameters, extra);
}

// ---- Graphs ----

Result GraphCreate(GraphHandle *graph, unsigned flags) {
  BEGIN("GraphCreate");
  auto *made = new FakeGraph;
  fake().graphs.insert(made);
  *graph = reinterpret_cast<GraphHandle>(made);
  return flags ? invalidValue : success;
}
FakeGraph *findGraph(GraphHandle graph) {
  auto *mine = reinterpret_cast<FakeGraph *>(graph);
  return fake().graphs.count(mine) ? mine : nullptr;
}
/// With all graphs of nodes in it.
void forget(FakeGraph *graph) {
  fake().graphs.erase(graph);
  for (uint64_t condition : graph->conditions)
    fake().release(condition);
  for (const auto &node : graph->nodes)
    if (node->body)
      forget(node->body.get());
}
Result GraphDestroy(GraphHandle graph) {
  Guard guard(fake().mutex);
  FakeGraph *mine = findGraph(graph);
  if (!mine)
    return invalidValue;
  fake().runAll();
  forget(mine);
  delete mine;
  return success;
}

/// Parameters are read when a node is described.
Result describe(FakeNode &node, const KernelNode *launch) {
  const ptx::Kernel &kernel =
      *reinterpret_cast<FakeFunction *>(launch->function)->kernel;
  if (launch->extra || launch->kernel || !launch->grid[0] || !launch->block[0])
    return invalidValue;
  node.launch = *launch;
  node.serial = reinterpret_cast<FakeFunction *>(launch->function)->serial;
  node.values.assign(kernel.parameters.size(), 0);
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].bytes > sizeof(uint64_t))
      return invalidValue;
    memcpy(&node.values[i], launch->parameters[i], kernel.parameters[i].bytes);
  }
  return success;
}
Result describe(FakeNode &node, const CopyNode *copy) {
  for (const CopyEnd &end : {copy->from, copy->to})
    if (end.type != unifiedMemory || end.x || end.y || end.z || end.host ||
        end.array || !fake().find(end.address, copy->width))
      return invalidValue;
  if (copy->height != 1 || copy->depth != 1 || !copy->width)
    return invalidValue;
  node.copy = *copy;
  return success;
}
Result describe(FakeNode &node, const FillNode *fill) {
  uint64_t pitch = fill->height > 1 ? fill->pitch : 0;
  uint64_t bytes =
      (fill->height - 1) * pitch + fill->width * fill->elementBytes;
  if (!fill->width || !fill->height || !fake().find(fill->to, bytes) ||
      fill->to % fill->elementBytes ||
      (fill->elementBytes != 1 && fill->elementBytes != 2 &&
       fill->elementBytes != 4))
    return invalidValue;
  node.fill = *fill;
  return success;
}

Result describe(FakeNode &node, const NodeParameters *parameters) {
  const ConditionNode &condition = parameters->condition;
  if (parameters->type != conditionNode || condition.graphCount != 1)
    return invalidValue;
  node.condition = condition.condition;
  node.isLoop = condition.isLoop;
  node.body = std::make_shared<FakeGraph>();
  return success;
}

/// A copy: what becomes of the other graph is nothing to it.
Result describe(FakeNode &node, const FakeGraph *child) {
  node.body = std::make_shared<FakeGraph>();
  for (const auto &each : child->nodes)
    node.body->nodes.push_back(copyNode(*each, nullptr));
  return success;
}

template <class Description>
Result addNode(NodeHandle *node, GraphHandle graph, const NodeHandle *before,
               size_t count, const Description *description,
               decltype(FakeNode::kind) kind) {
  FakeGraph *mine = findGraph(graph);
  if (!mine)
    return invalidValue;
  // Nothing says that others may run at the same time.
  if (count != (mine->nodes.empty() ? 0 : 1) ||
      (count &&
       *before != reinterpret_cast<NodeHandle>(mine->nodes.back().get())))
    return invalidValue;
  if (contextStack.empty())
    return invalidContext;
  auto made = std::make_shared<FakeNode>();
  made->kind = kind;
  made->device = contextStack.back()->device;
  Result result = describe(*made, description);
  // A condition is for one node, in the graph that it was made for.
  if (result == success && kind == FakeNode::Condition &&
      !mine->freeConditions.erase(made->condition))
    return invalidValue;
  if (result != success)
    return result;
  *node = reinterpret_cast<NodeHandle>(made.get());
  mine->nodes.push_back(std::move(made));
  return success;
}
Result GraphConditionalHandleCreate(ConditionHandle *condition,
                                    GraphHandle graph, ContextHandle context,
                                    unsigned, unsigned flags) {
  BEGIN("GraphConditionalHandleCreate");
  FakeGraph *mine = findGraph(graph);
  if (!mine || flags)
    return invalidValue;
  void *word = fake().allocate(
      sizeof(uint32_t), reinterpret_cast<FakeContext *>(context)->device);
  *condition = reinterpret_cast<ConditionHandle>(word);
  mine->freeConditions.insert(*condition);
  mine->conditions.insert(*condition);
  return success;
}
Result GraphAddNode(NodeHandle *node, GraphHandle graph,
                    const NodeHandle *before, size_t count,
                    NodeParameters *parameters) {
  BEGIN("GraphAddNode");
  Result result =
      addNode(node, graph, before, count, parameters, FakeNode::Condition);
  if (result != success)
    return result;
  static thread_local GraphHandle made;
  FakeGraph *body = findGraph(graph)->nodes.back()->body.get();
  made = reinterpret_cast<GraphHandle>(body);
  fake().graphs.insert(body);
  parameters->condition.graphs = &made;
  return success;
}
Result GraphAddKernelNode(NodeHandle *node, GraphHandle graph,
                          const NodeHandle *before, size_t count,
                          const KernelNode *launch) {
  BEGIN("GraphAddKernelNode");
  return addNode(node, graph, before, count, launch, FakeNode::Launch);
}
Result GraphAddMemcpyNode(NodeHandle *node, GraphHandle graph,
                          const NodeHandle *before, size_t count,
                          const CopyNode *copy, ContextHandle) {
  BEGIN("GraphAddMemcpyNode");
  return addNode(node, graph, before, count, copy, FakeNode::Copy);
}
Result GraphAddMemsetNode(NodeHandle *node, GraphHandle graph,
                          const NodeHandle *before, size_t count,
                          const FillNode *fill, ContextHandle) {
  BEGIN("GraphAddMemsetNode");
  return addNode(node, graph, before, count, fill, FakeNode::Fill);
}
Result GraphAddChildGraphNode(NodeHandle *node, GraphHandle graph,
                              const NodeHandle *before, size_t count,
                              GraphHandle child) {
  BEGIN("GraphAddChildGraphNode");
  FakeGraph *mine = findGraph(child);
  return mine ? addNode(node, graph, before, count, mine, FakeNode::Child)
              : invalidValue;
}
Result GraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle graph,
                                 uint64_t flags) {
  BEGIN("GraphInstantiateWithFlags");
  auto *mine = reinterpret_cast<FakeGraph *>(graph);
  if (flags || !fake().graphs.count(mine))
    return invalidValue;
  auto *made = new FakeGraphExec;
  for (const auto &node : mine->nodes)
    made->nodes.push_back(copyNode(*node, &made->places));
  fake().graphExecs.insert(made);
  *exec = reinterpret_cast<GraphExecHandle>(made);
  return success;
}
Result GraphExecDestroy(GraphExecHandle exec) {
  Guard guard(fake().mutex);
  auto *mine = reinterpret_cast<FakeGraphExec *>(exec);
  if (!fake().graphExecs.erase(mine))
    return invalidValue;
  delete mine;
  return success;
}

/// Whether a launch's module is still loaded.
bool isThere(const FakeNode &node) {
  if (node.kind != FakeNode::Launch ||
      reinterpret_cast<FakeFunction *>(node.launch.function)->serial ==
          node.serial)
    return true;
  fake().fault(launchFailed, "a graph has a kernel that is gone");
  return false;
}

template <class Description>
Result setNode(GraphExecHandle exec, NodeHandle handle,
               const Description *description) {
  auto *mine = reinterpret_cast<FakeGraphExec *>(exec);
  if (!fake().graphExecs.count(mine))
    return invalidValue;
  auto found = mine->places.find(handle);
  if (found == mine->places.end())
    return invalidValue;
  FakeNode &node = *found->second;
  if (!isThere(node))
    return fake().sticky;
  // The memory of a copy stays of the kind that it was.
  if constexpr (std::is_same_v<Description, CopyNode>)
    for (auto end : {&CopyNode::from, &CopyNode::to}) {
      const Memory *was = fake().find((node.copy.*end).address, 1),
                   *is = fake().find((description->*end).address, 1);
      if (!is || (was && was->device != is->device))
        return invalidValue;
    }
  ++fake().changedNodes;
  return describe(node, description);
}
Result GraphExecKernelNodeSetParams(GraphExecHandle exec, NodeHandle node,
                                    const KernelNode *launch) {
  BEGIN("GraphExecKernelNodeSetParams");
  return setNode(exec, node, launch);
}
Result GraphExecMemcpyNodeSetParams(GraphExecHandle exec, NodeHandle node,
                                    const CopyNode *copy, ContextHandle) {
  BEGIN("GraphExecMemcpyNodeSetParams");
  return setNode(exec, node, copy);
}
Result GraphExecMemsetNodeSetParams(GraphExecHandle exec, NodeHandle node,
                                    const FillNode *fill, ContextHandle) {
  BEGIN("GraphExecMemsetNodeSetParams");
  return setNode(exec, node, fill);
}

Result GraphExecChildGraphNodeSetParams(GraphExecHandle exec, NodeHandle node,
                                        GraphHandle child) {
  BEGIN("GraphExecChildGraphNodeSetParams");
  FakeGraph *mine = findGraph(child);
  auto *whole = reinterpret_cast<FakeGraphExec *>(exec);
  if (!mine || !fake().graphExecs.count(whole) || !whole->places.count(node))
    return invalidValue;
  // Nodes stay as many as they were.
  const FakeNode &was = *whole->places[node];
  if (was.kind != FakeNode::Child ||
      was.body->nodes.size() != mine->nodes.size())
    return invalidValue;
  return setNode(exec, node, mine);
}

Result launchNode(FakeNode &node, StreamHandle stream);

/// Runs a body to its end, in a stream of its own.
void runBody(FakeGraph &body, int device) {
  auto stream = std::make_shared<FakeStream>();
  stream->device = device;
  auto handle = reinterpret_cast<StreamHandle>(stream.get());
  fake().streams[handle] = stream;
  contextStack.push_back(&fake().contexts[device]);
  for (const auto &node : body.nodes)
    if (Result result = launchNode(*node, handle); result != success)
      fake().fault(result, "a graph in a graph can't be launched");
  fake().run(stream, stream->encoded);
  contextStack.pop_back();
  fake().streams.erase(handle);
}

Result launchNode(FakeNode &node, StreamHandle stream) {
  if (node.kind == FakeNode::Condition) {
    // What it is when the graph is launched.
    auto kept = copyNode(node, nullptr);
    FakeStream *runs = findStream(stream).get();
    return encode(stream, [kept, runs] {
      if (!*reinterpret_cast<const uint32_t *>(kept->condition))
        return;
      runBody(*kept->body, kept->device);
      runs->isAgain = kept->isLoop;
    });
  }
  if (node.kind == FakeNode::Copy)
    return MemcpyAsync(node.copy.to.address, node.copy.from.address,
                       node.copy.width, stream);
  if (node.kind == FakeNode::Fill) {
    const FillNode &what = node.fill;
    size_t count = what.height > 1 ? what.height : what.width;
    size_t stride = what.height > 1 ? what.pitch : what.elementBytes;
    return what.elementBytes == 1
               ? fill(what.to, uint8_t(what.value), count, stride, stream)
           : what.elementBytes == 2
               ? fill(what.to, uint16_t(what.value), count, stride, stream)
               : fill(what.to, uint32_t(what.value), count, stride, stream);
  }
  if (node.kind == FakeNode::Captured)
    return encode(stream, node.command);
  if (node.kind == FakeNode::Child) {
    for (const auto &each : node.body->nodes)
      if (Result result = launchNode(*each, stream); result != success)
        return result;
    return success;
  }
  std::vector<void *> parameters;
  for (uint64_t &value : node.values)
    parameters.push_back(&value);
  if (!isThere(node))
    return fake().sticky;
  LaunchConfig config = {};
  memcpy(config.grid, node.launch.grid, sizeof config.grid);
  memcpy(config.block, node.launch.block, sizeof config.block);
  config.sharedBytes = node.launch.sharedBytes;
  config.stream = stream;
  return LaunchKernelEx(&config, node.launch.function, parameters.data(),
                        nullptr);
}
Result GraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  BEGIN("GraphLaunch");
  auto *mine = reinterpret_cast<FakeGraphExec *>(exec);
  if (!fake().graphExecs.count(mine))
    return invalidValue;
  ++fake().graphLaunches;
  for (const auto &node : mine->nodes)
    if (Result result = launchNode(*node, stream); result != success)
      return result;
  return success;
}

Result GetErrorName(Result result, const char **text) {
  static const struct {
    Result result;
    const char *name;
  } names[] = {{invalidValue, "CUDA_ERROR_INVALID_VALUE"},
               {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
               {noDevice, "CUDA_ERROR_NO_DEVICE"},
               {invalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
               {noBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
               {invalidPtx, "CUDA_ERROR_INVALID_PTX"},
               {unsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
               {invalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
               {notFound, "CUDA_ERROR_NOT_FOUND"},
               {illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
               {launchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT"},
               {illegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
               {misalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS"},
               {launchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
  *text = nullptr;
  for (const auto &each : names)
    if (each.result == result)
      *text = each.name;
  return *text ? success : invalidValue;
}
/// Of an error that has killed the context: what really happened.
Result GetErrorString(Result result, const char **text) {
  Guard guard(fake().mutex);
  static thread_local std::string copy;
  copy = result == fake().sticky && !fake().text.empty() ? fake().text
                                                         : "no more is known";
  *text = copy.c_str();
  return success;
}
} // namespace

/// Nothing of ours asks for it; kernels of others that get tensor maps do.
static Result TensorMapEncodeTiled(ptx::TensorMap *map, int type, uint32_t rank,
                                   void *address, const uint64_t *sizes,
                                   const uint64_t *strides, const uint32_t *box,
                                   const uint32_t *elementStrides,
                                   int interleave, int swizzle, int promotion,
                                   int fill) {
  bool isPlaced = map && reinterpret_cast<uintptr_t>(map) % 64 == 0;
  return isPlaced && !ptx::encodeTensorMap(
                         {type, rank, reinterpret_cast<uint64_t>(address),
                          sizes, strides, box, elementStrides, interleave,
                          swizzle, promotion, fill},
                         *map)
             ? success
             : invalidValue;
}

extern "C" __attribute__((visibility("default"))) Result cuGetProcAddress_v2(
    const char *name, void **function, int version, uint64_t flags, int *found);
extern "C" Result cuGetProcAddress_v2(const char *name, void **function,
                                      int version, uint64_t, int *found) {
  static const struct {
    const char *name;
    void *function;
  } table[] = {
#define X(name, parameters) {"cu" #name, reinterpret_cast<void *>(name)},
      ALULA_FOR_EACH_CUDA_FUNCTION(X)
#undef X
  };
  static const struct {
    const char *name;
    int version;
    void *function;
  } later[] = {
#define X(name, version, parameters)                                           \
  {"cu" #name, version, reinterpret_cast<void *>(name)},
      ALULA_FOR_EACH_LATER_CUDA_FUNCTION(X)
#undef X
  };
  *function = nullptr;
  if (strcmp(name, "cuTensorMapEncodeTiled") == 0 && version >= 12000)
    *function = reinterpret_cast<void *>(TensorMapEncodeTiled);
  for (const auto &each : later)
    if (strcmp(each.name, name) == 0 && version >= each.version &&
        int(fake().version) >= each.version)
      *function = each.function;
  if (version <= int(fake().version))
    for (const auto &each : table)
      if (strcmp(each.name, name) == 0)
        *function = each.function;
  if (found)
    *found = *function ? 0 : 1;
  return *function ? success : notFound;
}

int fakeCudaEncode(void *handle, int (*run)(void *user), void *user) {
  Guard guard(fake().mutex);
  if (fake().sticky != success)
    return fake().sticky;
  FakeStream *stream = findStream(reinterpret_cast<StreamHandle>(handle)).get();
  return encode(reinterpret_cast<StreamHandle>(handle),
                [=] { stream->isBlocked = !run(user); });
}
void fakeCudaRun(void *handle) {
  Guard guard(fake().mutex);
  if (auto stream = findStream(reinterpret_cast<StreamHandle>(handle)))
    fake().run(stream, stream->encoded);
}
int fakeCudaDevice(void *handle) {
  Guard guard(fake().mutex);
  auto stream = findStream(reinterpret_cast<StreamHandle>(handle));
  return stream ? stream->device : -1;
}
int fakeCudaCurrentDevice() {
  return contextStack.empty() ? -1 : contextStack.back()->device;
}
int fakeCudaHas(const void *memory, uint64_t bytes, int device) {
  Guard guard(fake().mutex);
  const Memory *found = fake().find(reinterpret_cast<uint64_t>(memory), bytes);
  return found && found->device == device;
}

void fakeCudaReset() {
  Guard guard(fake().mutex);
  fake().runAll();
  fake().sticky = success;
  fake().text.clear();
  fake().failures.clear();
}
void fakeCudaConfigure(uint32_t chip, uint32_t devices, uint32_t version) {
  Guard guard(fake().mutex);
  fake().chip = chip;
  fake().deviceCount = devices;
  fake().version = version;
}
void fakeCudaFailNext(const char *name, int result) {
  Guard guard(fake().mutex);
  fake().failures[name] = result;
}
int fakeCudaLaunch(void *stream, void (*run)(const void *data),
                   const void *data, uint64_t bytes) {
  BEGIN("LaunchKernel");
  auto copy = std::make_shared<std::vector<uint64_t>>((bytes + 7) / 8);
  memcpy(copy->data(), data, bytes);
  ++fake().launches;
  return encode(static_cast<StreamHandle>(stream),
                [run, copy] { run(copy->data()); });
}
bool fakeCudaHasMemory(uint64_t address, uint64_t bytes) {
  Guard guard(fake().mutex);
  return fake().find(address, bytes);
}
uint64_t fakeCudaCount(const char *what) {
  Guard guard(fake().mutex);
  if (strcmp(what, "launches") == 0)
    return fake().launches;
  if (strcmp(what, "allocations") == 0)
    return fake().memory.size();
  if (strcmp(what, "modules") == 0)
    return fake().modules.size();
  if (strcmp(what, "graph launches") == 0)
    return fake().graphLaunches;
  if (strcmp(what, "changed nodes") == 0)
    return fake().changedNodes;
  if (strcmp(what, "captures") == 0)
    return fake().captures;
  if (strcmp(what, "cubins") == 0)
    return fake().cubins;
  if (strcmp(what, "graphs") == 0)
    return fake().graphs.size() + fake().graphExecs.size();
  return fake().instructions;
}
