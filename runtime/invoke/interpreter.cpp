#include "runtime/invoke/interpreter.h"

#include "runtime/base/clock.h"
#include "runtime/base/stack.h"
#include "runtime/executable/buffer.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace alula::runtime {
namespace {

uint64_t alignUp(uint64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

/// Collectives of one call that are on their way at the same time.
constexpr size_t mostPending = 65536;

/// What a buffer without bytes points to: "no storage yet" is NULL.
uint8_t nothing[memoryAlignment];

bool computeInteger(uint32_t op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case ALULA_OPERATOR_MOVE:
    result = a;
    return true;
  case ALULA_OPERATOR_ADD:
    return !__builtin_add_overflow(a, b, &result);
  case ALULA_OPERATOR_SUB:
    return !__builtin_sub_overflow(a, b, &result);
  case ALULA_OPERATOR_MUL:
    return !__builtin_mul_overflow(a, b, &result);
  case ALULA_OPERATOR_DIV:
  case ALULA_OPERATOR_CEIL_DIV:
  case ALULA_OPERATOR_REM: {
    if (b == 0 || (a == INT64_MIN && b == -1))
      return false;
    int64_t quotient = a / b, rest = a % b;
    bool isInexact = rest != 0, isNegative = (rest < 0) != (b < 0);
    if (op == ALULA_OPERATOR_DIV)
      result = quotient - (isInexact && isNegative);
    else if (op == ALULA_OPERATOR_CEIL_DIV)
      result = quotient + (isInexact && !isNegative);
    else
      result = isInexact && isNegative ? rest + b : rest;
    return true;
  }
  case ALULA_OPERATOR_MIN:
    result = a < b ? a : b;
    return true;
  case ALULA_OPERATOR_MAX:
    result = a > b ? a : b;
    return true;
  case ALULA_OPERATOR_AND:
    result = a & b;
    return true;
  case ALULA_OPERATOR_OR:
    result = a | b;
    return true;
  case ALULA_OPERATOR_XOR:
    result = a ^ b;
    return true;
  case ALULA_OPERATOR_SHL:
    result = int64_t(uint64_t(a) << (b & 63));
    return b >= 0 && b < 64 && result >> b == a;
  case ALULA_OPERATOR_SHR:
    result = a >> (b & 63);
    return b >= 0 && b < 64;
  case ALULA_OPERATOR_EQ:
    result = a == b;
    return true;
  case ALULA_OPERATOR_NE:
    result = a != b;
    return true;
  case ALULA_OPERATOR_LT:
    result = a < b;
    return true;
  case ALULA_OPERATOR_LE:
    result = a <= b;
    return true;
  case ALULA_OPERATOR_GT:
    result = a > b;
    return true;
  case ALULA_OPERATOR_GE:
    result = a >= b;
    return true;
  }
  return false;
}

const char *getOperatorName(uint32_t op) {
  switch (op) {
#define X(NAME, code, name)                                                    \
  case code:                                                                   \
    return name;
    ALULA_FOR_EACH_OPERATOR(X)
#undef X
  }
  return "?";
}

void releaseHostCopy(Context &context, PendingCollective &one) {
  if (one.copy)
    context.hostCopies[one.copy - 1].isUsed = false;
  one.copy = 0;
}

class Interpreter {
public:
  Interpreter(Call &call, Frame &frame)
      : call(call), frame(frame), file(call.executable->image->file),
        function(*frame.function), driver(*call.executable->instance->driver) {}

  Status run() {
    memset(frame.registers, 0, function.register_count * sizeof(int64_t));
    for (uint32_t i = 0; i < function.slot_count; ++i)
      bindSlot(i);
    ALULA_TRY(runBlock(0));
    // What commands allocated lives until here; results are not among it.
    for (uint32_t i = 0; i < function.slot_count; ++i)
      if (frame.slots[i].ownsBlock)
        releaseBlock(*call.context, frame.slots[i]);
    return nullptr;
  }

private:
  // ---- Parameters ----

  int64_t get(uint32_t operand) const {
    return operand & ALULA_IMMEDIATE
               ? file.immediates[operand & ~ALULA_IMMEDIATE]
               : frame.registers[operand];
  }

