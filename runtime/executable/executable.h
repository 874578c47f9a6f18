// A loaded artifact: verified view, code, constants, and what calls want to
// know about each function; and its use by one instance.

#pragma once

#include "artifact/safetensors.h"
#include "runtime/base/mutex.h"
#include "runtime/device/device.h"

#include <atomic>

namespace alula::runtime {

/// Facts about one function of the artifact, computed at load.
struct FunctionInfo {
  /// Bytes of its frame, and of the deepest chain of frames from here.
  uint64_t frameBytes, totalBytes;
  /// The same of the arenas, which lie in the device's memory.
  uint64_t arenaBytes, totalArenaBytes;
  uint32_t dynamicArgumentDims, dynamicResultDims;
  /// It, or what it calls, reads or writes globals.
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

/// What was loaded: the same for all executables that share it, on instances of
/// one driver. Never changes once loaded.
struct Image {
  std::atomic<uint32_t> users{1};
  /// The one that loaded it: its allocator, its plugins.
  Instance *instance;
  artifact::Artifact file;
  /// Of the file that was given, which may hold several programs.
  uint64_t hash;
  /// The file's bytes: mapped, copied, or the caller's.
  void *memory;
  uint64_t memoryBytes;
  bool isMapped, isCopied;

  /// The driver's, or the one for plugins.
  const KernelRunner *runner;
  LoadedKernels *kernels;
  uint32_t variant;
  /// Where each constant's bytes are for the host.
  Array<const uint8_t *> constants;
  /// Safetensors files that constants lie in.
  Array<ExternalFile> externalFiles;
  /// Copies of constants that were not aligned.
  Array<OwnedConstant> ownedConstants;
  /// What kernels import; whether something is missing.
  Array<alula_import> imports;
  bool missesImports;
  Array<FunctionInfo> functions;
  /// Numbers of the exported functions.
  Array<uint32_t> exported;
  /// The sizes of all dims, without what stands between them in the file.
  Array<int64_t> dims;
  /// The largest scratch of a kernel, rounded to the alignment.
  uint64_t scratchBytes;
  /// The most that a kernel takes; a custom call.
  uint32_t mostBindings, mostConstants;
  uint64_t mostCallBuffers, mostCallDims;

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
  /// Where each constant's bytes are for the device; NULL if no command shows
  /// it.
  alula::runtime::Array<uint8_t *> deviceConstants;
  /// Memory of the device that holds them, if it does not share the host's.
  uint8_t *constantMemory;
  uint64_t constantMemoryBytes;
  /// The embedder's function for each custom call of the file.
  alula::runtime::Array<alula::runtime::CustomCall> customCalls;
  alula_state *state;

  /// Contexts that no call uses: one that is taken without the lock, which is
  /// all that calls of one thread need, and the others.
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

/// Puts the constants that commands show, or globals begin with, into the
/// device's memory.
Status placeConstants(alula_executable &executable);

/// Maps a whole file for reading.
Status mapFile(const char *path, void **memory, uint64_t *bytes);

/// Bytes of a slot in a frame.
constexpr uint64_t slotBytes = 24;

} // namespace alula::runtime
