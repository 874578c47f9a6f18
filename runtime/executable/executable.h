// A loaded artifact: verified view, code, constants, and what calls want to
// know about each function.

#pragma once

#include "artifact/safetensors.h"
#include "runtime/base/mutex.h"
#include "runtime/device/device.h"

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

struct alula_executable {
  alula::runtime::Instance *instance;
  alula::artifact::Artifact file;
  /// The file's bytes: mapped, copied, or the caller's.
  void *memory;
  uint64_t memoryBytes;
  bool isMapped, isCopied;

  /// The driver's, or the one for plugins.
  const alula::runtime::KernelRunner *runner;
  alula::runtime::LoadedKernels *kernels;
  uint32_t variant;
  /// Where each constant's bytes are for the host, and for the device; NULL
  /// there if no command shows it.
  alula::runtime::Array<const uint8_t *> constants;
  alula::runtime::Array<uint8_t *> deviceConstants;
  /// Memory of the device that holds them, if it does not share the host's.
  uint8_t *constantMemory;
  uint64_t constantMemoryBytes;
  /// Safetensors files that constants lie in.
  alula::runtime::Array<alula::runtime::ExternalFile> externalFiles;
  /// Copies of constants that were not aligned.
  alula::runtime::Array<alula::runtime::OwnedConstant> ownedConstants;
  /// The embedder's function for each custom call of the file.
  alula::runtime::Array<alula::runtime::CustomCall> customCalls;
  /// What kernels import; whether something is missing.
  alula::runtime::Array<alula_import> imports;
  bool missesImports;
  alula::runtime::Array<alula::runtime::FunctionInfo> functions;
  /// Numbers of the exported functions.
  alula::runtime::Array<uint32_t> exported;
  /// The sizes of all dims, without what stands between them in the file.
  alula::runtime::Array<int64_t> dims;
  /// The largest scratch of a kernel, rounded to the alignment.
  uint64_t scratchBytes;
  /// The most that a kernel takes; a custom call.
  uint32_t mostBindings, mostConstants;
  uint64_t mostCallBuffers, mostCallDims;
  alula_state *state;

  /// Contexts that no call uses.
  alula::runtime::Mutex contextMutex;
  alula::runtime::Context *contexts;

  uint32_t getParticipantCount() const {
    return file.groupTables.size ? file.groupTables[0].participant_count : 1;
  }
  const alula_file_function *getExported(uint32_t number) const {
    return number < exported.size() ? &file.functions[exported[number]]
                                    : nullptr;
  }
};

namespace alula::runtime {

/// Destroys the contexts of an executable; lives with their definition.
void destroyContexts(alula_executable *executable);

/// Finds the bytes of the constants outside of the artifact. `directory` is
/// where their files lie, NULL if nobody said.
Status bindExternalConstants(alula_executable &executable,
                             const alula_load_options &options,
                             const char *directory, size_t directoryBytes);
void releaseExternalConstants(alula_executable &executable);

/// Puts the constants that commands show, or globals begin with, into the
/// device's memory.
Status placeConstants(alula_executable &executable);

/// Maps a whole file for reading.
Status mapFile(const char *path, void **memory, uint64_t *bytes);

/// Bytes of a slot in a frame.
constexpr uint64_t slotBytes = 24;

} // namespace alula::runtime
