// Commands of a stream.

#include "runtime/device/cuda/device.h"

#include <cstdio>

namespace alula::runtime::cuda {
namespace {

/// Of the device's memory, or of the host's: no two things have one address.
DeviceAddress addressOf(const void *memory) {
  return reinterpret_cast<DeviceAddress>(memory);
}
} // namespace

Status CudaStream::start() {
  const Api &api = *device.api;
  Current current(device);
  ALULA_TRY(check(current.getResult(), "a context"));
  ALULA_TRY(check(api.StreamCreate(&handle, streamNonBlocking), "a stream"));
  void *memory = nullptr;
  uint64_t words = failureSlots + 2 + mostWords;
  uint64_t bytes = stagingBytes + words * sizeof(int32_t);
  ALULA_TRY(check(api.MemHostAlloc(&memory, bytes, hostPortable), "staging"));
  staging = static_cast<uint8_t *>(memory);
  failures = reinterpret_cast<int32_t *>(staging + stagingBytes);
  loopWords = reinterpret_cast<uint32_t *>(failures + failureSlots);
  memset(loopWords, 0, (1 + mostWords) * sizeof(uint32_t));
  loopWords[1 + mostWords] = 1;
  graphs.setStop(loopWords);
  return nullptr;
}

CudaStream::~CudaStream() {
  Current current(device);
  closeCollectives();
  if (loopsDone)
    device.api->EventDestroy(loopsDone);
  if (workspace)
    device.api->MemFreeAsync(workspace, handle);
  if (handle)
    device.api->StreamDestroy(handle);
  if (staging)
    device.api->MemFreeHost(staging);
}

/// An error may be of any command before it: the last kernel is named.
Status CudaStream::check(Result result, const char *what) {
  if (result == success)
    return nullptr;
  if (result == collectiveFailed) {
    Status failure = collectiveFailure;
    collectiveFailure = nullptr;
    return failure;
  }
  if (!lastKernel)
    return makeCudaError(*device.api, result, what);
  char more[400];
  snprintf(more, sizeof more,
           "function '%.150s': %s, after kernel '%.100s' or before it",
           lastFunction, what, lastKernel);
  return makeCudaError(*device.api, result, more);
}

Status CudaStream::takeFailure() {
  Status status = nullptr;
  for (uint32_t i = 0; i < watchedCount && !status; ++i)
    if (int32_t code = failures[i])
      status =
          makeKernelError(watched[i].functionName, watched[i].kernelName, code);
  watchedCount = 0;
  return status;
}

Status CudaStream::synchronize() {
  Current current(device);
  // Whoever was recording one has had an error.
  forgetOpen();
  Status failed = flush();
  if (failed)
    giveUpCollectives();
  Result result = waitForStream();
  staged = 0;
  cancel = nullptr;
  bool isStopped = loopWords[0];
  loopWords[0] = 0;
  if (failed) {
    watchedCount = 0;
    lastKernel = nullptr;
    return failed;
  }
  if (result != success) {
    watchedCount = 0;
    Status status = check(result, "waiting for the device");
    lastKernel = nullptr;
    return status;
  }
  const char *function = lastFunction;
  lastKernel = nullptr;
  ALULA_TRY(takeFailure());
  return isStopped ? makeError(ALULA_STATUS_CANCELLED,
                               "function '%.200s': the call was cancelled",
                               function ? function : "")
                   : nullptr;
}

Status CudaStream::takeStaging(uint64_t bytes, uint8_t **memory) {
  uint64_t rounded = (bytes + 63) / 64 * 64;
  if (staged + rounded > stagingBytes) {
    // What kernels have left stays for whoever waits.
    ALULA_TRY(waitForAll("waiting for copies"));
    staged = 0;
  }
  *memory = staging + staged;
  staged += rounded;
  return nullptr;
}

Status CudaStream::takeFailureSlot(const Dispatch &dispatch,
                                   uint64_t *address) {
  if (watchedCount == failureSlots) {
    ALULA_TRY(waitForAll("waiting for kernels"));
    ALULA_TRY(takeFailure());
  }
  failures[watchedCount] = 0;
  watched[watchedCount] = {dispatch.functionName, dispatch.kernelName};
  *address = reinterpret_cast<uint64_t>(&failures[watchedCount++]);
  return nullptr;
}

// ---- What waits ----

Status CudaStream::waitForAll(const char *what) {
  ALULA_TRY(flush());
  return check(waitForStream(), what);
}

Status CudaStream::push(const Command &command) {
  if (!pending.commands.push(command))
    return makeOutOfMemory("commands of a stream", sizeof command);
  // Of a loop or choice nothing goes before its end.
  return openCount || pending.count() < mostPending ? nullptr : flush();
}

Status CudaStream::pushCopy(DeviceAddress to, DeviceAddress from,
                            uint64_t bytes) {
  // Pitches have 31 bits, of copies of one row too.
  if (bytes > uint64_t(1) << 30) {
    if (refuseInLoop())
      return nullptr;
    ALULA_TRY(flush());
    return check(device.api->MemcpyAsync(to, from, bytes, handle), "a copy");
  }
  Command command = {};
  command.kind = Command::Copy;
  command.to = to;
  command.from = from;
  command.bytes = bytes;
  return push(command);
}

Status CudaStream::pushFill(DeviceAddress to, uint32_t pattern,
                            uint32_t elementBytes, uint64_t count,
                            uint64_t pitch) {
  Command command = {};
  command.kind = Command::Fill;
  command.to = to;
  command.pattern = pattern;
  command.elementBytes = elementBytes;
  command.count = count;
  command.pitch = pitch;
  return push(command);
}

Status CudaStream::issue(const Command &command) {
  const Api &api = *device.api;
  if (command.kind == Command::Copy)
    return check(
        api.MemcpyAsync(command.to, command.from, command.bytes, handle),
        "a copy");
  if (command.kind == Command::Fill) {
    DeviceAddress to = command.to;
    uint32_t pattern = command.pattern;
    uint64_t count = command.count;
    return check(
        command.pitch != command.elementBytes
            ? api.MemsetD2D32Async(to, command.pitch, pattern, 1, count, handle)
        : command.elementBytes == 1
            ? api.MemsetD8Async(to, uint8_t(pattern), count, handle)
        : command.elementBytes == 2
            ? api.MemsetD16Async(to, uint16_t(pattern), count, handle)
            : api.MemsetD32Async(to, pattern, count, handle),
        "a fill");
  }
  if (command.kind == Command::Call) {
    lastFunction = command.functionName;
    lastKernel = command.kernelName;
    char reason[240] = "";
    return command.call->run(handle, pending.values.data() + command.firstValue,
                             command.to, reason, sizeof reason)
               ? nullptr
               : makeError(ALULA_STATUS_INTERNAL,
                           "function '%.200s': kernel '%.100s': %s",
                           lastFunction, lastKernel, reason);
  }
  if (!parameters.resize(command.valueCount + 1))
    return makeOutOfMemory("arguments of a kernel", command.valueCount * 8);
  for (uint32_t i = 0; i < command.valueCount; ++i)
    parameters[i] = &pending.values[command.firstValue + i];
  LaunchConfig config = {};
  memcpy(config.grid, command.grid, sizeof config.grid);
  memcpy(config.block, command.block, sizeof config.block);
  config.sharedBytes = command.sharedBytes;
  config.stream = handle;
  lastFunction = command.functionName;
  lastKernel = command.kernelName;
  return check(device.api->LaunchKernelEx(&config, command.function,
                                          parameters.data(), nullptr),
               "a launch");
}

Status CudaStream::flush() {
  Status status = nullptr;
  Result result = success;
  if (graphs.launch(pending, handle, &result)) {
    for (const Command &command : pending.commands)
      if (command.kind == Command::Launch || command.kind == Command::Call) {
        lastFunction = command.functionName;
        lastKernel = command.kernelName;
      }
    status = check(result, "a graph");
  } else {
    status = issueAll();
  }
  pending.clear();
  return status;
}

// ---- Kernels ----

Status CudaStream::launch(CudaKernels &kernels, const alula_cuda_launch &launch,
                          const Dispatch &dispatch) {
  const alula_kernel_args &args = dispatch.args;
  Command command = {};
  command.kind = Command::Launch;
  command.owner = kernels.getSerial();
  command.sharedBytes = launch.shared_bytes;
  command.functionName = dispatch.functionName;
  command.kernelName = dispatch.kernelName;
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t blocks = launch.grid[axis];
    if (launch.grid_axis[axis] != ALULA_NONE)
      blocks *= args.workgroup_count[launch.grid_axis[axis]];
    if (!blocks)
      return nullptr;
    if (blocks > (axis ? 65535u : 0x7FFFFFFFu))
      return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                       "function '%.200s': kernel '%.100s' has %llu blocks "
                       "along axis %d",
                       dispatch.functionName, dispatch.kernelName,
                       static_cast<unsigned long long>(blocks), axis);
    command.grid[axis] = unsigned(blocks);
    command.block[axis] = launch.block[axis];
  }
  ALULA_TRY(addValues(kernels, launch, dispatch, command));
  if (openCount && !canRecord)
    return nullptr;
  ALULA_TRY(kernels.getFunction(device, launch, &command.function));
  uint32_t cluster = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  if (cluster <= 1 && !(launch.flags & ALULA_CUDA_LAUNCH_COOPERATIVE))
    return push(command);
  return launchSpecially(launch, command);
}

