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
/// "launches" and "graph launches" so far, "changed nodes" of graphs, "cubins",
/// "allocations", "modules" and "graphs" that live; else the instructions that
/// were interpreted.
__attribute__((visibility("default"))) uint64_t fakeCudaCount(const char *what);
}
