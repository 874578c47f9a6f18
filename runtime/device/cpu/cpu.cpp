// The CPU: picks a variant, maps its code, runs grids on the pool.

#include "runtime/base/clock.h"
#include "runtime/device/cpu/features.h"
#include "runtime/device/cpu/image.h"
#include "runtime/device/cpu/variants.h"
#include "runtime/device/host/memory.h"

#include <cstdio>

namespace alula::runtime {
namespace {

struct CpuKernels {
  CodeImage image;
  Array<alula_kernel> entries;
};

Status explainNoFit(const artifact::Artifact &artifact,
                    const Processor &processor, const char *wanted) {
  char needs[512] = "", here[512];
  size_t used = 0;
  bool found = false;
  for (const alula_file_variant &variant : artifact.variants) {
    const char *name = artifact.getString(variant.name);
    if (wanted && strcmp(wanted, name) != 0)
      continue;
    found = true;
    int more = snprintf(needs + used, sizeof needs - used, "%s'%s' needs %s",
                        used ? ", " : "", name,
                        findMissing(artifact, variant, processor));
    if (more < 0 || size_t(more) >= sizeof needs - used)
      break;
    used += size_t(more);
  }
  if (!found)
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "the artifact has no variant%s%s%s", wanted ? " '" : "",
                     wanted ? wanted : "", wanted ? "'" : "");
  listFeatures(processor, here, sizeof here);
  return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                   "no variant fits this machine: %s; this is %s with %s; "
                   "alula-compile --target=cpu:%s makes one that fits",
                   needs, getHostTarget(), here, getBestMachine(processor));
}

Status loadCpu(const artifact::Artifact &artifact, const char *wanted,
               LoadedKernels **loaded, uint32_t *chosen) {
  const Processor processor = getProcessor();
  uint32_t index = findVariant(artifact, processor, wanted);
  if (index == artifact.variants.size)
    return explainNoFit(artifact, processor, wanted);
  auto *kernels = create<CpuKernels>();
  if (!kernels || !kernels->entries.resize(artifact.kernels.size)) {
    destroy(kernels);
    return makeOutOfMemory("kernels", artifact.kernels.size * 8);
  }
  const alula_file_variant &variant = artifact.variants[index];
  Status status = kernels->image.load(artifact, variant);
  for (uint64_t i = 0; !status && i < artifact.kernels.size; ++i) {
    void *entry =
        kernels->image.getEntry(artifact.entries[variant.first_entry + i]);
    kernels->entries[i] = reinterpret_cast<alula_kernel>(entry);
    if (!entry)
      status = makeError(ALULA_STATUS_DATA_LOSS,
                         "kernel image: entry of kernel '%s' is not in code",
                         artifact.getString(artifact.kernels[i].name));
  }
  if (status) {
    destroy(kernels);
    return status;
  }
  *loaded = reinterpret_cast<LoadedKernels *>(kernels);
  *chosen = index;
  return nullptr;
}

void unloadCpu(LoadedKernels *kernels) {
  destroy(reinterpret_cast<CpuKernels *>(kernels));
}

/// Grids on their way, one behind the other. Each worker owns a slice, so that
/// the next dispatch over the same rows finds them in the same core's cache,
/// and steals when done.
struct Grids {
  /// Without an initialiser: most of them are not used.
  struct alignas(64) Slice {
    uint64_t next, end;
  };
  const CpuKernels *kernels;
  const Dispatch *dispatches;
  /// Of all of them.
  uint64_t workgroups = 0;
  /// Where each one's workgroups end.
  uint64_t ends[ALULA_MAX_TOGETHER];
  uint32_t workers = 1;
  std::atomic<int32_t> code{0};
  /// Whose code it is.
  std::atomic<uint32_t> failed{0};
  std::atomic<bool> isCancelled{false};
  Slice slices[Pool::maxWorkers];
};

void startGrids(void *context, uint32_t workers) {
  auto *grids = static_cast<Grids *>(context);
  grids->workers = workers;
  for (uint32_t w = 0; w < workers; ++w) {
    grids->slices[w].next = grids->workgroups * w / workers;
    grids->slices[w].end = grids->workgroups * (w + 1) / workers;
  }
}

/// Notes when a worker's part begins and ends, if anybody wants to know.
class WorkerTrace {
public:
  WorkerTrace(const Dispatch &dispatch, uint32_t worker)
      : thread(dispatch.threads ? dispatch.threads + worker : nullptr) {
    if (thread)
      thread->begin_ns = readClock();
  }
  ~WorkerTrace() {
    if (!thread)
      return;
    thread->end_ns = readClock();
    thread->workgroups = workgroups;
  }
  uint64_t workgroups = 0;

private:
  alula_trace_thread *thread;
};

