// A loaded artifact: verified view, code, constants, and facts about each
// function that calls need; and an executable, its use by one instance.

#pragma once

#include "artifact/safetensors.h"
#include "runtime/base/mutex.h"
#include "runtime/device/device.h"

#include <atomic>

namespace alula::runtime {

/// Facts about one function of the artifact, computed at load.
struct FunctionInfo {
  /// Bytes of its frame, and of the frames of its deepest call chain.
  uint64_t frameBytes, totalBytes;
  /// The same of the arenas, which are device memory.
  uint64_t arenaBytes, totalArenaBytes;
  uint32_t dynamicArgumentDims, dynamicResultDims;
  /// It or a transitive callee reads or writes globals.
  bool readsGlobals, writesGlobals;
};

/// A mapped safetensors file; `name` is the artifact's.
struct ExternalFile {
  const char *name;
  void *memory;
  uint64_t bytes;
  artifact::Safetensors tensors;
};

struct OwnedConstant {
  uint8_t *data;
  uint64_t bytes;
};

/// Memory of one call at a time; made and kept by invoke.
struct Context;

} // namespace alula::runtime

namespace alula::runtime {

/// The immutable part of a loaded artifact, shared by the executables made of
/// it on instances of one driver.
struct Image {
  std::atomic<uint32_t> users{1};
  /// The one that loaded it: its allocator, its plugins.
  Instance *instance;
  artifact::Artifact file;
  /// Of the file that was given, which may hold several programs.
  uint64_t hash;
  /// Of what those that take part in its collectives must have in common.
  uint64_t programHash;
  /// The file's bytes: mapped, copied, or the caller's.
  void *memory;
  uint64_t memoryBytes;
  bool isMapped, isCopied;

  /// The driver's, or the one for plugins.
  const KernelRunner *runner;
  LoadedKernels *kernels;
  uint32_t variant;
  /// The host address of each constant.
  Array<const uint8_t *> constants;
  /// Safetensors files that constants lie in.
  Array<ExternalFile> externalFiles;
  /// Aligned copies of constants that were not aligned in the file.
  Array<OwnedConstant> ownedConstants;
  /// What kernels import; whether something is missing.
  Array<alula_import> imports;
  bool missesImports;
  Array<FunctionInfo> functions;
  /// Numbers of the exported functions.
  Array<uint32_t> exported;
  /// The sizes of all dims, contiguous, unlike in the file.
  Array<int64_t> dims;
  /// The largest scratch of a kernel, rounded to the alignment.
  uint64_t scratchBytes;
  /// The most operands of dispatches that may run together; of a custom call.
  uint64_t mostBindings, mostConstants, mostCallBuffers, mostCallDims;

  uint32_t getParticipantCount() const {
    return file.groupTables.size ? file.groupTables[0].participant_count : 1;
  }
  const alula_file_function *getExported(uint32_t number) const {
    return number < exported.size() ? &file.functions[exported[number]]
                                    : nullptr;
  }
};

} // namespace alula::runtime

struct alula_executable {
  alula::runtime::Instance *instance;
  alula::runtime::Image *image;
  /// The device address of each constant; NULL if no command refers to
  /// it.
  alula::runtime::Array<uint8_t *> deviceConstants;
  /// The device memory that holds them, without unified memory.
  uint8_t *constantMemory;
  uint64_t constantMemoryBytes;
  /// The embedder's function for each custom call of the file.
  alula::runtime::Array<alula::runtime::CustomCall> customCalls;
  alula_state *state;

  /// Idle contexts: one that is taken lock-free, the fast path for calls from
  /// one thread, and the others.
  std::atomic<alula::runtime::Context *> spareContext;
  alula::runtime::Mutex contextMutex;
  alula::runtime::Context *contexts;
};

namespace alula::runtime {

/// Destroys the contexts of an executable; lives with their definition.
void destroyContexts(alula_executable *executable);

/// Finds the bytes of the constants outside of the artifact. `directory` is
/// where their files lie, NULL if nobody said.
Status bindExternalConstants(Image &image, const alula_load_options &options,
                             const char *directory, size_t directoryBytes);
void releaseExternalConstants(Image &image);

/// Uploads the constants that commands refer to, or globals are initialized
/// with, to device memory.
Status placeConstants(alula_executable &executable);

/// Maps a whole file for reading.
Status mapFile(const char *path, void **memory, uint64_t *bytes);

/// Bytes of a slot in a frame.
constexpr uint64_t slotBytes = 24;

} // namespace alula::runtime
