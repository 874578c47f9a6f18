#include "runtime/invoke/context.h"

#if defined(__SANITIZE_ADDRESS__)
#define ALULA_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ALULA_HAS_ASAN 1
#endif
#endif
#ifdef ALULA_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace alula::runtime {

/// Functions with different needs take turns: their memory must stay.
constexpr uint32_t maxIdleCalls = 64;

static uint64_t getScratchBytes(const alula_executable *executable) {
  return executable->image->scratchBytes *
         executable->instance->pool.getWorkerCount();
}

static void release(const Instance &instance, uint8_t *memory, uint64_t bytes) {
  if (memory)
    instance.driver->release(instance.device, memory, bytes);
}

/// Memory is kept from call to call; whoever touches it meanwhile is found by
/// AddressSanitizer, where commands run at once and no collective is on its
/// way.
static void hide([[maybe_unused]] const Context &context,
                 [[maybe_unused]] const Context::Block &block) {
#ifdef ALULA_HAS_ASAN
  if (context.hidesBlocks && !context.pending.size())
    ASAN_POISON_MEMORY_REGION(block.data, block.bytes);
#endif
}
static void show([[maybe_unused]] const Context &context,
                 [[maybe_unused]] const Context::Block &block,
                 [[maybe_unused]] uint64_t bytes) {
#ifdef ALULA_HAS_ASAN
  if (context.hidesBlocks)
    ASAN_UNPOISON_MEMORY_REGION(block.data, bytes);
#endif
}

static void releaseMemory(alula_executable *executable, const Context &context,
                          const Context::Block &block) {
  show(context, block, block.bytes);
  release(*executable->instance, block.data, block.bytes);
}

static void destroyContext(alula_executable *executable, Context *context) {
  const Instance &instance = *executable->instance;
  instance.allocator.release(context->memory, context->memoryBytes);
  instance.allocator.release(context->staging, context->stagingBytes);
  for (const Context::HostCopy &copy : context->hostCopies)
    instance.allocator.release(copy.data, copy.bytes);
  release(instance, context->arena, context->arenaBytes);
  release(instance, context->scratch, getScratchBytes(executable));
  for (const Context::Block &block : context->blocks)
    releaseMemory(executable, *context, block);
  destroy(context);
}

void destroyContexts(alula_executable *executable) {
  if (Context *spare = executable->spareContext)
    destroyContext(executable, spare);
  while (Context *context = executable->contexts) {
    executable->contexts = context->next;
    destroyContext(executable, context);
  }
}

/// Makes what is missing.
static Status growContext(alula_executable *executable,
                          const FunctionInfo &info, Context &context) {
  const Instance &instance = *executable->instance;
  const Allocator &allocator = instance.allocator;
  if (!context.memory || context.memoryBytes < info.totalBytes) {
    allocator.release(context.memory, context.memoryBytes);
    context.memory =
        static_cast<uint8_t *>(allocator.allocate(info.totalBytes));
    context.memoryBytes = context.memory ? info.totalBytes : 0;
    if (!context.memory)
      return makeOutOfMemory("the memory of a call", info.totalBytes);
  }
  if (context.arenaBytes < info.totalArenaBytes) {
    release(instance, context.arena, context.arenaBytes);
    context.arena =
        instance.driver->allocate(instance.device, info.totalArenaBytes);
    context.arenaBytes = context.arena ? info.totalArenaBytes : 0;
    if (!context.arena)
      return makeOutOfMemory("the memory of a call", info.totalArenaBytes);
  }
  uint64_t scratch = getScratchBytes(executable);
  if (scratch && !context.scratch) {
    context.scratch = instance.driver->allocate(instance.device, scratch);
    if (!context.scratch)
      return makeOutOfMemory("the scratch of kernels", scratch);
  }
  if (!context.bindings.resize(executable->image->mostBindings) ||
      !context.bindingBytes.resize(executable->image->mostBindings) ||
      !context.constants.resize(executable->image->mostConstants) ||
      !context.callBuffers.resize(executable->image->mostCallBuffers) ||
      !context.callDims.resize(executable->image->mostCallDims) ||
      !context.callAddresses.resize(executable->image->mostCallBuffers))
    return makeOutOfMemory("bindings", executable->image->mostBindings);
  return nullptr;
}

Status takeContext(alula_executable *executable, const FunctionInfo &info,
                   Context **result) {
  Context *context =
      executable->spareContext.exchange(nullptr, std::memory_order_acquire);
  if (!context) {
    Lock lock(executable->contextMutex);
    context = executable->contexts;
    if (context)
      executable->contexts = context->next;
  }
  if (!context) {
    context = create<Context>();
    if (!context)
      return makeOutOfMemory("a call", sizeof(Context));
    const Driver &driver = *executable->instance->driver;
    context->hidesBlocks = driver.runsAtOnce && driver.sharesMemory;
  }
  if (Status status = growContext(executable, info, *context)) {
    returnContext(executable, context);
    return status;
  }
  *result = context;
  return nullptr;
}

void returnContext(alula_executable *executable, Context *context) {
  size_t kept = 0;
  for (Context::Block &block : context->blocks) {
    if (block.idleCalls < maxIdleCalls) {
      hide(*context, block);
      context->blocks[kept++] = {block.data, block.bytes, false,
                                 block.idleCalls + 1, block.life};
    } else
      releaseMemory(executable, *context, block);
  }
  // Shrinking never allocates.
  (void)!context->blocks.resize(kept);
  Context *none = nullptr;
  if (executable->spareContext.compare_exchange_strong(
          none, context, std::memory_order_release, std::memory_order_relaxed))
    return;
  Lock lock(executable->contextMutex);
  context->next = executable->contexts;
  executable->contexts = context;
}

Status allocateBlock(alula_executable *executable, Context &context,
                     uint64_t bytes, Slot &slot) {
  releaseBlock(context, slot);
  // The smallest free block that is not much too large.
  size_t best = context.blocks.size();
  for (size_t i = 0; i < context.blocks.size(); ++i) {
    const Context::Block &block = context.blocks[i];
    if (!block.isUsed && block.bytes >= bytes &&
        block.bytes <= bytes * 2 + 4096 &&
        (best == context.blocks.size() ||
         block.bytes < context.blocks[best].bytes))
      best = i;
  }
  if (best == context.blocks.size()) {
    if (bytes > ALULA_MAX_BYTES)
      return makeOutOfMemory("a buffer", bytes);
    const Instance &instance = *executable->instance;
    uint8_t *data = instance.driver->allocate(instance.device, bytes);
    if (!data)
      return makeOutOfMemory("a buffer", bytes);
    if (!context.blocks.push({data, bytes, false, 0, 0})) {
      release(instance, data, bytes);
      return makeOutOfMemory("a buffer", bytes);
    }
  }
  Context::Block &block = context.blocks[best];
  block.isUsed = true;
  block.idleCalls = 0;
  hide(context, block);
  show(context, block, bytes);
  slot = {block.data, bytes, uint32_t(best + 1), block.life, true};
  return nullptr;
}

void releaseBlock(Context &context, Slot &slot) {
  if (slot.ownsBlock) {
    Context::Block &block = context.blocks[slot.block - 1];
    block.isUsed = false;
    ++block.life;
    hide(context, block);
  }
  slot = {};
}

} // namespace alula::runtime
