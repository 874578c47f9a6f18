// Calls of the embedder's functions.

#include "runtime/invoke/commands.h"

#include "runtime/base/clock.h"

namespace alula::runtime {

Status Commands::runCustomCall(const uint32_t *p) {
  ALULA_TRY(checkCancel());
  const alula_file_custom_call &record = file.customCalls[p[0]];
  const CustomCall &callee = call.executable->customCalls[p[0]];
  const uint32_t *slots = p + 1;
  uint32_t count = record.operand_count + record.result_count;
  const uint32_t *operands = slots + count;
  Context &context = *call.context;
  int64_t *dims = context.callDims.data();
  for (uint32_t i = 0; i < count; ++i) {
    const alula_file_type &type = file.types[file.lists[record.first_type + i]];
    const int64_t *sizes = call.executable->image->dims.data() + type.first_dim;
    alula_custom_call_buffer &buffer = context.callBuffers[i];
    buffer.rank = type.rank;
    buffer.dtype = alula_dtype(type.dtype);
    buffer.dims = dims;
    // The dynamic ones first alone, as getBytes takes them.
    int64_t *dynamic = dims;
    for (uint32_t j = 0; j < type.rank; ++j)
      if (sizes[j] < 0)
        *dynamic++ = get(*operands++);
    ALULA_TRY(getBytes(callee.name, type, dims, buffer.bytes));
    for (uint32_t j = type.rank; j-- > 0;)
      dims[j] = sizes[j] < 0 ? *--dynamic : sizes[j];
    dims += type.rank;
    uint8_t *&address = context.callAddresses[i];
    ALULA_TRY(
        access(callee.name, slots[i], 0, int64_t(buffer.bytes), &address));
    buffer.data = address;
  }
  if (!driver.sharesMemory)
    ALULA_TRY(stageOperands(record.operand_count, count));
  // The function may have memory of its own that commands write.
  ALULA_TRY(driver.synchronize(call.stream));
  alula_custom_call_args args = {};
  args.struct_bytes = sizeof args;
  args.name = callee.name;
  args.api_version = record.api_version;
  args.operand_count = record.operand_count;
  args.result_count = record.result_count;
  args.operands = context.callBuffers.data();
  args.results = args.operands + record.operand_count;
  getBlob(record.config, args.config, args.config_bytes);
  const void *attributes = nullptr;
  getBlob(record.attributes, attributes, args.attribute_bytes);
  args.attributes = static_cast<const char *>(attributes);
  args.cancel = call.cancel;
  uint64_t begin = call.trace ? readClock() : 0;
  alula_error *error = callee.function(callee.user, &args);
  if (!error) {
    if (!driver.sharesMemory)
      ALULA_TRY(unstageResults(record.operand_count, count));
    return trace(callee.name, begin, 0);
  }
  alula_error_destroy(trace(callee.name, begin, 0));
  // Not by `fail`, which cuts: the end of a traceback says what was raised.
  Status status = makeError(alula_error_get_code(error),
                            "function '%s': custom call '%.100s': %s",
                            file.getString(function.name), callee.name,
                            alula_error_get_message(error));
  alula_error_destroy(error);
  return status;
}

Status Commands::stageOperands(uint32_t operandCount, uint32_t count) {
  Context &context = *call.context;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i)
    bytes += alignUp(context.callBuffers[i].bytes);
  if (context.stagingBytes < bytes) {
    const Allocator &allocator = call.executable->instance->allocator;
    allocator.release(context.staging, context.stagingBytes);
    context.staging = static_cast<uint8_t *>(allocator.allocate(bytes));
    context.stagingBytes = context.staging ? bytes : 0;
    if (!context.staging)
      return makeOutOfMemory("buffers of a custom call", bytes);
  }
  uint8_t *next = context.staging;
  for (uint32_t i = 0; i < count; ++i) {
    alula_custom_call_buffer &buffer = context.callBuffers[i];
    buffer.data = next;
    next += alignUp(buffer.bytes);
    for (uint32_t j = 0; i >= operandCount && j < operandCount; ++j)
      if (context.callAddresses[j] == context.callAddresses[i] &&
          context.callBuffers[j].bytes >= buffer.bytes)
        buffer.data = context.callBuffers[j].data;
    if (i < operandCount)
      ALULA_TRY(driver.copyFrom(call.stream, buffer.data,
                                context.callAddresses[i], buffer.bytes));
  }
  return nullptr;
}

Status Commands::unstageResults(uint32_t operandCount, uint32_t count) {
  const Context &context = *call.context;
  for (uint32_t i = operandCount; i < count; ++i)
    ALULA_TRY(driver.copyTo(call.stream, context.callAddresses[i],
                            context.callBuffers[i].data,
                            context.callBuffers[i].bytes));
  return nullptr;
}

void Commands::getBlob(uint32_t constant, const void *&bytes,
                       size_t &size) const {
  if (constant == ALULA_NONE)
    return;
  bytes = call.executable->image->constants[constant];
  size = file.constants[constant].bytes;
}

} // namespace alula::runtime
