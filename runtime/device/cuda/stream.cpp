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
  uint64_t bytes = stagingBytes + failureSlots * sizeof(int32_t);
  ALULA_TRY(check(api.MemHostAlloc(&memory, bytes, hostPortable), "staging"));
  staging = static_cast<uint8_t *>(memory);
  failures = reinterpret_cast<int32_t *>(staging + stagingBytes);
  return nullptr;
}

CudaStream::~CudaStream() {
  Current current(device);
  if (handle)
    device.api->StreamDestroy(handle);
  if (staging)
    device.api->MemFreeHost(staging);
}

/// An error may be of any command before it: the last kernel is named.
Status CudaStream::check(Result result, const char *what) {
  if (result == success)
    return nullptr;
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
  Result result = device.api->StreamSynchronize(handle);
  staged = 0;
  if (result != success) {
    watchedCount = 0;
    Status status = check(result, "waiting for the device");
    lastKernel = nullptr;
    return status;
  }
  lastKernel = nullptr;
  return takeFailure();
}

Status CudaStream::takeStaging(uint64_t bytes, uint8_t **memory) {
  uint64_t rounded = (bytes + 63) / 64 * 64;
  if (staged + rounded > stagingBytes) {
    // What kernels have left stays for whoever waits.
    ALULA_TRY(
        check(device.api->StreamSynchronize(handle), "waiting for copies"));
    staged = 0;
  }
  *memory = staging + staged;
  staged += rounded;
  return nullptr;
}

Status CudaStream::takeFailureSlot(const Dispatch &dispatch,
                                   uint64_t *address) {
  if (watchedCount == failureSlots) {
    ALULA_TRY(
        check(device.api->StreamSynchronize(handle), "waiting for kernels"));
    ALULA_TRY(takeFailure());
  }
  failures[watchedCount] = 0;
  watched[watchedCount] = {dispatch.functionName, dispatch.kernelName};
  *address = reinterpret_cast<uint64_t>(&failures[watchedCount++]);
  return nullptr;
}

// ---- Kernels ----

Status CudaStream::launch(CudaKernels &kernels, const alula_cuda_launch &launch,
                          const Dispatch &dispatch) {
  const alula_kernel_args &args = dispatch.args;
  LaunchConfig config = {};
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
    config.grid[axis] = unsigned(blocks);
    config.block[axis] = launch.block[axis];
  }
  config.sharedBytes = launch.shared_bytes;
  config.stream = handle;
  if (values.size() < launch.argument_count + 1 &&
      (!values.resize(kernels.getMostArguments() + 1) ||
       !parameters.resize(kernels.getMostArguments() + 1)))
    return makeOutOfMemory("arguments of a kernel", launch.argument_count * 16);
  const alula_cuda_argument *arguments = kernels.getArguments(launch);
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
      ALULA_TRY(takeFailureSlot(dispatch, &value));
      break;
    default:
      break;
    }
    // The low half of a number comes first.
    values[i] = value;
    parameters[i] = &values[i];
  }
  FunctionHandle function;
  ALULA_TRY(kernels.getFunction(device, launch, &function));
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
  lastFunction = dispatch.functionName;
  lastKernel = dispatch.kernelName;
  return check(
      device.api->LaunchKernelEx(&config, function, parameters.data(), nullptr),
      "a launch");
}

Status CudaStream::dispatch(CudaKernels &kernels, const Dispatch &dispatch) {
  Current current(device);
  ALULA_TRY(check(current.getResult(), "a context"));
  for (const alula_cuda_launch &each : kernels.getLaunches(dispatch.kernel)) {
    if (dispatch.cancel && __atomic_load_n(dispatch.cancel, __ATOMIC_RELAXED))
      return makeError(ALULA_STATUS_CANCELLED,
                       "function '%s': the call was cancelled",
                       dispatch.functionName);
    ALULA_TRY(launch(kernels, each, dispatch));
  }
  return nullptr;
}

// ---- Copies ----

Status CudaStream::copyTo(uint8_t *to, const void *from, uint64_t bytes) {
  if (!bytes)
    return nullptr;
  Current current(device);
  if (bytes > mostStaged) {
    ALULA_TRY(check(
        device.api->MemcpyAsync(addressOf(to), addressOf(from), bytes, handle),
        "a copy to the device"));
    // The bytes may be pinned by somebody: only then are they still needed.
    return check(device.api->StreamSynchronize(handle), "a copy to the device");
  }
  uint8_t *memory;
  ALULA_TRY(takeStaging(bytes, &memory));
  memcpy(memory, from, bytes);
  return check(
      device.api->MemcpyAsync(addressOf(to), addressOf(memory), bytes, handle),
      "a copy to the device");
}

Status CudaStream::copyFrom(void *to, const uint8_t *from, uint64_t bytes) {
  if (!bytes)
    return synchronize();
  uint8_t *memory = nullptr;
  {
    Current current(device);
    if (bytes <= mostStaged)
      ALULA_TRY(takeStaging(bytes, &memory));
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
    return check(api.MemcpyAsync(addressOf(to), addressOf(from), bytes, handle),
                 "a copy");
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
  return check(device.api->MemcpyPeerAsync(addressOf(to), device.context,
                                           addressOf(from), source.context,
                                           bytes, handle),
               "a copy from another device");
}

Status CudaStream::fill(uint8_t *to, uint64_t pattern, uint32_t width,
                        uint64_t bytes) {
  if (!bytes)
    return nullptr;
  const Api &api = *device.api;
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
    return check(api.MemsetD8Async(at, uint8_t(pattern), bytes, handle),
                 "a fill");
  if (isWhole && low == high)
    return check(api.MemsetD32Async(at, low, bytes / 4, handle), "a fill");
  if (isWhole) {
    // Every other word.
    ALULA_TRY(
        check(api.MemsetD2D32Async(at, 8, low, 1, (bytes + 4) / 8, handle),
              "a fill"));
    return bytes < 8 ? nullptr
                     : check(api.MemsetD2D32Async(at + 4, 8, high, 1, bytes / 8,
                                                  handle),
                             "a fill");
  }
  if (at % 2 == 0 && bytes % 2 == 0 && low == high &&
      (low >> 16) == (low & 0xFFFF))
    return check(api.MemsetD16Async(at, uint16_t(low), bytes / 2, handle),
                 "a fill");
  // Patterns that lie across words: pieces of them from the host.
  for (uint64_t done = 0; done < bytes;) {
    uint64_t piece = bytes - done < mostStaged ? bytes - done : mostStaged;
    uint8_t *memory;
    ALULA_TRY(takeStaging(piece, &memory));
    for (uint64_t i = 0; i < piece; ++i)
      memory[i] = uint8_t(pattern >> (8 * (i % 8)));
    ALULA_TRY(
        check(api.MemcpyAsync(at + done, addressOf(memory), piece, handle),
              "a fill"));
    done += piece;
  }
  return nullptr;
}

// ---- Events ----

Status CudaStream::record(CudaEvent &event) {
  Current current(device);
  return check(device.api->EventRecord(event.handle, handle), "an event");
}
Status CudaStream::wait(CudaEvent &event) {
  Current current(device);
  return check(device.api->StreamWaitEvent(handle, event.handle, 0),
               "waiting for an event");
}

} // namespace alula::runtime::cuda
