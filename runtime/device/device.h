// A driver's interface: kernels loaded from an artifact, allocations in device
// memory, streams of commands, and events.
//
// A device address is a `uint8_t *` that only the driver dereferences: all
// others add offsets to it and pass it on.

#pragma once

#include "alula/import.h"
#include "alula/kernel_abi.h"
#include "artifact/reader.h"
#include "runtime/base/memory.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/collectives/engine.h"
#include "runtime/threads/pool.h"

namespace alula::runtime {

/// A driver's loaded variant: opaque to the rest of the runtime.
struct LoadedKernels;
/// A driver's state for one instance.
struct Device;
/// A queue of commands, executed in the order in which they were encoded.
struct Stream;
/// A marker in a stream, for synchronization between streams.
struct Event;
struct Instance;

/// One dispatch. `args` has everything but worker and scratch; what it points
/// to need only live until the dispatch is encoded.
struct Dispatch {
  uint32_t kernel;
  alula_kernel_args args;
  /// One piece for each worker, `scratchStride` bytes apart.
  uint8_t *scratch;
  uint64_t scratchStride;
  /// For error messages; valid as long as the kernels.
  const char *functionName, *kernelName;
  /// Polled between workgroups, if not NULL: once it is not 0, the rest may be
  /// skipped, which is an error. Valid until the stream is synchronized.
  const int *cancel;
  /// Statistics of each worker, if not NULL: zeroed, one for each thread of the
  /// largest pool; valid until the stream is synchronized.
  alula_trace_thread *threads;
  /// If not NULL, gets what computes a kernel that a library may compute; it
  /// lives as long as the kernels.
  const char **computedBy;
};

/// "function 'f': kernel 'k' failed with code 3", or that it was cancelled.
[[nodiscard]] Status makeKernelError(const char *functionName,
                                     const char *kernelName, int32_t code);

/// The launch functions of loaded kernels; plugins have their own.
struct KernelRunner {
  void (*unload)(LoadedKernels *kernels);
  /// Encodes a grid. A kernel's code that is not 0 is an error: of this
  /// function, or of a later one that waits for the stream.
  Status (*dispatch)(Stream *stream, LoadedKernels *kernels,
                     const Dispatch &dispatch);
  /// Encodes 1 to ALULA_MAX_TOGETHER grids whose order does not matter, without
  /// traces. NULL: they are dispatched one after the other.
  Status (*dispatchTogether)(Stream *stream, LoadedKernels *kernels,
                             const Dispatch *dispatches,
                             uint32_t count) = nullptr;
};

/// Memory whose content changes places.
struct Exchange {
  uint8_t *first, *second;
  uint64_t bytes;
};

/// Loops that a device decides by itself: a byte that a kernel has written says
/// whether there is one more round. The host encodes a loop once: what the
/// condition needs and `test` of it as First, then a round and the condition
/// with a test as Last. If a round exchanges memory by exchanging names, two
/// rounds, with a test as Middle between them; after an odd number of rounds
/// `end` exchanges the memory itself. Loops and branches may be in rounds, and
/// in branches.
struct LoopRecorder {
  enum Place : uint32_t { First, Middle, Last };
  /// Until `*cancel` is not 0, if that is not NULL. `*isTaken` is false if the
  /// host has to decide.
  Status (*begin)(Stream *stream, const int *cancel, bool *isTaken);
  Status (*test)(Stream *stream, const uint8_t *condition, Place place);
  /// `*isTaken` is false if something in it was no command of such a loop, or
  /// `isLoop` is false: all since `begin` of the outermost is forgotten when
  /// that ends.
  Status (*end)(Stream *stream, const Exchange *exchanges, size_t count,
                bool isLoop, bool *isTaken);