  // Not inlined, since its text would make every level of blocks larger.
  __attribute__((noinline, format(printf, 3, 4))) Status
  fail(alula_status_code code, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return makeError(code, "function '%s': %s", file.getString(function.name),
                     text);
  }

  /// The bytes [offset, offset + size) of a slot.
  Status access(const char *what, uint32_t number, int64_t offset, int64_t size,
                uint8_t **bytes) {
    const Slot &slot = frame.slots[number];
    uint8_t *data = call.context->getData(slot);
    if (!data)
      return fail(ALULA_STATUS_INTERNAL, "%s: slot %u has no storage%s", what,
                  number, slot.data ? " any more" : " yet");
    if (offset < 0 || size < 0 || uint64_t(offset) > slot.bytes ||
        uint64_t(size) > slot.bytes - uint64_t(offset))
      return fail(ALULA_STATUS_OUT_OF_RANGE,
                  "%s: %" PRId64 " bytes at %" PRId64
                  " are outside slot %u of %" PRIu64 " bytes",
                  what, size, offset, number, slot.bytes);
    *bytes = data + offset;
    return nullptr;
  }

  const alula_file_type &getType(const alula_file_value &value) const {
    return file.types[value.type];
  }

  void bindSlot(uint32_t number) {
    const alula_file_slot &record = file.slots[function.first_slot + number];
    Slot base = {};
    switch (record.kind) {
    case ALULA_SLOT_ARGUMENT:
      base = frame.arguments[record.index];
      break;
    case ALULA_SLOT_RESULT:
      base = frame.results[record.index];
      break;
    case ALULA_SLOT_CONSTANT:
      base.data = call.executable->deviceConstants[record.index];
      base.bytes = file.constants[record.index].bytes;
      // An artifact of nothing but empty constants has no data at all.
      if (!base.bytes)
        base.data = nothing;
      break;
    case ALULA_SLOT_GLOBAL:
      base.data = call.state->globals[record.index].data;
      base.bytes = call.state->globals[record.index].bytes;
      break;
    case ALULA_SLOT_ARENA:
      base.data = frame.arena;
      base.bytes = function.arena_bytes;
      break;
    }
    if (base.data) {
      base.data += record.offset;
      base.bytes = record.bytes == ALULA_REST ? base.bytes - record.offset
                                              : record.bytes;
    }
    // Blocks belong to the slot that was allocated, not to a callee's name.
    base.block = base.life = base.ownsBlock = 0;
    frame.slots[number] = base;
  }

  // ---- Control flow ----

  Status runBlock(uint32_t number) {
    if (getStackPointer() < call.stackLimit)
      return fail(ALULA_STATUS_RESOURCE_EXHAUSTED,
                  "the calling thread has too little stack");
    const alula_file_block &block = file.blocks[function.first_block + number];
    const uint32_t *word = file.code.data + block.begin;
    const uint32_t *end = file.code.data + block.end;
    for (; word != end; word += *word >> 8)
      ALULA_TRY(runCommand(*word & 0xFF, word + 1, (*word >> 8) - 1));
    return nullptr;
  }

  Status checkCancel() {
    if (call.cancel && __atomic_load_n(call.cancel, __ATOMIC_RELAXED))
      return fail(ALULA_STATUS_CANCELLED, "the call was cancelled");
    return nullptr;
  }

