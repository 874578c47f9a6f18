// Blocks and commands: every index in range, control flow a tree of bounded
// depth, calls only to earlier functions, no write through a read-only slot.

#include "artifact/verifier.h"

#include "alula/dtype.h"

#include <cinttypes>
#include <cstring>

namespace alula::artifact {
namespace {

class CommandVerifier {
public:
  CommandVerifier(const Artifact &artifact, uint32_t index,
                  FunctionFacts *facts, uint16_t *blockDepths,
                  Diagnostic &diagnostic)
      : file(artifact), function(artifact.functions[index]), index(index),
        facts(facts), blockDepths(blockDepths), diagnostic(diagnostic) {}

  bool run() {
    memset(blockDepths, 0, function.block_count * sizeof(uint16_t));
    blockDepths[0] = 1;
    nesting = 1;
    for (block = 0; block < function.block_count; ++block) {
      // Blocks are referred to only by earlier ones, so this one's is known.
      if (blockDepths[block] == 0)
        return fail("block is used by no command");
      const alula_file_block &range = file.blocks[function.first_block + block];
      for (word = range.begin; word < range.end;)
        if (!verifyCommand(range.end))
          return false;
    }
    facts[index].nesting = nesting;
    return true;
  }

private:
  __attribute__((format(printf, 2, 3))) bool fail(const char *format, ...) {
    char text[224];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return diagnostic.fail(
        ALULA_STATUS_DATA_LOSS,
        "function %u '%.64s', block %u, word %" PRIu64 ": %s%s%s", index,
        file.getString(function.name), block,
        word - file.blocks[function.first_block + block].begin,
        name ? name : "", name ? ": " : "", text);
  }

  bool verifyCommand(uint64_t end) {
    name = nullptr;
    uint32_t opcode = file.code[word] & 0xFF, words = file.code[word] >> 8;
    const CommandInfo *info = getCommandInfo(opcode);
    if (!info)
      return fail("unknown command %u", opcode);
    name = info->name;
    if (words == 0 || words > end - word)
      return fail("leaves its block");
    parameters = file.code.data + word + 1;
    count = words - 1;
    uint32_t used = 0;
    for (const char *p = info->parameters; *p && *p != ':'; ++p) {
      if (p[1] == '*') {
        for (; used < count; ++used)
          if (!verifyParameter(*p, parameters[used]))
            return false;
        break;
      }
      if (used == count)
        return fail("too few parameters");
      if (!verifyParameter(*p, parameters[used++]))
        return false;
    }
    bool rest = strchr(info->parameters, ':') != nullptr;
    if (!rest && used != count)
      return fail("too many parameters");
    if (!verifyMeaning(opcode))
      return false;
    word += words;
    return true;
  }

  bool verifyParameter(char kind, uint32_t value) {
    switch (kind) {
    case 'r':
      return value < function.register_count ||
             fail("register %u is out of range", value);
    case 'o':
      return (value & ALULA_IMMEDIATE
                  ? (value & ~ALULA_IMMEDIATE) < file.immediates.size
                  : value < function.register_count) ||
             fail("operand %u is out of range", value);
    case 's':
    case 'w':
    case 'l':
    case 'x':
      return verifySlot(kind, value);
    case 'b':
      return verifyBlock(value);
    case 'B':
      return value == ALULA_NONE || verifyBlock(value);
    case 'k':
      return value < file.kernels.size ||
             fail("kernel %u is out of range", value);
    case 'f':
      return value < index ||
             fail("function %u does not stand before its caller", value);
    case 'g':
      return value < file.globals.size ||
             fail("global %u is out of range", value);
    case 'c':
      return value < file.customCalls.size ||
             fail("custom call %u is out of range", value);
    case 'm':
      return value < file.collectives.size ||
             fail("collective %u is out of range", value);
    case 't':
      return value < file.strings.size ||
             fail("string %u is out of range", value);
    case 'd': {
      alula_dtype_kind type = alula_dtype_get_kind(value);
      return type == ALULA_KIND_BOOL || type == ALULA_KIND_INT ||
             type == ALULA_KIND_UINT ||
             fail("element type %u is no integer", value);
    }
    default:
      return true;
    }
  }

  bool verifySlot(char kind, uint32_t number) {
    if (number >= function.slot_count)
      return fail("slot %u is out of range", number);
    const alula_file_slot &slot = getSlot(number);
    bool isLocal = slot.kind == ALULA_SLOT_LOCAL;
    if (kind == 'l' && !isLocal)
      return fail("slot %u is not local", number);
    if (kind == 'x' && !isLocal && slot.kind != ALULA_SLOT_ARENA)
      return fail("slot %u is neither local nor in the arena", number);
    if ((kind == 'w' || kind == 'x') && !isWritable(file, function, slot))
      return fail("slot %u is read-only", number);
    return true;
  }

