// A GPU as the driver sees it: its context, memory, streams and code.

#pragma once

#include "alula/cuda_library.h"
#include "artifact/cuda_image.h"
#include "runtime/device/cuda/api.h"
#include "runtime/device/cuda/graph.h"
#include "runtime/device/cuda/nccl/table.h"
#include "runtime/device/device.h"

namespace alula::runtime::cuda {

constexpr uint32_t maxDevices = 64;

/// CUDA's functions, found and initialised once; or why there are none.
Status getApi(const Api **api);
/// "what: CUDA_ERROR_…: text", NULL for success.
[[nodiscard]] Status makeCudaError(const Api &api, Result result,
                                   const char *what);

struct CudaDevice {
  const Api *api;
  uint32_t ordinal;
  DeviceNumber number;
  ContextHandle context;
  PoolHandle pool;
  /// Memory is taken and given back in its order.
  StreamHandle memoryStream;
  LoopKernels loops;
  /// Its part of the library of collectives, once it has had one.
  NcclDevice *collectives;
};
/// Before its context goes.
void closeCollectives(CudaDevice &device);

/// The device's context is the calling thread's while this lives.
class Current {
public:
  explicit Current(const CudaDevice &device) : api(*device.api) {
    result = api.CtxPushCurrent(device.context);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  ~Current() {
    ContextHandle popped;
    if (result == success)
      api.CtxPopCurrent(&popped);
  }

  const Result &getResult() const { return result; }

private:
  const Api &api;
  Result result;
};

/// How a library computes a call on a device, or why it does not.
struct CudaCall {
  const alula_cuda_library *library;
  alula_cuda_plan *plan;
  /// Of a call that is not taken: whether the library is not there.
  bool isMissing;
  /// The library's name, or "generated: " and why.
  char reason[240];

  /// False and a sentence if it fails.
  bool run(StreamHandle stream, const uint64_t *values, DeviceAddress workspace,
           char *problem, size_t problemBytes) const {
    return library->run(plan, stream, values, workspace, problem,
                        problemBytes) == ALULA_CUDA_LIBRARY_TAKEN;
  }
};
/// What every call may write to.
constexpr uint64_t workspaceBytes = 32 << 20;
/// Of all memory of kernels.
constexpr uint32_t bindingAlignment = 16;
/// Asks the library that the text names, with the device's context current.
void prepareCall(const CudaDevice &device, const char *text,
                 uint32_t argumentCount, CudaCall &call);

/// Modules and functions of a variant, loaded on each device when it is first
/// used there.
class CudaKernels {
public:
  CudaKernels() = default;
  CudaKernels(const CudaKernels &) = delete;
  CudaKernels &operator=(const CudaKernels &) = delete;
  ~CudaKernels();

  Status load(const Api &wanted, const artifact::Artifact &artifact,
              const alula_file_variant &variant);
  /// The launches of a kernel.
  artifact::Table<alula_cuda_launch> getLaunches(uint32_t kernel) const {
    const alula_cuda_kernel &record = *records[kernel];
    return {image.launches.data + record.first_launch, record.launch_count};
  }
  const alula_cuda_argument *
  getArguments(const alula_cuda_launch &launch) const {
    return image.arguments.data + launch.first_argument;
  }
  /// What a launch runs, with the device's context current.
  Status getFunction(const CudaDevice &device, const alula_cuda_launch &launch,
                     FunctionHandle *function);
  /// How a call is computed; it is asked for once on each device.
  Status getCall(const CudaDevice &device, const alula_cuda_launch &launch,
                 const CudaCall **call);
  /// No other kernels of the process ever have it.
  uint64_t getSerial() const { return serial; }

private:
  struct PerDevice {
    ContextHandle context;
    DeviceNumber number;
    ModuleHandle *modules;
    FunctionHandle *functions;
    /// Of launches that are calls, once they are asked for.
    CudaCall **calls;
  };
  /// Room for what is of one device.
  Status hold(const CudaDevice &device);
  Status loadModule(const CudaDevice &device, uint32_t number,
                    ModuleHandle *module);

  const Api *api = nullptr;
  artifact::CudaImage image;
  Array<const alula_cuda_kernel *> records;
  uint64_t serial = 0;
  char name[64] = "";
  Mutex mutex;
  PerDevice devices[maxDevices] = {};
};

/// Picks the best form of a module: ALULA_NONE if none runs on the chip.
uint32_t chooseCode(const artifact::CudaImage &image,
                    const alula_cuda_module &module, uint32_t chip,
                    bool takesCubins);

struct CudaEvent {
  CudaDevice *device;
  EventHandle handle;
};

class CudaStream {
public:
  explicit CudaStream(CudaDevice &device) : device(device), graphs(device) {}
  CudaStream(const CudaStream &) = delete;
  CudaStream &operator=(const CudaStream &) = delete;
  ~CudaStream();
  Status start();

