// Control flow and data: runs the commands of a function.

#include "runtime/invoke/commands.h"

#include "artifact/operator_name.h"
#include "runtime/base/clock.h"
#include "runtime/base/stack.h"
#include "runtime/invoke/operators.h"
#include "runtime/threads/pool.h"

#include <cstdarg>
#include <cstdio>

namespace alula::runtime {

Status Commands::fail(alula_status_code code, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return makeError(code, "function '%s': %s", file.getString(function.name),
                   text);
}

Status Commands::trace(const char *name, uint64_t begin, uint64_t bytes) {
  if (!call.trace)
    return nullptr;
  ALULA_TRY(driver.synchronize(call.stream));
  alula_trace_event event = {sizeof event, name,    begin, readClock(), {},
                             bytes,        nullptr, 0,     nullptr};
  call.trace(call.traceUser, &event);
  return nullptr;
}

Status Commands::getBytes(const char *what, const alula_file_type &type,
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

namespace {

class Interpreter : public Commands {
public:
  using Commands::Commands;

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
  Status runBlock(uint32_t number) {
    if (getStackPointer() < call.stackLimit)
      return fail(ALULA_STATUS_RESOURCE_EXHAUSTED,
                  "the calling thread has too little stack");
    const alula_file_block &block = file.blocks[function.first_block + number];
    const uint32_t *word = file.code.data + block.begin;
    const uint32_t *end = file.code.data + block.end;
    for (; word != end; word += *word >> 8) {
      if (driver.loops && !call.trace) {
        bool isRecorded = false;
        if (const uint32_t *choice = findChoice(word, end))
          ALULA_TRY(recordChoice(word + 1, choice, isRecorded));
        if (isRecorded) {
          word += *word >> 8;
          continue;
        }
      }
      if ((*word & 0xFF) == ALULA_COMMAND_TOGETHER)
        ALULA_TRY(runTogether(word));
      else
        ALULA_TRY(runCommand(*word & 0xFF, word + 1, (*word >> 8) - 1));
    }
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
                  artifact::getOperatorName(p[1]), a, b);
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
    case ALULA_COMMAND_WHILE: {
      bool isRecorded = false;
      if (driver.loops && !call.trace && isForDevice(p))
        ALULA_TRY(recordLoop(p, isRecorded));
      if (isRecorded)
        return nullptr;
      while (true) {
        ALULA_TRY(checkCancel());
        ALULA_TRY(runBlock(p[0]));
        if (!get(p[1]))
          return nullptr;
        ALULA_TRY(runBlock(p[2]));
      }
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

  // ---- Loops and choices that a device decides ----
  // Small rather than fast: once for each of them.

  static bool isNumber(uint32_t operand) { return operand & ALULA_IMMEDIATE; }

  /// Whether nothing in a block depends on what only the host knows. A load may
  /// be its last command, of the register `condition`.
  __attribute__((cold, noinline)) bool isForDevice(uint32_t number,
                                                   uint32_t condition) const {
    const alula_file_block &block = file.blocks[function.first_block + number];
    const uint32_t *word = file.code.data + block.begin;
    const uint32_t *end = file.code.data + block.end;
    bool hasCondition = condition == ALULA_NONE;
    for (; word != end; word += *word >> 8) {
      const uint32_t *p = word + 1, opcode = *word & 0xFF;
      if (const uint32_t *choice = findChoice(word, end)) {
        // A condition is what is loaded last.
        if (condition != ALULA_NONE)
          return false;
        word = choice;
        continue;
      }
      // Of parameters, those that must be numbers: [from, from + count) and a
      // bit each.
      uint32_t from = 1, count = 0, others = 0;
      if (opcode == ALULA_COMMAND_DISPATCH) {
        const alula_file_kernel &kernel = file.kernels[p[0]];
        others = 0b1110;
        from = 4 + kernel.binding_count;
        count = kernel.constant_count;
      } else if (opcode == ALULA_COMMAND_COPY) {
        others = 0b11010;
      } else if (opcode == ALULA_COMMAND_FILL) {
        others = 0b10110;
      } else if (opcode == ALULA_COMMAND_LOAD) {
        if (p[0] != condition || p[1] != ALULA_DTYPE_I1 || p + 4 != end)
          return false;
        others = 0b1000;
        hasCondition = true;
      } else if (opcode == ALULA_COMMAND_WHILE) {
        // A condition has no loops: its own test comes next.
        if (condition != ALULA_NONE || !isForDevice(p))
          return false;
      } else if (opcode != ALULA_COMMAND_SWAP) {
        return false;
      }
      for (uint32_t i = 0; others >> i || i < count; ++i)
        if ((others >> i & 1 && !isNumber(p[i])) ||
            (i < count && !isNumber(p[from + i])))
          return false;
    }
    return hasCondition;
  }
  __attribute__((cold, noinline)) bool isForDevice(const uint32_t *loop) const {
    return isForDevice(loop[0], loop[1]) && isForDevice(loop[2], ALULA_NONE);
  }

  /// Whether a command may read a register: those with parameters of their own
  /// kinds do if any parameter has its number.
  static bool mayRead(const uint32_t *command, uint32_t number,
                      const uint32_t *operands) {
    uint32_t count = (*command >> 8) - 1;
    const char *kind = artifact::getCommandInfo(*command & 0xFF)->parameters;
    char last = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (*kind && *kind != '*' && *kind != ':')
        last = *kind++;
      else if (*kind == ':')
        last = command + 1 + i < operands ? 's' : 'o';
      if (last == 'o' && command[1 + i] == number)
        return true;
    }
    return false;
  }
  __attribute__((cold, noinline)) bool
  isReadOnlyBy(uint32_t number, const uint32_t *only) const {
    for (uint32_t i = 0; i < function.block_count; ++i) {
      const alula_file_block &block = file.blocks[function.first_block + i];
      const uint32_t *word = file.code.data + block.begin;
      const uint32_t *end = file.code.data + block.end;
      for (; word != end; word += *word >> 8) {
        const uint32_t *operands = word;
        if ((*word & 0xFF) == ALULA_COMMAND_DISPATCH)
          operands += 5 + file.kernels[word[1]].binding_count;
        if (word != only && mayRead(word, number, operands))
          return false;
      }
    }
    return true;
  }

  /// The command after a load that chooses among branches by what was loaded,
  /// if a device can: the branches are commands for it, and nothing else needs
  /// what was loaded. Else NULL.
  __attribute__((cold, noinline)) const uint32_t *
  findChoice(const uint32_t *load, const uint32_t *end) const {
    const uint32_t *choice = load + (*load >> 8);
    if ((*load & 0xFF) != ALULA_COMMAND_LOAD || choice == end ||
        choice[1] != load[1] || !isNumber(load[4]))
      return nullptr;
    bool isIf = (*choice & 0xFF) == ALULA_COMMAND_IF;
    if (!isIf && (*choice & 0xFF) != ALULA_COMMAND_CASE)
      return nullptr;
    if (load[2] != ALULA_DTYPE_I1 && (isIf || load[2] != ALULA_DTYPE_I32))
      return nullptr;
    for (uint32_t i = 2; i < *choice >> 8; ++i)
      if (choice[i] != ALULA_NONE && !isForDevice(choice[i], ALULA_NONE))
        return nullptr;
    return isReadOnlyBy(load[1], choice) ? choice : nullptr;
  }

  __attribute__((cold, noinline)) Status keepSlots(Array<Slot> &slots) const {
    size_t bytes = function.slot_count * sizeof(Slot);
    if (!slots.resize(function.slot_count))
      return makeOutOfMemory("slots", bytes);
    memcpy(static_cast<void *>(slots.data()), frame.slots, bytes);
    return nullptr;
  }

  /// What changes places if slots are to point where they did; false if that
  /// is more than exchanges.
  __attribute__((cold, noinline)) bool findExchanges(const Array<Slot> &before,
                                                     Exchange *exchanges,
                                                     size_t &count) const {
    for (uint32_t i = 0; i < function.slot_count; ++i) {
      const Slot &was = before[i], &is = frame.slots[i];
      if (was.data == is.data)
        continue;
      if (was.bytes != is.bytes || count == mostExchanges)
        return false;
      exchanges[count++] = {call.context->getData(was),
                            call.context->getData(is), was.bytes};
    }
    return true;
  }

  /// Gives the branches to the device, if that takes them.
  __attribute__((cold, noinline)) Status recordChoice(const uint32_t *load,
                                                      const uint32_t *choice,
                                                      bool &isTaken) {
    uint8_t *from = nullptr;
    ALULA_TRY(access("load", load[2], get(load[3]),
                     alula_dtype_get_bytes(load[1]), &from));
    Array<Slot> before;
    ALULA_TRY(keepSlots(before));
    size_t bytes = function.slot_count * sizeof(Slot);
    bool isOutermost = !isRecording, isChoice = true;
    LoopRecorder::Index kind =
        (*choice & 0xFF) == ALULA_COMMAND_IF ? LoopRecorder::Truth
        : load[1] == ALULA_DTYPE_I1          ? LoopRecorder::Byte
                                             : LoopRecorder::Number;
    uint32_t count = (*choice >> 8) - 2;
    ALULA_TRY(driver.loops->choose(call.stream, from, kind, count, call.cancel,
                                   &isTaken));
    if (isTaken) {
      isRecording = true;
      for (uint32_t i = 0; i < count; ++i) {
        ALULA_TRY(driver.loops->branch(call.stream));
        if (choice[2 + i] != ALULA_NONE)
          ALULA_TRY(runBlock(choice[2 + i]));
        Exchange exchanges[mostExchanges];
        size_t exchangeCount = 0;
        isChoice &= findExchanges(before, exchanges, exchangeCount);
        ALULA_TRY(
            driver.loops->endBranch(call.stream, exchanges, exchangeCount));
        memcpy(static_cast<void *>(frame.slots), before.data(), bytes);
      }
      ALULA_TRY(driver.loops->endChoice(call.stream, isChoice, &isTaken));
      isRecording = !isOutermost;
    }
    // What is around one that is not taken will not be taken either.
    isTaken |= !isOutermost;
    return nullptr;
  }

  /// Computes a round's condition, and tests it instead of loading it.
  Status recordTest(const uint32_t *loop, LoopRecorder::Place where) {
    place = where;
    return runBlock(loop[0]);
  }

  /// Gives a loop to the device whole, if that takes it.
  __attribute__((cold, noinline)) Status recordLoop(const uint32_t *p,
                                                    bool &isTaken) {
    Array<Slot> before;
    ALULA_TRY(keepSlots(before));
    size_t bytes = function.slot_count * sizeof(Slot);
    Exchange exchanges[mostExchanges];
    size_t exchangeCount = 0;
    bool isOutermost = !isRecording;
    ALULA_TRY(driver.loops->begin(call.stream, call.cancel, &isTaken));
    if (!isTaken) {
      // The loops around it will not be taken either.
      isTaken = !isOutermost;
      return nullptr;
    }
    isRecording = true;
    ALULA_TRY(recordTest(p, LoopRecorder::First));
    ALULA_TRY(runBlock(p[2]));
    bool isLoop = findExchanges(before, exchanges, exchangeCount);
    if (exchangeCount) {
      ALULA_TRY(recordTest(p, LoopRecorder::Middle));
      ALULA_TRY(runBlock(p[2]));
    }
    isLoop &= memcmp(before.data(), frame.slots, bytes) == 0;
    ALULA_TRY(recordTest(p, LoopRecorder::Last));
    ALULA_TRY(driver.loops->end(call.stream, exchanges, exchangeCount, isLoop,
                                &isTaken));
    memcpy(static_cast<void *>(frame.slots), before.data(), bytes);
    frame.registers[p[1]] = 0;
    isRecording = !isOutermost;
    isTaken |= !isOutermost;
    return nullptr;
  }

  __attribute__((cold, noinline)) Status failAssertion(uint32_t message,
                                                       const uint32_t *operands,
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

  Status runLoad(const uint32_t *p) {
    uint8_t *from = nullptr;
    uint32_t size = alula_dtype_get_bytes(p[1]);
    ALULA_TRY(access("load", p[2], get(p[3]), size, &from));
    if (isRecording)
      return driver.loops->test(call.stream, from, place);
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

  /// `isBeside`: it may run at the same time as the one before.
  Status runDispatch(const uint32_t *p, bool isBeside = false) {
    ALULA_TRY(checkCancel());
    Dispatch dispatch = {};
    Operands operands = getOperandMemory();
    ALULA_TRY(prepare(p, dispatch, operands));
    if (isEmpty(dispatch))
      return nullptr;
    if (call.trace)
      return traceDispatch(dispatch, isBeside);
    return call.executable->image->runner->dispatch(
        call.stream, call.executable->image->kernels, dispatch);
  }

  /// The dispatches behind `word`, which comes to the last one: one by one for
  /// a trace, and where the device knows no other way.
  __attribute__((noinline)) Status runTogether(const uint32_t *&word) {
    const Image &image = *call.executable->image;
    const bool isTogether = image.runner->dispatchTogether && !call.trace;
    Dispatch dispatches[ALULA_MAX_TOGETHER];
    Operands operands = getOperandMemory();
    uint32_t made = 0;
    ALULA_TRY(checkCancel());
    for (uint32_t i = 0, count = word[1]; i < count; ++i) {
      word += *word >> 8;
      if (!isTogether) {
        ALULA_TRY(runDispatch(word + 1, i > 0));
        continue;
      }
      dispatches[made] = {};
      ALULA_TRY(prepare(word + 1, dispatches[made], operands));
      made += !isEmpty(dispatches[made]);
    }
    return made ? image.runner->dispatchTogether(call.stream, image.kernels,
                                                 dispatches, made)
                : nullptr;
  }

  /// Where operands of dispatches that are being encoded go.
  struct Operands {
    void **bindings;
    uint64_t *bytes;
    int64_t *constants;
  };
  Operands getOperandMemory() const {
    Context &context = *call.context;
    return {context.bindings.data(), context.bindingBytes.data(),
            context.constants.data()};
  }

  /// A grid with a size of 0 has nothing to run.
  static bool isEmpty(const Dispatch &dispatch) {
    return !dispatch.args.workgroup_count[2];
  }

  /// Of a zeroed dispatch; stops at a size of 0, so the last one stays 0.
  Status prepare(const uint32_t *p, Dispatch &dispatch, Operands &operands) {
    const alula_file_kernel &kernel = file.kernels[p[0]];
    const char *name = file.getString(kernel.name);
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
      operands.bindings[i] = data;
      operands.bytes[i] = slot.bytes;
    }
    for (uint32_t i = 0; i < kernel.constant_count; ++i)
      operands.constants[i] = get(*next++);
    args.struct_bytes = sizeof args;
    args.binding_count = kernel.binding_count;
    args.constant_count = kernel.constant_count;
    args.bindings = operands.bindings;
    args.binding_bytes = operands.bytes;
    args.constants = operands.constants;
    operands.bindings += kernel.binding_count;
    operands.bytes += kernel.binding_count;
    operands.constants += kernel.constant_count;
    args.scratch_bytes = kernel.scratch_bytes;
    args.imports = call.executable->image->imports.data();
    args.cancel = call.cancel;
    dispatch.scratch = context.scratch;
    dispatch.scratchStride = call.executable->image->scratchBytes;
    return nullptr;
  }

  /// Runs it to its end, and tells what each thread did.
  __attribute__((cold, noinline)) Status traceDispatch(Dispatch &dispatch,
                                                       bool isBeside) {
    alula_trace_thread threads[Pool::maxWorkers] = {};
    alula_trace_event event = {};
    dispatch.threads = threads;
    dispatch.computedBy = &event.computed_by;
    uint64_t begin = readClock();
    ALULA_TRY(call.executable->image->runner->dispatch(
        call.stream, call.executable->image->kernels, dispatch));
    ALULA_TRY(driver.synchronize(call.stream));
    event.struct_bytes = sizeof event;
    event.name = dispatch.kernelName;
    event.begin_ns = begin;
    event.end_ns = readClock();
    memcpy(event.grid, dispatch.args.workgroup_count, sizeof event.grid);
    for (uint32_t i = 0; i < dispatch.args.binding_count; ++i)
      event.bytes += call.context->bindingBytes[i];
    event.threads = threads;
    event.is_beside = isBeside;
    for (uint32_t i = 0; i < Pool::maxWorkers; ++i)
      if (threads[i].end_ns)
        event.thread_count = i + 1;
    call.trace(call.traceUser, &event);
    return nullptr;
  }

  static constexpr size_t mostExchanges = 16;
  /// Commands are those of a loop or choice that the device will decide.
  bool isRecording = false;
  LoopRecorder::Place place;

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

Status runFunction(Call &call, Frame &frame) {
  return Interpreter(call, frame).run();
}

} // namespace alula::runtime