  Status runCommand(uint32_t opcode, const uint32_t *p, uint32_t count) {
    switch (opcode) {
    case ALULA_COMMAND_COMPUTE: {
      int64_t a = get(p[2]), b = get(p[3]);
      if (computeInteger(p[1], a, b, frame.registers[p[0]]))
        return nullptr;
      return fail(ALULA_STATUS_OUT_OF_RANGE,
                  "%s of %" PRId64 " and %" PRId64 " has no result",
                  getOperatorName(p[1]), a, b);
    }
    case ALULA_COMMAND_SELECT:
      frame.registers[p[0]] = get(p[1]) ? get(p[2]) : get(p[3]);
      return nullptr;
    case ALULA_COMMAND_LOAD:
      return runLoad(p);
    case ALULA_COMMAND_STORE:
      return runStore(p);
    case ALULA_COMMAND_ARGUMENT_DIM:
      frame.registers[p[0]] = getArgumentDim(p[1], p[2]);
      return nullptr;
    case ALULA_COMMAND_BIND_RESULT:
      return runBindResult(p[0], p + 1);
    case ALULA_COMMAND_ALLOC:
      return runAlloc(p);
    case ALULA_COMMAND_FREE:
      releaseBlock(*call.context, frame.slots[p[0]]);
      return nullptr;
    case ALULA_COMMAND_VIEW: {
      uint8_t *bytes = nullptr;
      int64_t size = get(p[3]);
      ALULA_TRY(access("view", p[1], get(p[2]), size, &bytes));
      Slot view = frame.slots[p[1]];
      view.data = bytes;
      view.bytes = uint64_t(size);
      // A view of itself narrows it, and keeps what it owns.
      if (p[0] != p[1]) {
        view.ownsBlock = false;
        releaseBlock(*call.context, frame.slots[p[0]]);
      }
      frame.slots[p[0]] = view;
      return nullptr;
    }
    case ALULA_COMMAND_SWAP: {
      Slot first = frame.slots[p[0]];
      frame.slots[p[0]] = frame.slots[p[1]];
      frame.slots[p[1]] = first;
      return nullptr;
    }
    case ALULA_COMMAND_COPY:
      return runCopy(p);
    case ALULA_COMMAND_FILL:
      return runFill(p);
    case ALULA_COMMAND_DISPATCH:
      return runDispatch(p);
    case ALULA_COMMAND_IF:
      if (get(p[0]))
        return runBlock(p[1]);
      return p[2] == ALULA_NONE ? nullptr : runBlock(p[2]);
    case ALULA_COMMAND_CASE: {
      int64_t index = get(p[0]), last = int64_t(count) - 2;
      return runBlock(p[1 + (index < 0 || index > last ? last : index)]);
    }
    case ALULA_COMMAND_WHILE:
      while (true) {
        ALULA_TRY(checkCancel());
        ALULA_TRY(runBlock(p[0]));
        if (!get(p[1]))
          return nullptr;
        ALULA_TRY(runBlock(p[2]));
      }
    case ALULA_COMMAND_CALL:
      return runCall(p);
    case ALULA_COMMAND_CUSTOM_CALL:
      return runCustomCall(p);
    case ALULA_COMMAND_COLLECTIVE_START:
      return startCollective(p);
    case ALULA_COMMAND_COLLECTIVE_DONE:
      return finishCollective(get(p[0]));
    case ALULA_COMMAND_PARTICIPANT:
      frame.registers[p[0]] = call.participant;
      return nullptr;
    case ALULA_COMMAND_ASSERT:
      return get(p[0]) ? nullptr : failAssertion(p[1], p + 2, count - 2);
    case ALULA_COMMAND_CHECK_GLOBAL:
      if (call.state->globals[p[0]].isInitialised)
        return nullptr;
      return fail(ALULA_STATUS_FAILED_PRECONDITION,
                  "global '%.200s' is read before it is initialised",
                  file.getString(file.globals[p[0]].name));
    case ALULA_COMMAND_DEFINE_GLOBAL:
      call.state->globals[p[0]].isInitialised = true;
      return nullptr;
    }
    return fail(ALULA_STATUS_INTERNAL, "unknown command %u", opcode);
  }

  Status failAssertion(uint32_t message, const uint32_t *operands,
                       uint32_t count) {
    char text[512];
    size_t used = 0;
    const char *from = file.getString(message);
    while (*from && used < sizeof text - 32) {
      uint32_t number = 0;
      const char *digit = from + 1;
      while (*from == '{' && *digit >= '0' && *digit <= '9' && number < 100)
        number = number * 10 + uint32_t(*digit++ - '0');
      if (*from == '{' && digit != from + 1 && *digit == '}' &&
          number < count) {
        used += size_t(
            snprintf(text + used, 32, "%" PRId64, get(operands[number])));
        from = digit + 1;
      } else
        text[used++] = *from++;
    }
    text[used] = 0;
    return makeError(ALULA_STATUS_INVALID_ARGUMENT, "%s", text);
  }