Status CudaStream::addValues(CudaKernels &kernels,
                             const alula_cuda_launch &launch,
                             const Dispatch &dispatch, Command &command) {
  const alula_kernel_args &args = dispatch.args;
  const alula_cuda_argument *arguments = kernels.getArguments(launch);
  // What a slot is taken for may give away all that waits.
  uint64_t failureSlot = 0;
  for (uint32_t i = 0; i < launch.argument_count; ++i)
    if (arguments[i].kind == ALULA_CUDA_ARGUMENT_FAILURE) {
      // Its code is looked at in each round.
      if (refuseInLoop())
        return nullptr;
      ALULA_TRY(takeFailureSlot(dispatch, &failureSlot));
    }
  command.firstValue = uint32_t(pending.values.size());
  command.valueCount = launch.argument_count;
  if (!pending.values.resize(command.firstValue + command.valueCount))
    return makeOutOfMemory("arguments of a kernel", launch.argument_count * 8);
  for (uint32_t i = 0; i < launch.argument_count; ++i) {
    const alula_cuda_argument &argument = arguments[i];
    uint64_t value = argument.value;
    switch (argument.kind) {
    case ALULA_CUDA_ARGUMENT_BINDING:
      value += reinterpret_cast<uint64_t>(args.bindings[argument.index]);
      break;
    case ALULA_CUDA_ARGUMENT_BINDING_BYTES:
      value = args.binding_bytes[argument.index];
      break;
    case ALULA_CUDA_ARGUMENT_CONSTANT:
      value = uint64_t(args.constants[argument.index]);
      break;
    case ALULA_CUDA_ARGUMENT_SCRATCH:
      value += reinterpret_cast<uint64_t>(dispatch.scratch);
      break;
    case ALULA_CUDA_ARGUMENT_WORKGROUPS:
      value = args.workgroup_count[argument.index];
      break;
    case ALULA_CUDA_ARGUMENT_FAILURE:
      value = failureSlot;
      break;
    default:
      break;
    }
    // The low half of a number comes first.
    pending.values[command.firstValue + i] = value;
  }
  return nullptr;
}

