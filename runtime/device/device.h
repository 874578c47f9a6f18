// What a driver gives: kernels loaded from an artifact, the memory they work
// on, and streams of commands.
//
// An address in the device's memory is a `uint8_t *` that only the driver reads
// and writes: everybody else adds offsets to it and hands it back.

#pragma once

#include "alula/import.h"
#include "alula/kernel_abi.h"
#include "artifact/reader.h"
#include "runtime/base/memory.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/threads/pool.h"

namespace alula::runtime {

/// A driver's loaded variant; each driver knows what is behind it.
struct LoadedKernels;
/// What a driver keeps for one instance.
struct Device;
/// Commands that run in the order in which they were encoded.
struct Stream;
/// A point in a stream.
struct Event;
struct Instance;

/// One dispatch. `args` has everything but worker and scratch; what it points
/// to is the caller's again when the dispatch is encoded.
struct Dispatch {
  uint32_t kernel;
  alula_kernel_args args;
  /// One piece for each worker, `scratchStride` bytes apart.
  uint8_t *scratch;
  uint64_t scratchStride;
  /// For errors: they live as long as the kernels.
  const char *functionName, *kernelName;
  /// Looked at between workgroups, if not NULL: the rest need not run once it
  /// is not 0, which is then an error. Lives until the stream is waited for.
  const int *cancel;
  /// What each worker did is written here, if not NULL. As many as a pool has
  /// at the most, all zero; lives until the stream is waited for.
  alula_trace_thread *threads;
};

/// "function 'f': kernel 'k' failed with code 3", or that it was cancelled.
[[nodiscard]] Status makeKernelError(const char *functionName,
                                     const char *kernelName, int32_t code);

/// How loaded kernels run; plugins bring their own.
struct KernelRunner {
  void (*unload)(LoadedKernels *kernels);
  /// Encodes a grid. A kernel's code that is not 0 is an error: of this
  /// function, or of a later one that waits for the stream.
  Status (*dispatch)(Stream *stream, LoadedKernels *kernels,
                     const Dispatch &dispatch);
};

/// A table instead of virtual functions: those would need the C++ library.
///
/// A function that encodes a command checks no bounds: its caller has. Commands
/// of 0 bytes touch nothing, whatever their addresses are. An error that a
/// command causes after it was encoded stops the stream: what follows is not
/// run until somebody waits, gets the error and so clears it. Waiting are
/// copyFrom, readWord and synchronize.
struct Driver {
  const char *name;
  /// The host reads and writes the device's memory at its addresses, so
  /// constants are used where their file is mapped.
  bool sharesMemory;
  /// A command has run when the function that encodes it returns: one stream
  /// serves all threads.
  bool runsAtOnce;

  Status (*open)(Instance &instance, Device **device);
  /// All streams and memory are gone.
  void (*close)(Device *device);

  // ---- Kernels ----

  /// Takes the best variant, or the one called `wanted` if that is not NULL.
  /// What is loaded serves all devices of the driver, several at once.
  Status (*load)(const artifact::Artifact &artifact, const char *wanted,
                 LoadedKernels **kernels, uint32_t *variant);
  KernelRunner runner;

  // ---- Memory ----

  /// 64-byte aligned; NULL if there is no memory. 0 bytes give an address too.
  uint8_t *(*allocate)(Device *device, uint64_t bytes);
  /// No command that uses it is on its way.
  void (*release)(Device *device, uint8_t *memory, uint64_t bytes);
  /// Whether kernels can use these bytes, which the device has not allocated.
  bool (*reaches)(Device *device, const void *memory, uint64_t bytes);

  // ---- Streams ----

