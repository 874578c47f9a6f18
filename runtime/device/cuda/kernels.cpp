// From an image to functions of a device.

#include "runtime/device/cuda/device.h"

#include <cstdio>

namespace alula::runtime::cuda {

CudaKernels::~CudaKernels() {
  for (PerDevice &mine : devices) {
    if (!mine.modules)
      continue;
    // The context lives as long as somebody holds it.
    ContextHandle popped;
    if (api->CtxPushCurrent(mine.context) == success) {
      for (uint64_t i = 0; i < image.modules.size; ++i)
        if (mine.modules[i])
          api->ModuleUnload(mine.modules[i]);
      for (uint64_t i = 0; i < image.launches.size; ++i)
        if (CudaCall *call = mine.calls[i]; call && call->plan)
          call->library->release(call->plan);
      api->CtxPopCurrent(&popped);
    }
    api->DevicePrimaryCtxRelease(mine.number);
    for (uint64_t i = 0; i < image.launches.size; ++i)
      free(mine.calls[i]);
    free(mine.modules);
    free(mine.functions);
    free(mine.calls);
  }
}

Status CudaKernels::load(const Api &wanted, const artifact::Artifact &artifact,
                         const alula_file_variant &variant) {
  api = &wanted;
  artifact::Diagnostic diagnostic;
  if (!readCudaImage(artifact, variant, image, diagnostic))
    return makeError(diagnostic.code, "%s", diagnostic.text);
  snprintf(name, sizeof name, "%.63s", artifact.getString(variant.name));
  for (uint64_t i = 0; i < artifact.kernels.size; ++i)
    if (!records.push(&image.getKernel(artifact, variant, i)))
      return makeOutOfMemory("kernels", artifact.kernels.size * sizeof(void *));
  static uint64_t count = 0;
  serial = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  return nullptr;
}

uint32_t chooseCode(const artifact::CudaImage &image,
                    const alula_cuda_module &module, uint32_t chip,
                    bool takesCubins) {
  uint32_t best = ALULA_NONE;
  uint64_t bestRank = 0;
  for (uint32_t i = 0; i < module.code_count; ++i) {
    const alula_cuda_code &code = image.codes[module.first_code + i];
    bool isExact = code.flags & ALULA_CUDA_CODE_EXACT;
    bool isCubin = code.kind == ALULA_CUDA_CUBIN;
    bool fits = isExact ? code.chip == chip
                        : code.chip <= chip &&
                              (!isCubin || code.chip / 10 == chip / 10);
    // Finished code before text, made for a higher chip before a lower one.
    fits &= takesCubins || !isCubin;
    uint64_t rank =
        fits ? 1 + code.chip * 2ull + isExact + (isCubin ? 1u << 20 : 0) : 0;
    if (rank > bestRank) {
      bestRank = rank;
      best = module.first_code + i;
    }
  }
  return best;
}

Status CudaKernels::loadModule(const CudaDevice &device, uint32_t number,
                               ModuleHandle *module) {
  int major = 0, minor = 0;
  api->DeviceGetAttribute(&major, capabilityMajor, device.number);
  api->DeviceGetAttribute(&minor, capabilityMinor, device.number);
  auto chip = uint32_t(major * 10 + minor);
  uint32_t chosen = chooseCode(image, image.modules[number], chip, true);
  if (chosen == ALULA_NONE)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "variant '%s': no code of module %u runs on sm_%u", name,
                     number, chip);
  char log[2048] = "";
  int options[] = {errorLog, errorLogBytes};
  void *settings[] = {log, reinterpret_cast<void *>(uintptr_t(sizeof log - 1))};
  Result result = api->ModuleLoadDataEx(
      module, image.bytes + image.codes[chosen].offset, 2, options, settings);
  // Machine code of a toolkit that the driver does not know: text instead.
  bool isRefused = result == noBinary || result == invalidImage ||
                   result == unsupportedPtxVersion;
  if (isRefused && image.codes[chosen].kind == ALULA_CUDA_CUBIN)
    if (uint32_t text = chooseCode(image, image.modules[number], chip, false);
        text != ALULA_NONE)
      result = api->ModuleLoadDataEx(
          module, image.bytes + image.codes[text].offset, 2, options, settings);
  if (result == success)
    return nullptr;
  for (size_t end = strlen(log); end > 0 && log[end - 1] == '\n';)
    log[--end] = 0;
  if (result == unsupportedPtxVersion) {
    int version = 0;
    api->DriverGetVersion(&version);
    return makeError(
        ALULA_STATUS_FAILED_PRECONDITION,
        "variant '%s': module %u needs a newer version of PTX than "
        "the driver of CUDA %d.%d reads",
        name, number, version / 1000, version % 1000 / 10);
  }
  char what[2400];
  snprintf(what, sizeof what, "variant '%s': module %u for sm_%u%s%s", name,
           number, chip, *log ? ": " : "", log);
  return makeCudaError(*api, result, what);
}