  bool verifyBlock(uint32_t number) {
    if (number <= block || number >= function.block_count)
      return fail("block %u is out of range", number);
    if (blockDepths[number])
      return fail("block %u is used twice", number);
    uint32_t depth = blockDepths[block] + 1u;
    if (depth > ALULA_MAX_NESTING)
      return fail("nested deeper than %u", ALULA_MAX_NESTING);
    blockDepths[number] = uint16_t(depth);
    if (depth > nesting)
      nesting = depth;
    return true;
  }

  bool verifyMeaning(uint32_t opcode) {
    switch (opcode) {
    case ALULA_COMMAND_COMPUTE:
      return parameters[1] <= ALULA_OPERATOR_LAST ||
             fail("unknown operator %u", parameters[1]);
    case ALULA_COMMAND_ARGUMENT_DIM:
      if (parameters[1] >= function.argument_count ||
          parameters[2] >=
              getType(file.getArgument(function, parameters[1])).rank)
        return fail("no dimension %u of argument %u", parameters[2],
                    parameters[1]);
      return true;
    case ALULA_COMMAND_BIND_RESULT:
      return verifyBindResult();
    case ALULA_COMMAND_VIEW:
      return getSlot(parameters[0]).flags & ALULA_SLOT_READ_ONLY ||
             isWritable(file, function, getSlot(parameters[1])) ||
             fail("slot %u is read-only, slot %u is not", parameters[1],
                  parameters[0]);
    case ALULA_COMMAND_FILL: {
      uint32_t width = parameters[3];
      return width == 1 || width == 2 || width == 4 || width == 8 ||
             fail("pattern of %u bytes", width);
    }
    case ALULA_COMMAND_DISPATCH:
      return verifyDispatch();
    case ALULA_COMMAND_TOGETHER:
      return verifyTogether();
    case ALULA_COMMAND_CALL:
      return verifyCall();
    case ALULA_COMMAND_CUSTOM_CALL:
      return verifyCustomCall();
    case ALULA_COMMAND_PARTICIPANT:
      return file.groupTables.size ||
             fail("the file does not say how many participants there are");
    case ALULA_COMMAND_DEFINE_GLOBAL:
      return file.globals[parameters[0]].flags & ALULA_GLOBAL_MUTABLE ||
             fail("global %u is not mutable", parameters[0]);
    default:
      return true;
    }
  }

  bool verifyBindResult() {
    if (parameters[0] >= function.result_count)
      return fail("no result %u", parameters[0]);
    const alula_file_value &value = file.getResult(function, parameters[0]);
    uint32_t dims = countDynamicDims(file, getType(value));
    if (dims == 0 || value.alias != ALULA_NONE)
      return fail("result %u has its storage from the start", parameters[0]);
    return dims == count - 1 ||
           fail("result %u has %u dynamic dimensions, %u are given",
                parameters[0], dims, count - 1);
  }

  bool verifyDispatch() {
    const alula_file_kernel &kernel = file.kernels[parameters[0]];
    if (count != 4 + kernel.binding_count + kernel.constant_count)
      return fail("kernel %u takes %u bindings and %u constants", parameters[0],
                  kernel.binding_count, kernel.constant_count);
    const uint32_t *next = parameters + 4;
    for (uint32_t i = 0; i < kernel.binding_count; ++i) {
      bool written = file.lists[kernel.first_access + i] & ALULA_ACCESS_WRITE;
      if (!verifySlot(written ? 'w' : 's', *next++))
        return false;
    }
    for (uint32_t i = 0; i < kernel.constant_count; ++i)
      if (!verifyParameter('o', *next++))
        return false;
    return true;
  }

  /// Dispatches that come later are not verified yet: whatever they bind.
  bool verifyTogether() {
    uint32_t dispatches = parameters[0];
    if (dispatches < 2 || dispatches > ALULA_MAX_TOGETHER)
      return fail("%u dispatches, not 2 to %u", dispatches, ALULA_MAX_TOGETHER);
    const uint32_t *found[ALULA_MAX_TOGETHER];
    const uint32_t *next = parameters + count;
    const uint32_t *end =
        file.code.data + file.blocks[function.first_block + block].end;
    for (uint32_t i = 0; i < dispatches; ++i) {
      uint64_t words = next < end ? *next >> 8 : 0;
      if (words < 2 || words > uint64_t(end - next) ||
          (*next & 0xFF) != ALULA_COMMAND_DISPATCH ||
          next[1] >= file.kernels.size ||
          words < 5 + uint64_t(file.kernels[next[1]].binding_count))
        return fail("command %u behind it is no dispatch", i + 1);
      found[i] = next;
      next += words;
    }
    for (uint32_t i = 0; i < dispatches; ++i)
      for (uint32_t j = 0; j < dispatches; ++j)
        if (i != j && isWrittenFor(found[i], found[j]))
          return fail("dispatch %u writes what dispatch %u binds", i + 1,
                      j + 1);
    return true;
  }

