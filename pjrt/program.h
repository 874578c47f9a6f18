#pragma once

#include "pjrt/compile_options.h"
#include "pjrt/ffi/call_site.h"
#include "pjrt/objects.h"
#include "pjrt/shown_sharding.h"

#include <map>

namespace alula::pjrt {

/// An argument or a result.
struct ValueType {
  alula_dtype dtype;
  std::vector<int64_t> dims;
  Layout layout;
};

/// A dimension of an argument.
struct ArgumentDim {
  size_t argument, dim;
};

/// One line of the cost analysis.
struct Cost {
  std::string name;
  double value;
};

/// How arguments or results are divided among partitions: XLA's OpSharding
/// messages. There are none if the program has one partition.
struct Shardings {
  std::vector<std::string> messages;
  // The same as the API wants it.
  std::vector<const char *> pointers;
  std::vector<size_t> sizes;

  void describe();
  /// Null if there are none.
  const char *const *getData() const {
    return pointers.empty() ? nullptr : pointers.data();
  }
};

/// Bytes that start at a multiple of what artifacts ask for.
class AlignedBytes {
public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::string_view bytes);
  /// Takes over what the compiler gave.
  AlignedBytes(void *compiled, size_t size);
  std::string_view get() const { return {data.get(), size}; }

private:
  std::unique_ptr<char, void (*)(void *)> data{nullptr, free};
  size_t size = 0;
};

/// A program that is loaded for each device that runs it. What the first load
/// read is there once; states and constants in a device's memory are the
/// device's own.
class Loads {
public:
  Loads() = default;
  Loads(const Loads &) = delete;
  Loads &operator=(const Loads &) = delete;
  ~Loads();

  /// Takes over what was loaded for the first of them.
  void start(alula_executable *loaded, const Place &place);
  /// Any of them: what the program says of itself.
  alula_executable *getAny() const { return first; }
  /// A device's own, made if need be.
  void *get(const Device &device, alula_executable *&executable) {
    executable = byDevice[static_cast<size_t>(device.id)].load(
        std::memory_order_acquire);
    return executable ? nullptr : add(device, executable);
  }

private:
  void *add(const Device &device, alula_executable *&executable);

  std::mutex mutex;
  alula_executable *first = nullptr;
  std::vector<std::atomic<alula_executable *>> byDevice;
};

/// A kernel as the compiler describes it.
struct Kernel {
  std::string name, operations, sourceName, source;
  double flops, transcendentals, bytes;
};

struct Kernels {
  std::vector<Kernel> list;
  /// The program as StableHLO, its kernels functions; empty if it can't be said
  /// so.
  std::string text;

  /// Null if there is none.
  const Kernel *find(std::string_view name) const {
    for (const Kernel &kernel : list)
      if (kernel.name == name)
        return &kernel;
    return nullptr;
  }
};

/// A compiled program, loaded: shared by all executables that clients hold.
/// Nothing but its loads changes once it is made.
struct Program {
  Program() = default;
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  // What a serialized executable holds.
  std::string name, source, options;
  /// What was compiled, if it is not what `source` shows.
  std::string origin;
  std::string_view getOrigin() const {
    return origin.empty() ? source : origin;
  }
  std::vector<Cost> costs;
  /// For each argument, whether the caller gives it away.
  std::vector<uint8_t> donated;
  /// For each argument and result its memory, of `memoryKinds`.
  std::vector<uint8_t> argumentMemories, resultMemories;
  /// For each argument and result its layout as text, empty for row-major.
  std::vector<std::string> argumentLayouts, resultLayouts;
  Shardings argumentShardings, resultShardings;
  /// Not in a serialized executable: who asks is in this process.
  std::vector<ShownSharding> shownShardings;
  uint32_t flags = 0;
  AlignedBytes artifact;

  /// What it is compiled for unless `options` say; NULL: the host.
  const char *target = nullptr;

  // What follows from the artifact.
  Loads loads;
  /// Go before what is loaded.
  ffi::CallSites handlerCalls;
  uint32_t function = 0;
  std::string fingerprint;
  std::vector<ValueType> arguments, results;
  /// For each result its sizes that only calls know, if they are arguments'
  /// ones: by dimension of the result.
  std::vector<std::map<size_t, ArgumentDim>> resultSizes;
  /// Whether there are others, which only the results say.
  bool hasComputedSizes = false;
  /// For each argument, whether a result may take its memory.
  std::vector<uint8_t> aliased;
  int64_t codeBytes = 0, temporaryBytes = 0, argumentBytes = 0, resultBytes = 0,
          aliasBytes = 0;
  /// Takes less time than telling another thread.
  bool isCheap = false;
  /// Whether the last call tells if the next one takes less: its cost is not
  /// known well enough, or handlers of XLA's FFI are part of it.
  bool mayBeQuick = false;
  bool callsHandlers = false;
  std::atomic<bool> wasQuick{false};
  /// The Python functions that it calls, which live as long as it.
  PythonCallbacks *python = nullptr;
  std::vector<std::string> pythonConfigs;

  // The same as the API wants it.
  std::vector<uint32_t> resultTypeCodes;
  std::vector<int64_t> resultDims;
  std::vector<size_t> resultRanks;
  std::vector<void *> argumentLayoutObjects, resultLayoutObjects;
  std::vector<const char *> argumentKinds, resultKinds;
  std::vector<size_t> argumentKindSizes, resultKindSizes;
  std::vector<PJRT_NamedValue> costValues;

  /// Found out when somebody asks: see getKernels.
  Kernels kernels;
  std::once_flag kernelsKnown;
};

/// What the kernels of the program are. Compiles the first half of it again.
const Kernels &getKernels(Program &program);

/// Compiles, without looking at the cache.
void *compileProgram(const Place &place, std::string_view source,
                     std::string_view optionBytes,
                     const CompileOptions &options,
                     std::shared_ptr<Program> &result);

/// Loads `program.artifact` and fills in what follows from it.
void *loadProgram(const Place &place, Program &program);

/// An executable in bytes, and back.
std::string serializeProgram(const Program &program);
void *deserializeProgram(std::string_view bytes, Program &program);

/// A PJRT_Executable.
struct Executable {
  std::shared_ptr<Program> program;
  int64_t replicas, partitions;
};

/// A PJRT_LoadedExecutable.
struct LoadedExecutable {
  std::shared_ptr<Program> program;
  int64_t replicas, partitions;
  std::vector<int64_t> deviceIds;
  /// Those of this process, and which participant of the program each is.
  std::vector<void *> devices;
  std::vector<uint32_t> participants;
  /// For each participant its process, if there are others than this one; and
  /// what the processes call these participants.
  std::vector<uint32_t> processOf;
  std::string name;
  std::atomic<bool> deleted{false};
};

/// The ids of the devices that the options name.
void *findDevices(Client &client, const CompileOptions &options,
                  std::vector<int64_t> &ids);
/// The first of these that is a device of this process, or else its first.
size_t findFirst(const Client &client, const std::vector<int64_t> &ids);
/// Puts a program on devices.
void *makeLoadedExecutable(Client &client, std::shared_ptr<Program> program,
                           const CompileOptions &options,
                           std::vector<int64_t> ids, LoadedExecutable *&result);

} // namespace alula::pjrt