  // ---- Data ----

  Status runLoad(const uint32_t *p) {
    uint8_t *from = nullptr;
    uint32_t size = alula_dtype_get_bytes(p[1]);
    ALULA_TRY(access("load", p[2], get(p[3]), size, &from));
    uint64_t bits = 0;
    ALULA_TRY(driver.readWord(call.stream, from, size, &bits));
    // Of a packed byte the first element.
    uint32_t unused = 64 - size * 8 / alula_dtype_get_packing(p[1]);
    bool isSigned = alula_dtype_get_kind(p[1]) == ALULA_KIND_INT;
    bits <<= unused;
    frame.registers[p[0]] =
        isSigned ? int64_t(bits) >> unused : int64_t(bits >> unused);
    return nullptr;
  }

  Status runStore(const uint32_t *p) {
    uint8_t *to = nullptr;
    uint32_t size = alula_dtype_get_bytes(p[0]);
    ALULA_TRY(access("store", p[1], get(p[2]), size, &to));
    auto value = uint64_t(get(p[3]));
    if (alula_dtype_get_packing(p[0]) > 1)
      value &= (1u << alula_dtype_get_bits(p[0])) - 1;
    return driver.writeWord(call.stream, to, size, value);
  }

  Status runAlloc(const uint32_t *p) {
    int64_t bytes = get(p[1]);
    if (bytes < 0)
      return fail(ALULA_STATUS_OUT_OF_RANGE, "alloc of %" PRId64 " bytes",
                  bytes);
    uint64_t begin = call.trace ? readClock() : 0;
    ALULA_TRY(allocateBlock(call.executable, *call.context, uint64_t(bytes),
                            frame.slots[p[0]]));
    return trace("alloc", begin, uint64_t(bytes));
  }

  Status runCopy(const uint32_t *p) {
    uint8_t *to = nullptr, *from = nullptr;
    int64_t size = get(p[4]);
    ALULA_TRY(access("copy", p[0], get(p[1]), size, &to));
    ALULA_TRY(access("copy", p[2], get(p[3]), size, &from));
    uint64_t begin = call.trace ? readClock() : 0;
    ALULA_TRY(driver.copy(call.stream, to, from, uint64_t(size)));
    return trace("copy", begin, uint64_t(size));
  }

  Status runFill(const uint32_t *p) {
    uint8_t *to = nullptr;
    int64_t size = get(p[2]), pattern = get(p[4]);
    uint32_t width = p[3];
    ALULA_TRY(access("fill", p[0], get(p[1]), size, &to));
    if (size % width)
      return fail(ALULA_STATUS_OUT_OF_RANGE,
                  "fill: %" PRId64 " bytes are no multiple of %u", size, width);
    uint64_t begin = call.trace ? readClock() : 0;
    ALULA_TRY(
        driver.fill(call.stream, to, uint64_t(pattern), width, uint64_t(size)));
    return trace("fill", begin, uint64_t(size));
  }

  /// Tells what a command took, which must have run for that.
  Status trace(const char *name, uint64_t begin, uint64_t bytes) {
    if (!call.trace)
      return nullptr;
    ALULA_TRY(driver.synchronize(call.stream));
    alula_trace_event event = {sizeof event, name, begin,
                               readClock(),  {},   bytes};
    call.trace(call.traceUser, &event);
    return nullptr;
  }

