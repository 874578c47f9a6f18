// What a driver gives: kernels loaded from an artifact, and dispatches.
//
// Memory is the host's for every driver so far; a driver with memory of its own
// will add its functions here.

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

/// One dispatch. `args` has everything but worker and scratch.
struct Dispatch {
  uint32_t kernel;
  alula_kernel_args args;
  /// One piece for each worker, `scratchStride` bytes apart.
  uint8_t *scratch;
  uint64_t scratchStride;
};

/// A table instead of virtual functions: those would need the C++ library.
struct Driver {
  const char *name;
  /// Takes the best variant, or the one called `wanted` if that is not NULL.
  Status (*load)(const artifact::Artifact &artifact, const char *wanted,
                 LoadedKernels **kernels, uint32_t *variant);
  void (*unload)(LoadedKernels *kernels);
  /// Runs all workgroups and waits; gives the first code that is not 0.
  int32_t (*dispatch)(LoadedKernels *kernels, Pool &pool,
                      const Dispatch &dispatch);
};

/// The drivers, each in its own folder.
extern const Driver cpuDriver, nullDriver;
/// Runs what a plugin has loaded; loads nothing by itself.
extern const Driver importDriver;

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
  Allocator allocator;
  Pool pool;
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
      : driver(driver), allocator(allocator), pool(threadCount) {}
  Instance(const Driver *driver, const Allocator &allocator,
           const alula_thread_pool &hooks)
      : driver(driver), allocator(allocator), pool(hooks) {}
};

inline void retain(Instance *instance) {
  instance->users.fetch_add(1, std::memory_order_relaxed);
}
/// When nobody uses it any more.
void destroyInstance(Instance *instance);
inline void release(Instance *instance) {
  if (instance->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroyInstance(instance);
}

} // namespace alula::runtime