Status CudaStream::call(CudaKernels &kernels, const alula_cuda_launch &launch,
                        const Dispatch &dispatch, bool *isTaken) {
  const CudaCall *call;
  ALULA_TRY(kernels.getCall(device, launch, &call));
  *isTaken = call->plan;
  // A kernel that is computed elsewhere needs none.
  if (*isTaken && launch.argument_count && !workspace)
    ALULA_TRY(check(device.api->MemAllocFromPoolAsync(
                        &workspace, workspaceBytes, device.pool, handle),
                    "memory for a library"));
  if (dispatch.computedBy)
    *dispatch.computedBy = call->reason;
  if (!*isTaken)
    return launch.grid[0]
               ? nullptr
               : makeError(call->isMissing ? ALULA_STATUS_UNAVAILABLE
                                           : ALULA_STATUS_UNIMPLEMENTED,
                           "function '%.200s': kernel '%.100s': %s",
                           dispatch.functionName, dispatch.kernelName,
                           call->reason);
  if (!launch.argument_count)
    return nullptr;
  Command command = {};
  command.kind = Command::Call;
  command.owner = kernels.getSerial();
  command.call = call;
  command.to = workspace;
  command.functionName = dispatch.functionName;
  command.kernelName = dispatch.kernelName;
  ALULA_TRY(addValues(kernels, launch, dispatch, command));
  return push(command);
}