  Status runDispatch(const uint32_t *p) {
    ALULA_TRY(checkCancel());
    const alula_file_kernel &kernel = file.kernels[p[0]];
    const char *name = file.getString(kernel.name);
    Dispatch dispatch = {};
    dispatch.kernel = p[0];
    dispatch.functionName = file.getString(function.name);
    dispatch.kernelName = name;
    dispatch.cancel = call.cancel;
    alula_kernel_args &args = dispatch.args;
    uint64_t workgroups = 1;
    for (int i = 0; i < 3; ++i) {
      int64_t size = get(p[1 + i]);
      if (size == 0)
        return nullptr;
      if (size < 0 || size > UINT32_MAX ||
          __builtin_mul_overflow(workgroups, uint64_t(size), &workgroups) ||
          workgroups > ALULA_MAX_WORKGROUPS)
        return fail(ALULA_STATUS_OUT_OF_RANGE,
                    "dispatch of '%.100s': wrong grid (%" PRId64 ", %" PRId64
                    ", %" PRId64 ")",
                    name, get(p[1]), get(p[2]), get(p[3]));
      args.workgroup_count[i] = uint32_t(size);
    }
    const uint32_t *next = p + 4;
    Context &context = *call.context;
    for (uint32_t i = 0; i < kernel.binding_count; ++i) {
      const Slot &slot = frame.slots[*next++];
      uint8_t *data = context.getData(slot);
      if (!data)
        return fail(ALULA_STATUS_INTERNAL,
                    "dispatch of '%.100s': slot %u has no storage%s", name,
                    next[-1], slot.data ? " any more" : " yet");
      context.bindings[i] = data;
      context.bindingBytes[i] = slot.bytes;
    }
    for (uint32_t i = 0; i < kernel.constant_count; ++i)
      context.constants[i] = get(*next++);
    args.struct_bytes = sizeof args;
    args.binding_count = kernel.binding_count;
    args.constant_count = kernel.constant_count;
    args.bindings = context.bindings.data();
    args.binding_bytes = context.bindingBytes.data();
    args.constants = context.constants.data();
    args.scratch_bytes = kernel.scratch_bytes;
    args.imports = call.executable->image->imports.data();
    dispatch.scratch = context.scratch;
    dispatch.scratchStride = call.executable->image->scratchBytes;
    uint64_t begin = call.trace ? readClock() : 0;
    ALULA_TRY(call.executable->image->runner->dispatch(
        call.stream, call.executable->image->kernels, dispatch));
    if (!call.trace)
      return nullptr;
    ALULA_TRY(driver.synchronize(call.stream));
    const uint32_t *grid = args.workgroup_count;
    alula_trace_event event = {
        sizeof event, name, begin, readClock(), {grid[0], grid[1], grid[2]}, 0};
    call.trace(call.traceUser, &event);
    return nullptr;
  }

  // ---- Dimensions, results, calls ----

  int64_t getArgumentDim(uint32_t argument, uint32_t dim) const {
    uint32_t ordinal = 0;
    for (uint32_t i = 0; i < argument; ++i)
      ordinal += artifact::countDynamicDims(
          file, getType(file.getArgument(function, i)));
    const alula_file_dim *dims =
        file.getDims(getType(file.getArgument(function, argument)));
    if (dims[dim].size >= 0)
      return dims[dim].size;
    for (uint32_t i = 0; i < dim; ++i)
      ordinal += dims[i].size < 0;
    return frame.argumentDims[ordinal];
  }

  /// The bytes of a type with these dynamic dims, which must be in range.
  Status getBytes(const char *what, const alula_file_type &type,
                  const int64_t *dynamicDims, uint64_t &bytes) {
    uint64_t total = alula_dtype_get_bytes(type.dtype);
    bool empty = false, tooLarge = false;
    for (uint32_t i = 0; i < type.rank; ++i) {
      const alula_file_dim &dim = file.getDims(type)[i];
      int64_t size = dim.size;
      if (size < 0) {
        size = *dynamicDims++;
        if (size < dim.minimum || size > dim.maximum)
          return fail(ALULA_STATUS_OUT_OF_RANGE,
                      "%s: dimension %u is %" PRId64 ", not %" PRId64
                      " to %" PRId64,
                      what, i, size, dim.minimum, dim.maximum);
      }
      empty |= size == 0;
      tooLarge |= __builtin_mul_overflow(total, uint64_t(size), &total) ||
                  total > ALULA_MAX_BYTES;
    }
    if (tooLarge && !empty)
      return fail(ALULA_STATUS_RESOURCE_EXHAUSTED, "%s: more than 2^48 bytes",
                  what);
    bytes = empty ? 0 : alula_dtype_get_packed_bytes(type.dtype, total);
    return nullptr;
  }