  /// Whether one dispatch writes a slot that the other one binds.
  bool isWrittenFor(const uint32_t *writer, const uint32_t *other) const {
    const alula_file_kernel &kernel = file.kernels[writer[1]];
    const uint32_t *bindings = writer + 5, *others = other + 5;
    for (uint32_t i = 0; i < kernel.binding_count; ++i)
      if (file.lists[kernel.first_access + i] & ALULA_ACCESS_WRITE)
        for (uint32_t j = 0; j < file.kernels[other[1]].binding_count; ++j)
          if (bindings[i] == others[j])
            return true;
    return false;
  }

  bool verifyCall() {
    const alula_file_function &callee = file.functions[parameters[0]];
    uint64_t needed = 1 + uint64_t(callee.argument_count) + callee.result_count;
    for (uint32_t i = 0; i < callee.argument_count; ++i)
      needed += countDynamicDims(file, getType(file.getArgument(callee, i)));
    for (uint32_t i = 0; i < callee.result_count; ++i)
      needed += countDynamicDims(file, getType(file.getResult(callee, i)));
    if (count != needed)
      return fail("function %u takes %" PRIu64 " parameters", parameters[0],
                  needed - 1);
    const uint32_t *arguments = parameters + 1;
    const uint32_t *results = arguments + callee.argument_count;
    const uint32_t *next = results + callee.result_count;
    for (uint32_t i = 0; i < callee.argument_count; ++i)
      if (!verifySlot('s', arguments[i]))
        return false;
    for (uint32_t i = 0; i < callee.result_count; ++i) {
      const alula_file_value &result = file.getResult(callee, i);
      bool dynamic = countDynamicDims(file, getType(result)) != 0;
      bool aliased = result.alias != ALULA_NONE;
      if (!verifySlot(dynamic && !aliased ? 'l' : 'w', results[i]))
        return false;
      if (aliased && results[i] != arguments[result.alias])
        return fail("result %u must be the slot of argument %u", i,
                    result.alias);
    }
    for (uint32_t i = 0; i < callee.argument_count; ++i)
      for (uint32_t dims =
               countDynamicDims(file, getType(file.getArgument(callee, i)));
           dims; --dims)
        if (!verifyParameter('o', *next++))
          return false;
    for (; next != parameters + count; ++next)
      if (!verifyParameter('r', *next))
        return false;
    uint32_t depth = blockDepths[block] + facts[parameters[0]].nesting;
    if (depth > ALULA_MAX_NESTING)
      return fail("nested deeper than %u", ALULA_MAX_NESTING);
    if (depth > nesting)
      nesting = depth;
    return true;
  }

  bool verifyCustomCall() {
    const alula_file_custom_call &callee = file.customCalls[parameters[0]];
    uint64_t values = uint64_t(callee.operand_count) + callee.result_count;
    uint64_t needed = 1 + values;
    for (uint64_t i = 0; i < values; ++i)
      needed +=
          countDynamicDims(file, file.types[file.lists[callee.first_type + i]]);
    if (count != needed)
      return fail("custom call %u takes %" PRIu64 " parameters", parameters[0],
                  needed - 1);
    const uint32_t *next = parameters + 1;
    for (uint64_t i = 0; i < values; ++i)
      if (!verifySlot(i < callee.operand_count ? 's' : 'w', *next++))
        return false;
    for (; next != parameters + count; ++next)
      if (!verifyParameter('o', *next))
        return false;
    return true;
  }

  const alula_file_slot &getSlot(uint32_t number) const {
    return file.slots[function.first_slot + number];
  }
  const alula_file_type &getType(const alula_file_value &value) const {
    return file.types[value.type];
  }

  const Artifact &file;
  const alula_file_function &function;
  uint32_t index;
  FunctionFacts *facts;
  uint16_t *blockDepths;
  Diagnostic &diagnostic;

  uint32_t block = 0;
  uint64_t word = 0;
  uint32_t nesting = 0;
  /// The command being verified.
  const char *name = nullptr;
  const uint32_t *parameters = nullptr;
  uint32_t count = 0;
};

} // namespace

bool verifyCommands(const Artifact &artifact, uint32_t index,
                    FunctionFacts *facts, uint16_t *blockDepths,
                    Diagnostic &diagnostic) {
  return CommandVerifier(artifact, index, facts, blockDepths, diagnostic).run();
}

} // namespace alula::artifact
