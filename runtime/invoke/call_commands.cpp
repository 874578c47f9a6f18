// Results that a function binds, and calls of other functions of the artifact.

#include "runtime/invoke/commands.h"

#include "runtime/executable/buffer.h"

namespace alula::runtime {

Status Commands::runBindResult(uint32_t number, const uint32_t *operands) {
  const alula_file_type &type = getType(file.getResult(function, number));
  int64_t *dims = frame.resultDims;
  for (uint32_t i = 0; i < number; ++i)
    dims +=
        artifact::countDynamicDims(file, getType(file.getResult(function, i)));
  uint32_t count = artifact::countDynamicDims(file, type);
  for (uint32_t i = 0; i < count; ++i)
    dims[i] = get(operands[i]);
  uint64_t bytes = 0;
  ALULA_TRY(getBytes("bind_result", type, dims, bytes));
  if (frame.isOutermost)
    ALULA_TRY(makeResult(number, type, dims));
  else
    ALULA_TRY(allocateBlock(call.executable, *call.context, bytes,
                            frame.results[number]));
  for (uint32_t i = 0; i < function.slot_count; ++i) {
    const alula_file_slot &slot = file.slots[function.first_slot + i];
    if (slot.kind == ALULA_SLOT_RESULT && slot.index == number)
      bindSlot(i);
  }
  return nullptr;
}

Status Commands::makeResult(uint32_t number, const alula_file_type &type,
                            const int64_t *dynamicDims) {
  int64_t dims[ALULA_MAX_RANK];
  for (uint32_t i = 0; i < type.rank; ++i) {
    int64_t size = file.getDims(type)[i].size;
    dims[i] = size < 0 ? *dynamicDims++ : size;
  }
  alula_buffer *buffer = call.given[number];
  if (buffer) {
    if (memcmp(buffer->dims, dims, type.rank * sizeof(int64_t)) != 0) {
      char is[160], given[160];
      printShape(is, sizeof is, buffer->dtype, type.rank, dims);
      printShape(given, sizeof given, buffer->dtype, type.rank, buffer->dims);
      return makeError(
          ALULA_STATUS_INVALID_ARGUMENT,
          "result %u%s is %s, but a buffer of %s was given", number,
          Quoted(file.getString(file.getResult(function, number).name)).text,
          is, given);
    }
  } else {
    // Once: the verifier sees to it.
    alula_buffer *&made = call.context->made[number];
    ALULA_TRY(createBuffer(call.executable->instance, alula_dtype(type.dtype),
                           type.rank, dims, &made));
    buffer = made;
  }
  frame.results[number] = {buffer->data, buffer->bytes, 0, 0, 0};
  return nullptr;
}

Status Commands::runCall(const uint32_t *p) {
  ALULA_TRY(checkCancel());
  Frame callee;
  layOutFrame(call.executable, p[0], frame.end, frame.arenaEnd, callee);
  callee.isOutermost = false;
  const alula_file_function &record = *callee.function;
  const char *name = file.getString(record.name);
  const uint32_t *arguments = p + 1;
  const uint32_t *results = arguments + record.argument_count;
  const uint32_t *operands = results + record.result_count;
  for (uint32_t i = 0; i < callee.info->dynamicArgumentDims; ++i)
    callee.argumentDims[i] = get(*operands++);
  const int64_t *dims = callee.argumentDims;
  for (uint32_t i = 0; i < record.argument_count; ++i) {
    const alula_file_type &type = getType(file.getArgument(record, i));
    ALULA_TRY(bindValue(name, arguments[i], type, dims, callee.arguments[i]));
    dims += artifact::countDynamicDims(file, type);
  }
  for (uint32_t i = 0; i < record.result_count; ++i) {
    const alula_file_value &value = file.getResult(record, i);
    callee.results[i] = {};
    if (value.alias != ALULA_NONE)
      callee.results[i] = callee.arguments[value.alias];
    else if (artifact::countDynamicDims(file, getType(value)) == 0)
      ALULA_TRY(bindValue(name, results[i], getType(value), nullptr,
                          callee.results[i]));
  }
  ALULA_TRY(runFunction(call, callee));
  return finishCall(callee, results, operands);
}

Status Commands::finishCall(const Frame &callee, const uint32_t *results,
                            const uint32_t *registers) {
  const alula_file_function &record = *callee.function;
  const int64_t *dims = callee.resultDims;
  for (uint32_t i = 0; i < record.result_count; ++i) {
    const alula_file_value &value = file.getResult(record, i);
    uint32_t count = artifact::countDynamicDims(file, getType(value));
    bool isAliased = value.alias != ALULA_NONE;
    if (count && !isAliased) {
      if (!callee.results[i].data)
        return fail(ALULA_STATUS_INTERNAL,
                    "call of '%.100s': result %u got no storage",
                    file.getString(record.name), i);
      releaseBlock(*call.context, frame.slots[results[i]]);
      frame.slots[results[i]] = callee.results[i];
    }
    const int64_t *from = dims;
    if (isAliased) {
      from = callee.argumentDims;
      for (uint32_t j = 0; j < value.alias; ++j)
        from += artifact::countDynamicDims(
            file, getType(file.getArgument(record, j)));
    }
    for (uint32_t j = 0; j < count; ++j)
      frame.registers[*registers++] = from[j];
    dims += count;
  }
  return nullptr;
}

Status Commands::bindValue(const char *callee, uint32_t number,
                           const alula_file_type &type, const int64_t *dims,
                           Slot &slot) {
  uint64_t bytes = 0;
  uint8_t *data = nullptr;
  ALULA_TRY(getBytes(callee, type, dims, bytes));
  ALULA_TRY(access(callee, number, 0, int64_t(bytes), &data));
  slot = {data, bytes, 0, 0, 0};
  return nullptr;
}

} // namespace alula::runtime
