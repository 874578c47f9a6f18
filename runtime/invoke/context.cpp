#include "runtime/invoke/context.h"

namespace alula::runtime {

/// Functions with different needs take turns: their memory must stay.
constexpr uint32_t maxIdleCalls = 64;

static uint64_t getScratchBytes(const alula_executable *executable) {
  return executable->scratchBytes * executable->instance->pool.getWorkerCount();
}

static void release(const Instance &instance, uint8_t *memory, uint64_t bytes) {
  if (memory)
    instance.driver->release(instance.device, memory, bytes);
}

static void destroyContext(alula_executable *executable, Context *context) {
  const Instance &instance = *executable->instance;
  instance.allocator.release(context->memory, context->memoryBytes);
  instance.allocator.release(context->staging, context->stagingBytes);
  release(instance, context->arena, context->arenaBytes);
  release(instance, context->scratch, getScratchBytes(executable));
  for (const Context::Block &block : context->blocks)
    release(instance, block.data, block.bytes);
  destroy(context);
}

void destroyContexts(alula_executable *executable) {
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
  if (!context.bindings.resize(executable->mostBindings) ||
      !context.bindingBytes.resize(executable->mostBindings) ||
      !context.constants.resize(executable->mostConstants) ||
      !context.callBuffers.resize(executable->mostCallBuffers) ||
      !context.callDims.resize(executable->mostCallDims) ||
      !context.callAddresses.resize(executable->mostCallBuffers))
    return makeOutOfMemory("bindings", executable->mostBindings);
  return nullptr;
}

Status takeContext(alula_executable *executable, const FunctionInfo &info,
                   Context **result) {
  Context *context;
  {
    Lock lock(executable->contextMutex);
    context = executable->contexts;
    if (context)
      executable->contexts = context->next;
  }
  if (!context)
    context = create<Context>();
  if (!context)
    return makeOutOfMemory("a call", sizeof(Context));
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
    if (block.idleCalls < maxIdleCalls)
      context->blocks[kept++] = {block.data, block.bytes, false,
                                 block.idleCalls + 1};
    else
      release(*executable->instance, block.data, block.bytes);
  }
  // Shrinking never allocates.
  (void)!context->blocks.resize(kept);
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
    if (!context.blocks.push({data, bytes, false, 0})) {
      release(instance, data, bytes);
      return makeOutOfMemory("a buffer", bytes);
    }
  }
  Context::Block &block = context.blocks[best];
  block.isUsed = true;
  block.idleCalls = 0;
  slot = {block.data, bytes, best + 1};
  return nullptr;
}

void releaseBlock(Context &context, Slot &slot) {
  if (slot.block)
    context.blocks[slot.block - 1].isUsed = false;
  slot = {nullptr, 0, 0};
}

} // namespace alula::runtime