/// The grid that a worker is in.
class CurrentGrid {
public:
  CurrentGrid(Grids &grids, uint32_t worker) : grids(grids), worker(worker) {
    enter(0);
  }

  void run(uint64_t index) {
    if (index < begin || index >= grids.ends[number]) {
      uint32_t wanted = 0;
      while (index >= grids.ends[wanted])
        ++wanted;
      enter(wanted);
    }
    index -= begin;
    const uint32_t *count = args.workgroup_count;
    auto x = uint32_t(index % count[0]);
    index /= count[0];
    int32_t code = kernel(&args, x, uint32_t(index % count[1]),
                          uint32_t(index / count[1]));
    int32_t good = 0;
    if (code != 0 && grids.code.compare_exchange_strong(
                         good, code, std::memory_order_relaxed))
      grids.failed.store(number, std::memory_order_relaxed);
  }

private:
  void enter(uint32_t wanted) {
    const Dispatch &dispatch = grids.dispatches[wanted];
    number = wanted;
    begin = wanted ? grids.ends[wanted - 1] : 0;
    kernel = grids.kernels->entries[dispatch.kernel];
    args = dispatch.args;
    args.worker = worker;
    args.worker_count = grids.workers;
    args.scratch = dispatch.scratch + worker * dispatch.scratchStride;
  }

  Grids &grids;
  const uint32_t worker;
  uint32_t number;
  uint64_t begin;
  alula_kernel kernel;
  alula_kernel_args args;
};

void runGrids(void *context, uint32_t worker) {
  auto &grids = *static_cast<Grids *>(context);
  WorkerTrace trace(grids.dispatches[0], worker);
  CurrentGrid current(grids, worker);
  const int *cancel = grids.dispatches[0].cancel;
  for (uint32_t i = 0; i < grids.workers; ++i) {
    Grids::Slice &slice = grids.slices[(worker + i) % grids.workers];
    uint64_t index;
    while ((index = __atomic_fetch_add(&slice.next, 1, __ATOMIC_RELAXED)) <
           slice.end) {
      if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) {
        grids.isCancelled.store(true, std::memory_order_relaxed);
        return;
      }
      current.run(index);
      ++trace.workgroups;
    }
  }
}

uint64_t countWorkgroups(const Dispatch &dispatch) {
  const uint32_t *count = dispatch.args.workgroup_count;
  return uint64_t(count[0]) * count[1] * count[2];
}

Status runTogetherCpu(Stream *stream, LoadedKernels *loaded,
                      const Dispatch *dispatches, uint32_t count) {
  Grids grids;
  grids.kernels = reinterpret_cast<CpuKernels *>(loaded);
  grids.dispatches = dispatches;
  for (uint32_t i = 0; i < count; ++i)
    grids.ends[i] = grids.workgroups += countWorkgroups(dispatches[i]);
  uint32_t wanted = grids.workgroups < Pool::maxWorkers
                        ? uint32_t(grids.workgroups)
                        : Pool::maxWorkers;
  getInstance(stream).pool.run(wanted, runGrids, &grids, startGrids);
  int32_t code = grids.code.load(std::memory_order_relaxed);
  if (!code && grids.isCancelled.load(std::memory_order_relaxed))
    return makeError(ALULA_STATUS_CANCELLED,
                     "function '%s': the call was cancelled",
                     dispatches[0].functionName);
  if (code == 0)
    return nullptr;
  const Dispatch &failed =
      dispatches[grids.failed.load(std::memory_order_relaxed)];
  return makeKernelError(failed.functionName, failed.kernelName, code);
}

Status dispatchCpu(Stream *stream, LoadedKernels *loaded,
                   const Dispatch &dispatch) {
  if (countWorkgroups(dispatch) > 1)
    return runTogetherCpu(stream, loaded, &dispatch, 1);
  alula_kernel kernel =
      reinterpret_cast<CpuKernels *>(loaded)->entries[dispatch.kernel];
  alula_kernel_args args = dispatch.args;
  args.worker_count = 1;
  args.scratch = dispatch.scratch;
  WorkerTrace trace(dispatch, 0);
  trace.workgroups = 1;
  int32_t code = kernel(&args, 0, 0, 0);
  if (code == 0)
    return nullptr;
  return makeKernelError(dispatch.functionName, dispatch.kernelName, code);
}

} // namespace

constexpr Driver cpuDriver =
    host::makeDriver("cpu", loadCpu, {unloadCpu, dispatchCpu, runTogetherCpu});

} // namespace alula::runtime