  Status runBindResult(uint32_t number, const uint32_t *operands) {
    const alula_file_type &type = getType(file.getResult(function, number));
    int64_t *dims = frame.resultDims;
    for (uint32_t i = 0; i < number; ++i)
      dims += artifact::countDynamicDims(file,
                                         getType(file.getResult(function, i)));
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

  /// A dynamic result of the outermost function: a buffer.
  Status makeResult(uint32_t number, const alula_file_type &type,
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

  Status runCall(const uint32_t *p) {
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

  /// Dynamic results, and all dims, go to the caller.
  Status finishCall(const Frame &callee, const uint32_t *results,
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

  Status runCustomCall(const uint32_t *p) {
    ALULA_TRY(checkCancel());
    const alula_file_custom_call &record = file.customCalls[p[0]];
    const CustomCall &callee = call.executable->customCalls[p[0]];
    const uint32_t *slots = p + 1;
    uint32_t count = record.operand_count + record.result_count;
    const uint32_t *operands = slots + count;
    Context &context = *call.context;
    int64_t *dims = context.callDims.data();
    for (uint32_t i = 0; i < count; ++i) {
      const alula_file_type &type =
          file.types[file.lists[record.first_type + i]];
      const int64_t *sizes =
          call.executable->image->dims.data() + type.first_dim;
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

  /// Gives the buffers of a custom call places in the host's memory, the same
  /// to what is the same, and copies operands there.
  Status stageOperands(uint32_t operandCount, uint32_t count) {
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

  Status unstageResults(uint32_t operandCount, uint32_t count) {
    const Context &context = *call.context;
    for (uint32_t i = operandCount; i < count; ++i)
      ALULA_TRY(driver.copyTo(call.stream, context.callAddresses[i],
                              context.callBuffers[i].data,
                              context.callBuffers[i].bytes));
    return nullptr;
  }

  // ---- Collectives ----

  /// The members of the group that this participant is in; none if it takes no
  /// part.
  GroupMembers findGroup(const alula_file_collective &record) const {
    const alula_file_group_table &table = file.groupTables[record.groups];
    const uint32_t *number = file.lists.data + table.first_number;
    for (uint32_t i = 0; i < table.group_count; ++i) {
      uint32_t size = *number++;
      for (uint32_t j = 0; j < size; ++j)
        if (number[j] == call.participant)
          return {number, size, false};
      number += size;
    }
    return {nullptr, 0, false};
  }

  /// All pairs, if this participant is in one.
  Status findPairs(const alula_file_collective &record, GroupMembers &members) {
    members = findGroup(record);
    if (!members.count)
      return nullptr;
    const alula_file_group_table &table = file.groupTables[record.groups];
    Array<uint32_t> &pairs = call.context->pairs;
    if (!pairs.resize(size_t(table.group_count) * 2))
      return makeOutOfMemory("pairs of participants", table.group_count);
    const uint32_t *number = file.lists.data + table.first_number;
    for (uint32_t i = 0; i < table.group_count; ++i) {
      pairs[2 * i] = number[3 * i + 1];
      pairs[2 * i + 1] = number[3 * i + 2];
    }
    members = {pairs.data(), 2 * table.group_count, true};
    return nullptr;
  }

  Status startCollective(const uint32_t *p) {
    ALULA_TRY(checkCancel());
    const alula_file_collective &record = file.collectives[p[1]];
    const char *name = alula_collective_get_name(record.kind);
    if (!call.collectives)
      return fail(ALULA_STATUS_FAILED_PRECONDITION,
                  "%s #%u: the program is for %u devices at once, the call has "
                  "no collectives to meet the others",
                  name, p[1], call.executable->image->getParticipantCount());
    GroupMembers members = findGroup(record);
    if (record.kind == ALULA_COLLECTIVE_PERMUTE)
      ALULA_TRY(findPairs(record, members));
    // Those in no group have as many blocks as those of the first.
    const alula_file_group_table &table = file.groupTables[record.groups];
    uint64_t width = table.group_count ? file.lists[table.first_number] : 1;
    uint32_t element = alula_dtype_get_bytes(record.dtype);
    uint64_t block = record.count * element, given = block, gotten = block;
    if (record.kind == ALULA_COLLECTIVE_REDUCE_SCATTER ||
        record.kind == ALULA_COLLECTIVE_ALL_TO_ALL)
      given *= width;
    if (record.kind == ALULA_COLLECTIVE_ALL_GATHER ||
        record.kind == ALULA_COLLECTIVE_ALL_TO_ALL)
      gotten *= width;
    uint8_t *operand = nullptr, *result = nullptr;
    ALULA_TRY(access(name, p[2], 0, int64_t(given), &operand));
    ALULA_TRY(access(name, p[3], 0, int64_t(gotten), &result));
    uint64_t alignment = element < 8 ? element : 8;
    if ((reinterpret_cast<uintptr_t>(operand) |
         reinterpret_cast<uintptr_t>(result)) %
        alignment)
      return fail(ALULA_STATUS_INTERNAL,
                  "%s #%u: the memory is not aligned to its elements", name,
                  p[1]);
    if (operand < result + gotten && result < operand + given)
      return fail(ALULA_STATUS_INTERNAL,
                  "%s #%u: what is given and what is gotten share memory", name,
                  p[1]);
    return start(p, members,
                 {alula_collective_kind(record.kind),
                  alula_reduction(record.reduction), alula_dtype(record.dtype),
                  p[1], record.count, operand, result},
                 given, gotten);
  }

  Status start(const uint32_t *p, const GroupMembers &members, Collective what,
               uint64_t given, uint64_t gotten) {
    Array<PendingCollective> &pending = call.context->pending;
    size_t handle = pending.size();
    if (handle == mostPending)
      return fail(ALULA_STATUS_RESOURCE_EXHAUSTED,
                  "more than %zu collectives are on their way", mostPending);
    if (!pending.push({}))
      return makeOutOfMemory("a collective", sizeof(PendingCollective));
    PendingCollective &one = pending[handle];
    one.number = p[1];
    one.isOpen = true;
    one.begin = call.trace ? readClock() : 0;
    one.bytes = gotten;
    frame.registers[p[0]] = int64_t(handle);
    if (!members.count)
      return driver.fill(call.stream, what.result, 0, 1, gotten);
    ALULA_TRY(stageCollective(one, what, given, gotten));
    const CollectiveEngine &engine = *call.collectives->engine;
    Group *group = nullptr;
    Status status =
        engine.getGroup(call.collectives->rendezvous, members, &group);
    if (!status)
      status = engine.start(group, call.participant, what, &one.request);
    return status ? addName(what.number, status) : nullptr;
  }

  /// Engines see the host's memory: copies of what the host can't reach.
  Status stageCollective(PendingCollective &one, Collective &what,
                         uint64_t given, uint64_t gotten) {
    if (driver.sharesMemory)
      return driver.runsAtOnce ? nullptr : driver.synchronize(call.stream);
    uint64_t bytes = alignUp(given) + gotten;
    ALULA_TRY(takeHostCopy(bytes, one.copy));
    uint8_t *memory = call.context->hostCopies[one.copy - 1].data;
    one.staged = memory + alignUp(given);
    one.result = what.result;
    ALULA_TRY(driver.copyFrom(call.stream, memory, what.operand, given));
    what.operand = memory;
    what.result = one.staged;
    return nullptr;
  }

  /// Memory of the host that is kept from call to call.
  Status takeHostCopy(uint64_t bytes, size_t &number) {
    Array<Context::HostCopy> &copies = call.context->hostCopies;
    for (size_t i = 0; i < copies.size(); ++i)
      if (!copies[i].isUsed && copies[i].bytes >= bytes) {
        copies[i].isUsed = true;
        number = i + 1;
        return nullptr;
      }
    const Allocator &allocator = call.executable->instance->allocator;
    auto *memory = static_cast<uint8_t *>(allocator.allocate(bytes));
    if (memory && copies.push({memory, bytes, true})) {
      number = copies.size();
      return nullptr;
    }
    allocator.release(memory, bytes);
    return makeOutOfMemory("arrays of a collective", bytes);
  }

  Status finishCollective(int64_t handle) {
    Array<PendingCollective> &pending = call.context->pending;
    if (handle < 0 || uint64_t(handle) >= pending.size() ||
        !pending[size_t(handle)].isOpen)
      return fail(ALULA_STATUS_INTERNAL,
                  "collective_done: nothing is on its way as %" PRId64, handle);
    PendingCollective &one = pending[size_t(handle)];
    if (one.request.state) {
      if (Status status =
              call.collectives->engine->done(one.request, call.cancel))
        return addName(one.number, status);
      if (one.copy)
        ALULA_TRY(
            driver.copyTo(call.stream, one.result, one.staged, one.bytes));
    }
    releaseHostCopy(*call.context, one);
    one.isOpen = false;
    PendingCollective ended = one;
    size_t open = pending.size();
    while (open && !pending[open - 1].isOpen)
      --open;
    // Shrinking never allocates.
    (void)!pending.resize(open);
    return trace(alula_collective_get_name(file.collectives[ended.number].kind),
                 ended.begin, ended.bytes);
  }

  /// An engine's error with the collective that it is about.
  Status addName(uint32_t number, Status status) {
    Status full =
        makeError(alula_error_get_code(status), "function '%s': %s #%u: %s",
                  file.getString(function.name),
                  alula_collective_get_name(file.collectives[number].kind),
                  number, alula_error_get_message(status));
    alula_error_destroy(status);
    return full;
  }

  void getBlob(uint32_t constant, const void *&bytes, size_t &size) const {
    if (constant == ALULA_NONE)
      return;
    bytes = call.executable->image->constants[constant];
    size = file.constants[constant].bytes;
  }

  Status bindValue(const char *callee, uint32_t number,
                   const alula_file_type &type, const int64_t *dims,
                   Slot &slot) {
    uint64_t bytes = 0;
    uint8_t *data = nullptr;
    ALULA_TRY(getBytes(callee, type, dims, bytes));
    ALULA_TRY(access(callee, number, 0, int64_t(bytes), &data));
    slot = {data, bytes, 0, 0, 0};
    return nullptr;
  }

  Call &call;
  Frame &frame;
  const artifact::Artifact &file;
  const alula_file_function &function;
  const Driver &driver;
};

} // namespace

void layOutFrame(const alula_executable *executable, uint32_t index,
                 uint8_t *memory, uint8_t *arena, Frame &frame) {
  const alula_file_function &function =
      executable->image->file.functions[index];
  const FunctionInfo &info = executable->image->functions[index];
  frame.function = &function;
  frame.info = &info;
  frame.registers = reinterpret_cast<int64_t *>(memory);
  frame.argumentDims = frame.registers + function.register_count;
  frame.resultDims = frame.argumentDims + info.dynamicArgumentDims;
  uint64_t words = uint64_t(function.register_count) +
                   info.dynamicArgumentDims + info.dynamicResultDims;
  uint8_t *after = memory + alignUp(words * sizeof(int64_t));
  frame.slots = reinterpret_cast<Slot *>(after);
  frame.arguments = frame.slots + function.slot_count;
  frame.results = frame.arguments + function.argument_count;
  frame.arena = arena;
  frame.end = memory + info.frameBytes;
  frame.arenaEnd = arena + info.arenaBytes;
  // A function may return without binding a result: its dims are then 0.
  if (info.dynamicResultDims)
    memset(frame.resultDims, 0, info.dynamicResultDims * sizeof(int64_t));
  if (function.arena_bytes == 0)
    frame.arena = nothing;
}

void settleCollectives(Call &call, Status failure) {
  call.collectives->engine->settle(
      call.collectives->rendezvous, call.participant,
      failure ? alula_error_get_message(failure) : nullptr);
  for (PendingCollective &one : call.context->pending)
    releaseHostCopy(*call.context, one);
  // Shrinking never allocates.
  (void)!call.context->pending.resize(0);
}

Status runFunction(Call &call, Frame &frame) {
  return Interpreter(call, frame).run();
}

} // namespace alula::runtime
