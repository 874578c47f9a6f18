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

/// A grid on its way. Each worker owns a slice, so that the next dispatch over
/// the same rows finds them in the same core's cache, and steals when done.
struct Grid {
  /// Without an initialiser: most of them are not used.
  struct alignas(64) Slice {
    uint64_t next, end;
  };
  alula_kernel kernel;
  const Dispatch *dispatch;
  uint64_t workgroups;
  uint32_t workers = 1;
  std::atomic<int32_t> code{0};
  std::atomic<bool> isCancelled{false};
  Slice slices[Pool::maxWorkers];
};

void startGrid(void *context, uint32_t workers) {
  auto *grid = static_cast<Grid *>(context);
  grid->workers = workers;
  for (uint32_t w = 0; w < workers; ++w) {
    grid->slices[w].next = grid->workgroups * w / workers;
    grid->slices[w].end = grid->workgroups * (w + 1) / workers;
  }
}

void runWorkgroup(Grid &grid, const alula_kernel_args &args, uint64_t index) {
  const uint32_t *count = args.workgroup_count;
  auto x = uint32_t(index % count[0]);
  index /= count[0];
  int32_t code = grid.kernel(&args, x, uint32_t(index % count[1]),
                             uint32_t(index / count[1]));
  if (code != 0) {
    int32_t good = 0;
    grid.code.compare_exchange_strong(good, code, std::memory_order_relaxed);
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

void runGrid(void *context, uint32_t worker) {
  auto &grid = *static_cast<Grid *>(context);
  WorkerTrace trace(*grid.dispatch, worker);
  alula_kernel_args args = grid.dispatch->args;
  args.worker = worker;
  args.worker_count = grid.workers;
  args.scratch = grid.dispatch->scratch + worker * grid.dispatch->scratchStride;
  for (uint32_t i = 0; i < grid.workers; ++i) {
    Grid::Slice &slice = grid.slices[(worker + i) % grid.workers];
    uint64_t index;
    while ((index = __atomic_fetch_add(&slice.next, 1, __ATOMIC_RELAXED)) <
           slice.end) {
      const int *cancel = grid.dispatch->cancel;
      if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) {
        grid.isCancelled.store(true, std::memory_order_relaxed);
        return;
      }
      runWorkgroup(grid, args, index);
      ++trace.workgroups;
    }
  }
}

Status dispatchCpu(Stream *stream, LoadedKernels *loaded,
                   const Dispatch &dispatch) {
  auto *kernels = reinterpret_cast<CpuKernels *>(loaded);
  alula_kernel kernel = kernels->entries[dispatch.kernel];
  const uint32_t *count = dispatch.args.workgroup_count;
  uint64_t workgroups = uint64_t(count[0]) * count[1] * count[2];
  int32_t code;
  if (workgroups == 1) {
    alula_kernel_args args = dispatch.args;
    args.worker_count = 1;
    args.scratch = dispatch.scratch;
    WorkerTrace trace(dispatch, 0);
    trace.workgroups = 1;
    code = kernel(&args, 0, 0, 0);
  } else {
    Grid grid;
    grid.kernel = kernel;
    grid.dispatch = &dispatch;
    grid.workgroups = workgroups;
    uint32_t wanted =
        workgroups < Pool::maxWorkers ? uint32_t(workgroups) : Pool::maxWorkers;
    getInstance(stream).pool.run(wanted, runGrid, &grid, startGrid);
    code = grid.code.load(std::memory_order_relaxed);
    if (!code && grid.isCancelled.load(std::memory_order_relaxed))
      return makeError(ALULA_STATUS_CANCELLED,
                       "function '%s': the call was cancelled",
                       dispatch.functionName);
  }
  if (code == 0)
    return nullptr;
  return makeKernelError(dispatch.functionName, dispatch.kernelName, code);
}

} // namespace

constexpr Driver cpuDriver =
    host::makeDriver("cpu", loadCpu, {unloadCpu, dispatchCpu});

} // namespace alula::runtime