  Status dispatch(CudaKernels &kernels, const Dispatch &dispatch);
  Status synchronize();
  Status copyTo(uint8_t *to, const void *from, uint64_t bytes);
  Status copyFrom(void *to, const uint8_t *from, uint64_t bytes);
  Status copy(uint8_t *to, const uint8_t *from, uint64_t bytes);
  Status copyFromDevice(uint8_t *to, CudaDevice &source, const uint8_t *from,
                        uint64_t bytes);
  Status fill(uint8_t *to, uint64_t pattern, uint32_t width, uint64_t bytes);
  Status record(CudaEvent &event);
  Status wait(CudaEvent &event);
  Status beginLoop(const int *cancel, bool *isTaken);
  Status testLoop(const uint8_t *condition, LoopRecorder::Place place);
  Status endLoop(const Exchange *exchanges, size_t count, bool isLoop,
                 bool *isTaken);
  Status choose(const uint8_t *index, LoopRecorder::Index kind, uint32_t count,
                const int *cancel, bool *isTaken);
  Status beginBranch();
  Status endBranch(const Exchange *exchanges, size_t count);
  Status endChoice(bool isChoice, bool *isTaken);
  Status startCollective(const ParticipantCall &call,
                         const GroupMembers &members, const Collective &what,
                         CollectiveRequest *request);
  Status endCollective(const CollectiveRequest *request);
  void settleCollectives(const ParticipantCall &call, const char *failure);

private:
  static constexpr uint64_t stagingBytes = 256 << 10, mostStaged = 64 << 10;
  static constexpr uint32_t failureSlots = 64;
  /// More commands than these don't wait.
  static constexpr uint32_t mostPending = 1024;
  static constexpr uint32_t mostWords = 64, mostOpen = 8;
  /// A kernel that may leave a code in its slot.
  struct Watched {
    const char *functionName, *kernelName;
  };

  Status check(Result result, const char *what);
  Status launch(CudaKernels &kernels, const alula_cuda_launch &launch,
                const Dispatch &dispatch);
  /// `isTaken` is false if no library computes it.
  Status call(CudaKernels &kernels, const alula_cuda_launch &launch,
              const Dispatch &dispatch, bool *isTaken);
  /// What the launch's arguments are in this dispatch.
  Status addValues(CudaKernels &kernels, const alula_cuda_launch &launch,
                   const Dispatch &dispatch, Command &command);
  Status launchSpecially(const alula_cuda_launch &launch,
                         const Command &command);
  /// Waits for others, to be given to CUDA with them.
  Status push(const Command &command);
  Status pushCopy(DeviceAddress to, DeviceAddress from, uint64_t bytes);
  Status pushExchanges(const Exchange *exchanges, size_t count,
                       DeviceAddress word);
  Status pushFill(DeviceAddress to, uint32_t pattern, uint32_t elementBytes,
                  uint64_t count, uint64_t pitch);
  /// Gives CUDA all that waits.
  Status flush();
  Status issue(const Command &command);
  /// One after the other, the host deciding loops.
  Status issueAll();
  Status issueTest(const Command &command, bool *holds);
  Status issueChoice(const Command &command);
  Status issueExchange(const Command &command);
  /// Until the stream has run, or loops were told to stop; `check` knows what
  /// it gives if collectives can't go on.
  Result waitForStream();
  static constexpr Result collectiveFailed = -1;
  bool waitForCollectives();
  /// Before CUDA itself waits for the stream, which nobody could end.
  Status awaitCollectives() {
    return waitForCollectives() ? nullptr : check(collectiveFailed, "");
  }
  void giveUpCollectives();
  void closeCollectives();
  /// Opens a loop or a choice, which needs a word; `isTaken` is false if the
  /// host has to decide.
  Status open(const int *wanted, bool *isTaken);
  /// Ends what was opened last.
  void close(bool *isTaken);
  /// Forgets the loops and choices that have not ended.
  void forgetOpen();
  /// No command of a loop, if one is open: the host has to decide that.
  bool refuseInLoop() {
    canRecord = canRecord && !openCount;
    return openCount;
  }
  /// For all that has been encoded.
  Status waitForAll(const char *what);
  /// Pinned memory that stays until the stream has run.
  Status takeStaging(uint64_t bytes, uint8_t **memory);
  Status takeFailureSlot(const Dispatch &dispatch, uint64_t *address);
  Status takeFailure();

  CudaDevice &device;
  StreamHandle handle = nullptr;
  uint8_t *staging = nullptr;
  uint64_t staged = 0;
  /// For calls of libraries: taken at the first.
  DeviceAddress workspace = 0;
  int32_t *failures = nullptr;
  Watched watched[failureSlots] = {};
  uint32_t watchedCount = 0;
  /// The last kernel that was launched: errors show late.
  const char *lastFunction = nullptr, *lastKernel = nullptr;
  CommandList pending;
  CudaGraphs graphs;
  Array<void *> parameters;
  // ---- Loops and choices ----
  /// Words of pinned memory: whether loops are to stop, one for each loop and
  /// choice, and a 1.
  uint32_t *loopWords = nullptr;
  const int *cancel = nullptr;
  EventHandle loopsDone = nullptr;
  /// What has no end yet: of a loop its first and its middle test; of a choice
  /// the command of its first branch and that of the one that is encoded. And
  /// what there was before the outermost.
  struct Open {
    uint32_t first, second;
  } opened[mostOpen];
  uint32_t openCount = 0;
  uint32_t commandsBefore = 0, valuesBefore = 0, wordsBefore = 0;
  bool hadLoops = false;
  bool canRecord = true;
  // ---- Collectives ----
  NcclStream *collectives = nullptr;
  Status collectiveFailure = nullptr;
};

} // namespace alula::runtime::cuda
