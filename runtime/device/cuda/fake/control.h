// What tests tell the fake driver, beside CUDA's own functions.

#pragma once

#include <cstdint>

extern "C" {
/// Forgets errors, so that the next context works; what is allocated stays.
__attribute__((visibility("default"))) void fakeCudaReset();
/// 80: the compute capability of all devices; how many; 12040: the version.
__attribute__((visibility("default"))) void
fakeCudaConfigure(uint32_t chip, uint32_t devices, uint32_t version);
/// The next call of the function with this name (without cu) gives this result.
__attribute__((visibility("default"))) void fakeCudaFailNext(const char *name,
                                                             int result);
/// A kernel of a library: `run` gets a copy of the data when the stream runs.
__attribute__((visibility("default"))) int
fakeCudaLaunch(void *stream, void (*run)(const void *data), const void *data,
               uint64_t bytes);
/// Whether so many bytes are memory of a device or of the host that is pinned.
__attribute__((visibility("default"))) bool fakeCudaHasMemory(uint64_t address,
                                                              uint64_t bytes);
/// "launches" and "graph launches" so far, "changed nodes" of graphs, "cubins",
/// "captures" of streams, "allocations", "modules" and "graphs" that live; else
/// the instructions that were interpreted.
__attribute__((visibility("default"))) uint64_t fakeCudaCount(const char *what);

// ---- For other libraries that work on streams ----
/// A command that runs with the lock on all streams, again and again until it
/// does not give 0. A CUresult: the context must be the stream's.
__attribute__((visibility("default"))) int
fakeCudaEncode(void *stream, int (*run)(void *user), void *user);
/// Runs a stream as far as it can; with the lock already had or not.
__attribute__((visibility("default"))) void fakeCudaRun(void *stream);
/// Of a stream, of the current context; -1: none.
__attribute__((visibility("default"))) int fakeCudaDevice(void *stream);
__attribute__((visibility("default"))) int fakeCudaCurrentDevice();
/// Whether these bytes are this device's.
__attribute__((visibility("default"))) int
fakeCudaHas(const void *memory, uint64_t bytes, int device);
}