/// Clusters and grids that are there at once are no part of graphs.
Status CudaStream::launchSpecially(const alula_cuda_launch &launch,
                                   const Command &command) {
  if (refuseInLoop())
    return nullptr;
  // What waits is given away before, and its parameters with it.
  Array<uint64_t> values;
  Array<void *> own;
  if (!values.resize(command.valueCount + 1) ||
      !own.resize(command.valueCount + 1))
    return makeOutOfMemory("arguments of a kernel", command.valueCount * 16);
  for (uint32_t i = 0; i < command.valueCount; ++i) {
    values[i] = pending.values[command.firstValue + i];
    own[i] = &values[i];
  }
  LaunchConfig config = {};
  memcpy(config.grid, command.grid, sizeof config.grid);
  memcpy(config.block, command.block, sizeof config.block);
  config.sharedBytes = command.sharedBytes;
  config.stream = handle;
  LaunchAttribute attributes[2] = {};
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1) {
    LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = launchCluster;
    memcpy(attribute.value.cluster, launch.cluster, sizeof launch.cluster);
  }
  if (launch.flags & ALULA_CUDA_LAUNCH_COOPERATIVE) {
    LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = launchCooperative;
    attribute.value.cooperative = 1;
  }
  config.attributes = attributes;
  ALULA_TRY(flush());
  lastFunction = command.functionName;
  lastKernel = command.kernelName;
  return check(device.api->LaunchKernelEx(&config, command.function, own.data(),
                                          nullptr),
               "a launch");
}

Status CudaStream::dispatch(CudaKernels &kernels, const Dispatch &dispatch) {
  Current current(device);
  ALULA_TRY(check(current.getResult(), "a context"));
  auto launches = kernels.getLaunches(dispatch.kernel);
  for (uint64_t i = 0; i < launches.size; ++i) {
    const alula_cuda_launch &each = launches[i];
    if (dispatch.cancel && __atomic_load_n(dispatch.cancel, __ATOMIC_RELAXED))
      return makeError(ALULA_STATUS_CANCELLED,
                       "function '%s': the call was cancelled",
                       dispatch.functionName);
    bool isTaken = false;
    if (!(each.flags & ALULA_CUDA_LAUNCH_CALL))
      ALULA_TRY(launch(kernels, each, dispatch));
    else
      ALULA_TRY(call(kernels, each, dispatch, &isTaken));
    if (isTaken)
      i += each.grid[0];
  }
  return nullptr;
}

// ---- Copies ----

Status CudaStream::copyTo(uint8_t *to, const void *from, uint64_t bytes) {
  if (!bytes)
    return nullptr;
  Current current(device);
  if (bytes > mostStaged) {
    ALULA_TRY(flush());
    ALULA_TRY(awaitCollectives());
    ALULA_TRY(check(
        device.api->MemcpyAsync(addressOf(to), addressOf(from), bytes, handle),
        "a copy to the device"));
    // The bytes may be pinned by somebody: only then are they still needed.
    return check(waitForStream(), "a copy to the device");
  }
  uint8_t *memory;
  ALULA_TRY(takeStaging(bytes, &memory));
  memcpy(memory, from, bytes);
  return pushCopy(addressOf(to), addressOf(memory), bytes);
}

Status CudaStream::copyFrom(void *to, const uint8_t *from, uint64_t bytes) {
  if (!bytes)
    return synchronize();
  uint8_t *memory = nullptr;
  {
    Current current(device);
    if (bytes <= mostStaged)
      ALULA_TRY(takeStaging(bytes, &memory));
    ALULA_TRY(flush());
    // Memory that is not pinned is waited for by CUDA itself.
    if (cancel)
      ALULA_TRY(check(waitForStream(), "a copy from the device"));
    ALULA_TRY(awaitCollectives());
    ALULA_TRY(check(device.api->MemcpyAsync(addressOf(memory ? memory : to),
                                            addressOf(from), bytes, handle),
                    "a copy from the device"));
  }
  ALULA_TRY(synchronize());
  if (memory)
    memcpy(to, memory, bytes);
  return nullptr;
}