  Status (*createStream)(Device *device, Stream **stream);
  /// Nothing is on its way in it.
  void (*destroyStream)(Stream *stream);
  Status (*synchronize)(Stream *stream);
  /// From the host, whose bytes are the caller's again when this returns.
  Status (*copyTo)(Stream *stream, uint8_t *to, const void *from,
                   uint64_t bytes);
  /// To the host: waits.
  Status (*copyFrom)(Stream *stream, void *to, const uint8_t *from,
                     uint64_t bytes);
  /// Inside the device's memory; the bytes may overlap.
  Status (*copy)(Stream *stream, uint8_t *to, const uint8_t *from,
                 uint64_t bytes);
  /// From the memory of another device of this driver, in which nothing that
  /// concerns the bytes is on its way; they may not change before this stream
  /// has run. NULL: they go through the host, or the memory is shared.
  Status (*copyFromDevice)(Stream *stream, uint8_t *to, Device *device,
                           const uint8_t *from, uint64_t bytes);
  /// Repeats the low `width` (1, 2, 4, 8) bytes of `pattern`.
  Status (*fill)(Stream *stream, uint8_t *to, uint64_t pattern, uint32_t width,
                 uint64_t bytes);
  /// Up to 8 bytes, zero-extended: waits.
  Status (*readWord)(Stream *stream, const uint8_t *from, uint32_t bytes,
                     uint64_t *word);
  Status (*writeWord)(Stream *stream, uint8_t *to, uint32_t bytes,
                      uint64_t word);

  // ---- Events ----

  Status (*createEvent)(Device *device, Event **event);
  /// No stream waits for it.
  void (*destroyEvent)(Event *event);
  /// From now on the event means: all that is in the stream so far has run.
  Status (*record)(Stream *stream, Event *event);
  /// What follows in the stream runs after what the event means now. One that
  /// was never recorded has happened.
  Status (*waitInStream)(Stream *stream, Event *event);
  bool (*hasHappened)(Event *event);
  /// The calling thread waits.
  void (*waitForEvent)(Event *event);
};

/// The drivers, each in its own folder. The last is for tests and not part of
/// every build: NULL where it is not linked.
extern const Driver cpuDriver, nullDriver;
extern const Driver afarDriver __attribute__((weak, visibility("hidden")));
/// That of NVIDIA's GPUs: linked, or in a library of its own that is loaded when
/// it is asked for.
extern const Driver cudaDriver __attribute__((weak, visibility("hidden")));

/// What a driver in a library of its own gets from the runtime.
struct DriverHost {
  /// Of another build, if these are not its own.
  uint64_t driverBytes, dispatchBytes, instanceBytes;
  alula_error *(*createError)(alula_status_code code, const char *message);
};
/// `alula_driver_query` of such a library; NULL if it is of another build.
using DriverQuery = const Driver *(*)(const DriverHost *host);
/// Runs what a plugin has loaded, on a device that shares its memory and runs
/// at once.
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

/// What an alula_instance is: shared by all that is made from it.
struct Instance {
  const Driver *driver;
  /// Which of the driver's devices.
  uint32_t ordinal = 0;
  Allocator allocator;
  /// Its own, which has no threads before they are used, or another's.
  Pool ownPool;
  Pool &pool;
  Instance *threadOwner = nullptr;
  Device *device = nullptr;
  /// Serves everybody, if commands run at once.
  Stream *sharedStream = nullptr;
  /// Else streams that nobody uses.
  Mutex streamMutex;
  Array<Stream *> idleStreams;
  std::atomic<uint32_t> users{1};
  Mutex customCallMutex;
  Array<CustomCall> customCalls;
  Mutex importMutex;
  Array<ImportProvider> importProviders;
  /// Runs asynchronous calls: made by invoke at the first of them.
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

/// A stream for the calling thread, and its return, when all has run.
Status takeIdleStream(Instance &instance, Stream **stream);
void returnIdleStream(Instance &instance, Stream *stream);

/// A stream while it is used: waits for what is in it in the end.
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
  /// The first error of `status` and of what is still on its way.
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

/// When nobody uses it any more.
void destroyInstance(Instance *instance);
inline void release(Instance *instance) {
  if (instance->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroyInstance(instance);
}

} // namespace alula::runtime