  // ---- Branches ----
  /// How an index says which branch runs: a number of 32 bits, where one that
  /// is no branch means the last; a byte that does so, 0 or 1; a byte, 1 being
  /// the first of two branches.
  enum Index : uint32_t { Number, Byte, Truth };
  /// One of the `count` branches that come runs, each encoded between `branch`
  /// and `endBranch`, which exchanges memory. `isTaken`, `cancel` and
  /// `endChoice` are as in a loop.
  Status (*choose)(Stream *stream, const uint8_t *index, Index kind,
                   uint32_t count, const int *cancel, bool *isTaken);
  Status (*branch)(Stream *stream);
  Status (*endBranch)(Stream *stream, const Exchange *exchanges, size_t count);
  Status (*endChoice)(Stream *stream, bool isChoice, bool *isTaken);
};

/// A call of one of the participants of a program.
struct ParticipantCall {
  alula_collectives *collectives;
  uint32_t participant;
  const int *cancel;
};

/// Exchanges that a device carries out itself, on its streams.
struct DeviceCollectives {
  /// Encodes one, of memory of the device; the first time the members of a
  /// group wait for each other. The request has no state if the exchange has to
  /// go by the host's memory, which is then so for all members.
  Status (*start)(Stream *stream, const ParticipantCall &call,
                  const GroupMembers &members, const Collective &what,
                  CollectiveRequest *request);
  /// Later commands of the stream come after it.
  Status (*done)(Stream *stream, const CollectiveRequest *request);
  /// The call is encoded, or can't go on, and `failure` says why: then nobody
  /// touches its memory any more.
  void (*settle)(Stream *stream, const ParticipantCall &call,
                 const char *failure);
};

/// A table instead of virtual functions: those would need the C++ library.
///
/// A function that encodes a command checks no bounds: its caller has. Commands
/// of 0 bytes access nothing, whatever their addresses are. An asynchronous
/// error of a command stops the stream: later commands are skipped until a
/// blocking call returns the error and so clears it. Blocking are copyFrom,
/// readWord and synchronize.
struct Driver {
  const char *name;
  /// Unified memory: the host dereferences device addresses, so constants are
  /// used in place, in the mapped file.
  bool sharesMemory;
  /// Commands are executed synchronously, while they are encoded: one stream
  /// serves all threads.
  bool runsAtOnce;

  Status (*open)(Instance &instance, Device **device);
  /// All streams are destroyed and all memory is released before.
  void (*close)(Device *device);

  // ---- Kernels ----

  /// Picks the best variant, or the one called `wanted` if that is not NULL.
  /// The result is shared by all devices of the driver, and thread-safe.
  Status (*load)(const artifact::Artifact &artifact, const char *wanted,
                 LoadedKernels **kernels, uint32_t *variant);
  KernelRunner runner;

  // ---- Memory ----

  /// 64-byte aligned; NULL if there is no memory. 0 bytes give an address too.
  uint8_t *(*allocate)(Device *device, uint64_t bytes);
  /// No pending command uses it.
  void (*release)(Device *device, uint8_t *memory, uint64_t bytes);
  /// Whether kernels can access these bytes, which are the embedder's.
  bool (*reaches)(Device *device, const void *memory, uint64_t bytes);
  /// Memory of the host that kernels of all devices of the driver reach,
  /// aligned as above. NULL: there is none, unless all memory is.
  uint8_t *(*allocateOnHost)(Device *device, uint64_t bytes);
  void (*releaseOnHost)(Device *device, uint8_t *memory, uint64_t bytes);
  /// So many bytes of the embedder's memory became a buffer's, or cease to be:
  /// they count as in use in the bound of what is cached. NULL: no cache.
  void (*lend)(Device *device, int64_t bytes);
  /// Of the cache of released memory, which `trim` empties; false if there is
  /// none. NULL: the driver's own allocator decides.
  bool (*readStatistics)(Device *device, alula_memory_statistics &statistics);
  void (*trim)(Device *device);

  // ---- Streams ----

  Status (*createStream)(Device *device, Stream **stream);
  /// It has no pending commands.
  void (*destroyStream)(Stream *stream);
  Status (*synchronize)(Stream *stream);
  /// Host to device; the host's bytes are copied before this returns.
  Status (*copyTo)(Stream *stream, uint8_t *to, const void *from,
                   uint64_t bytes);
  /// Device to host: blocks.
  Status (*copyFrom)(Stream *stream, void *to, const uint8_t *from,
                     uint64_t bytes);
  /// Device to device; source and destination may overlap.
  Status (*copy)(Stream *stream, uint8_t *to, const uint8_t *from,
                 uint64_t bytes);
  /// Peer to peer: from another device of this driver, where no pending command
  /// writes the bytes; they must not change before this stream has run. NULL:
  /// such copies are staged through the host, or the memory is shared.
  Status (*copyFromDevice)(Stream *stream, uint8_t *to, Device *device,
                           const uint8_t *from, uint64_t bytes);
  /// Repeats the low `width` (1, 2, 4, 8) bytes of `pattern`.
  Status (*fill)(Stream *stream, uint8_t *to, uint64_t pattern, uint32_t width,
                 uint64_t bytes);
  /// Up to 8 bytes, zero-extended: blocks.
  Status (*readWord)(Stream *stream, const uint8_t *from, uint32_t bytes,
                     uint64_t *word);
  Status (*writeWord)(Stream *stream, uint8_t *to, uint32_t bytes,
                      uint64_t word);

  // ---- Events ----

  Status (*createEvent)(Device *device, Event **event);
  /// No pending command waits for it.
  void (*destroyEvent)(Event *event);
  /// Records the event behind all commands encoded so far.
  Status (*record)(Stream *stream, Event *event);
  /// Later commands of the stream wait for the event as it is recorded now. One
  /// that was never recorded is complete.
  Status (*waitInStream)(Stream *stream, Event *event);
  bool (*hasHappened)(Event *event);
  /// Blocks the calling thread.
  void (*waitForEvent)(Event *event);