Status CudaStream::copy(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  if (!bytes || to == from)
    return nullptr;
  const Api &api = *device.api;
  Current current(device);
  bool overlap = to < from + bytes && from < to + bytes;
  if (!overlap)
    return pushCopy(addressOf(to), addressOf(from), bytes);
  if (refuseInLoop())
    return nullptr;
  ALULA_TRY(flush());
  DeviceAddress between;
  ALULA_TRY(
      check(api.MemAllocFromPoolAsync(&between, bytes, device.pool, handle),
            "a copy of bytes that overlap"));
  Result result = api.MemcpyAsync(between, addressOf(from), bytes, handle);
  if (result == success)
    result = api.MemcpyAsync(addressOf(to), between, bytes, handle);
  Result freed = api.MemFreeAsync(between, handle);
  return check(result != success ? result : freed, "a copy");
}

Status CudaStream::copyFromDevice(uint8_t *to, CudaDevice &source,
                                  const uint8_t *from, uint64_t bytes) {
  if (!bytes)
    return nullptr;
  Current current(device);
  ALULA_TRY(flush());
  return check(device.api->MemcpyPeerAsync(addressOf(to), device.context,
                                           addressOf(from), source.context,
                                           bytes, handle),
               "a copy from another device");
}

Status CudaStream::fill(uint8_t *to, uint64_t pattern, uint32_t width,
                        uint64_t bytes) {
  if (!bytes)
    return nullptr;
  DeviceAddress at = addressOf(to);
  if (width == 1)
    pattern = (pattern & 0xFF) * 0x0101010101010101;
  else if (width == 2)
    pattern = (pattern & 0xFFFF) * 0x0001000100010001;
  else if (width == 4)
    pattern = (pattern & 0xFFFFFFFF) * 0x0000000100000001;
  auto low = uint32_t(pattern), high = uint32_t(pattern >> 32);
  bool isByte = pattern == (pattern & 0xFF) * 0x0101010101010101;
  bool isWhole = at % 4 == 0 && bytes % 4 == 0;
  Current current(device);
  if (isByte)
    return pushFill(at, uint8_t(pattern), 1, bytes, 1);
  if (isWhole && low == high)
    return pushFill(at, low, 4, bytes / 4, 4);
  if (isWhole) {
    // Every other word.
    ALULA_TRY(pushFill(at, low, 4, (bytes + 4) / 8, 8));
    return bytes < 8 ? nullptr : pushFill(at + 4, high, 4, bytes / 8, 8);
  }
  if (at % 2 == 0 && bytes % 2 == 0 && low == high &&
      (low >> 16) == (low & 0xFFFF))
    return pushFill(at, uint16_t(low), 2, bytes / 2, 2);
  // Patterns that lie across words: pieces of them from the host.
  if (refuseInLoop())
    return nullptr;
  for (uint64_t done = 0; done < bytes;) {
    uint64_t piece = bytes - done < mostStaged ? bytes - done : mostStaged;
    uint8_t *memory;
    ALULA_TRY(takeStaging(piece, &memory));
    for (uint64_t i = 0; i < piece; ++i)
      memory[i] = uint8_t(pattern >> (8 * (i % 8)));
    ALULA_TRY(pushCopy(at + done, addressOf(memory), piece));
    done += piece;
  }
  return nullptr;
}

// ---- Events ----

Status CudaStream::record(CudaEvent &event) {
  Current current(device);
  ALULA_TRY(flush());
  return check(device.api->EventRecord(event.handle, handle), "an event");
}
Status CudaStream::wait(CudaEvent &event) {
  Current current(device);
  ALULA_TRY(flush());
  return check(device.api->StreamWaitEvent(handle, event.handle, 0),
               "waiting for an event");
}

} // namespace alula::runtime::cuda