Status CudaKernels::hold(const CudaDevice &device) {
  PerDevice &mine = devices[device.ordinal];
  if (mine.modules)
    return nullptr;
  // Held until the kernels go, whatever becomes of the instance.
  Result result = api->DevicePrimaryCtxRetain(&mine.context, device.number);
  if (result != success)
    return makeCudaError(*api, result, "cuDevicePrimaryCtxRetain");
  mine.number = device.number;
  auto *modules = static_cast<ModuleHandle *>(
      calloc(image.modules.size + 1, sizeof(ModuleHandle)));
  auto *functions = static_cast<FunctionHandle *>(
      calloc(image.launches.size + 1, sizeof(FunctionHandle)));
  auto *calls = static_cast<CudaCall **>(
      calloc(image.launches.size + 1, sizeof(CudaCall *)));
  if (!modules || !functions || !calls) {
    free(modules);
    free(functions);
    free(calls);
    api->DevicePrimaryCtxRelease(device.number);
    return makeOutOfMemory("functions of a device",
                           image.launches.size * sizeof(FunctionHandle));
  }
  mine.modules = modules;
  mine.calls = calls;
  __atomic_store_n(&mine.functions, functions, __ATOMIC_RELEASE);
  return nullptr;
}

Status CudaKernels::getCall(const CudaDevice &device,
                            const alula_cuda_launch &launch,
                            const CudaCall **call) {
  Lock lock(mutex);
  ALULA_TRY(hold(device));
  CudaCall *&mine =
      devices[device.ordinal].calls[&launch - image.launches.data];
  if (!mine) {
    mine = static_cast<CudaCall *>(calloc(1, sizeof(CudaCall)));
    if (!mine)
      return makeOutOfMemory("a call", sizeof(CudaCall));
    prepareCall(device, image.getEntry(launch), launch.argument_count, *mine);
  }
  *call = mine;
  return nullptr;
}

Status CudaKernels::getFunction(const CudaDevice &device,
                                const alula_cuda_launch &launch,
                                FunctionHandle *function) {
  PerDevice &mine = devices[device.ordinal];
  auto index = size_t(&launch - image.launches.data);
  if (FunctionHandle *known =
          __atomic_load_n(&mine.functions, __ATOMIC_ACQUIRE))
    if ((*function = __atomic_load_n(&known[index], __ATOMIC_ACQUIRE)))
      return nullptr;
  Lock lock(mutex);
  ALULA_TRY(hold(device));
  ModuleHandle &module = mine.modules[launch.module];
  if (!module)
    ALULA_TRY(loadModule(device, launch.module, &module));
  const char *entry = image.getEntry(launch);
  Result result = api->ModuleGetFunction(function, module, entry);
  // More than every block may have must be asked for.
  if (result == success && launch.shared_bytes > 48 << 10)
    result = api->FuncSetAttribute(*function, maxDynamicShared,
                                   int(launch.shared_bytes));
  if (result != success) {
    char what[256];
    snprintf(what, sizeof what, "variant '%s': entry '%.150s'", name, entry);
    return makeCudaError(*api, result, what);
  }
  __atomic_store_n(&mine.functions[index], *function, __ATOMIC_RELEASE);
  return nullptr;
}

} // namespace alula::runtime::cuda