  /// NULL: the host decides loops.
  const LoopRecorder *loops;
  /// NULL: they go by the host's memory.
  const DeviceCollectives *collectives;
};

/// The drivers, each in its own folder. The last is for tests and not part of
/// every build: NULL where it is not linked.
extern const Driver cpuDriver, nullDriver;
extern const Driver afarDriver __attribute__((weak, visibility("hidden")));
/// That of NVIDIA's GPUs: linked, or in a library of its own that is loaded
/// when it is asked for.
extern const Driver cudaDriver __attribute__((weak, visibility("hidden")));

/// What a driver in a library of its own gets from the runtime.
struct DriverHost {
  /// Of another build, if these are not its own.
  uint64_t driverBytes, dispatchBytes, instanceBytes;
  alula_error *(*createError)(alula_status_code code, const char *message);
};
/// `alula_driver_query` of such a library; NULL if it is of another build.
using DriverQuery = const Driver *(*)(const DriverHost *host);
/// Launches kernels that a plugin has loaded, on a device with unified memory
/// and synchronous streams.
extern const KernelRunner importRunner;

/// A C function of the embedder.
struct CustomCall {
  char *name;
  alula_custom_call function;
  void *user;
};

/// A plugin of the embedder; tables are whole.
struct ImportProvider {
  alula_import_plugin table;
  alula_import_loader loader;
  void *self;
};

/// An alula_instance: shared by all objects created from it.
struct Instance {
  const Driver *driver;
  /// The number of the device among the driver's.
  uint32_t ordinal = 0;
  /// What all devices of the driver are, for those who compile; by `open`.
  char chip[16] = "";
  Allocator allocator;
  /// How much released memory the driver may cache.
  uint64_t keptBytes = 0;
  /// Its own, whose threads start at the first use, or a shared one.
  Pool ownPool;
  Pool &pool;
  Instance *threadOwner = nullptr;
  Device *device = nullptr;
  /// Shared by all threads, if the driver is synchronous.
  Stream *sharedStream = nullptr;
  /// Else a pool of idle streams.
  Mutex streamMutex;
  Array<Stream *> idleStreams;
  std::atomic<uint32_t> users{1};
  Mutex customCallMutex;
  Array<CustomCall> customCalls;
  Mutex importMutex;
  Array<ImportProvider> importProviders;
  /// Executes asynchronous calls: started by invoke at the first of them.
  Mutex queueMutex;
  struct CallQueue *queue = nullptr;
  void (*destroyQueue)(CallQueue *queue) = nullptr;

  Instance(const Driver *driver, const Allocator &allocator,
           uint32_t threadCount)
      : driver(driver), allocator(allocator), ownPool(threadCount),
        pool(ownPool) {}
  Instance(const Driver *driver, const Allocator &allocator,
           const alula_thread_pool &hooks)
      : driver(driver), allocator(allocator), ownPool(hooks), pool(ownPool) {}
  Instance(const Driver *driver, const Allocator &allocator, Instance &threads);
};

/// Opens the driver.
Status startInstance(Instance &instance);

/// Acquires a stream for the calling thread, and releases it when idle.
Status takeIdleStream(Instance &instance, Stream **stream);
void returnIdleStream(Instance &instance, Stream *stream);

/// Holds a stream, and synchronizes it in the end.
class StreamUse {
public:
  explicit StreamUse(Instance &instance) : instance(instance) {}
  StreamUse(const StreamUse &) = delete;
  StreamUse &operator=(const StreamUse &) = delete;
  ~StreamUse() {
    if (stream && !instance.driver->runsAtOnce)
      leave();
  }

  Status take() {
    stream = instance.sharedStream;
    return stream ? nullptr : takeIdleStream(instance, &stream);
  }
  Stream *get() const { return stream; }
  /// The first error of `status` and of pending commands.
  Status finish(Status status) {
    if (instance.driver->runsAtOnce)
      return status;
    return finishStream(status);
  }

private:
  void leave();
  Status finishStream(Status status);

  Instance &instance;
  Stream *stream = nullptr;
};

inline void retain(Instance *instance) {
  instance->users.fetch_add(1, std::memory_order_relaxed);
}
inline Instance::Instance(const Driver *driver, const Allocator &allocator,
                          Instance &threads)
    : driver(driver), allocator(allocator), ownPool(1), pool(threads.pool),
      threadOwner(&threads) {
  retain(threadOwner);
}

/// After its last use.
void destroyInstance(Instance *instance);
inline void release(Instance *instance) {
  if (instance->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroyInstance(instance);
}

} // namespace alula::runtime
