// The tables; verify_commands.cpp and verify_results.cpp do the commands.
//
// Tables are in canonical form: what belongs to one record follows what belongs
// to the one before. So nothing overlaps, and the time is linear in the file.

#include "artifact/verifier.h"

#include "alula/dtype.h"
#include "artifact/utf8.h"

#include <cinttypes>
#include <cstdlib>
#include <cstring>

namespace alula::artifact {
namespace {

class TableVerifier {
public:
  TableVerifier(const Artifact &artifact, Diagnostic &diagnostic)
      : file(artifact), diagnostic(diagnostic) {}

  bool run() {
    if (file.programs.size || file.programFiles.size)
      return verifyStrings() && verifyPrograms();
    return verifyStrings() && verifyTypes() && verifyConstants() &&
           verifyGlobals() && verifyKernels() && verifyVariants() &&
           verifyCustomCalls() && verifyImports() && verifyGroups() &&
           verifyFunctions();
  }

private:
  __attribute__((format(printf, 2, 3))) bool fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    diagnostic.failWith(ALULA_STATUS_DATA_LOSS, format, list);
    va_end(list);
    return false;
  }

  bool checkString(uint32_t string, const char *what, uint64_t index) {
    if (string == 0 || string < file.strings.size)
      return true;
    return fail("%s %" PRIu64 ": string %u is out of range", what, index,
                string);
  }

  bool verifyStrings() {
    if (file.strings.size == 0)
      return true;
    if (file.strings[0] != 0 || file.strings[file.strings.size - 1] != 0)
      return fail("strings: first and last byte must be zero");
    for (uint64_t i = 0; i < file.strings.size;) {
      const char *at = file.strings.data + i;
      size_t length = measureCharacter(at, file.strings.size - i);
      if (length == 0 && *at)
        return uint8_t(*at) < 128
                   ? fail("strings: control character %u", uint8_t(*at))
                   : fail("strings: byte %" PRIu64
                          " is not UTF-8, or a control character",
                          i);
      i += length ? length : 1;
    }
    for (uint64_t i = 0; i < file.facts.size; ++i)
      if (!checkString(file.facts[i].key, "fact", i) ||
          !checkString(file.facts[i].value, "fact", i))
        return false;
    return true;
  }

  /// Of a file that has several programs and nothing else but their constants.
  bool verifyPrograms() {
    uint64_t records = 0;
#define X(NAME, kind, record, name) records += file.name.size;
    ALULA_FOR_EACH_SECTION(X)
#undef X
    if (records != file.strings.size + file.data.size + file.programs.size +
                       file.programFiles.size)
      return fail("programs: there must be nothing beside them");
    uint64_t next = 0;
    for (uint64_t i = 0; i < file.programs.size; ++i) {
      const alula_file_program &record = file.programs[i];
      if (!checkString(record.name, "program", i))
        return false;
      if (!*file.getString(record.name) || record.cores == 0)
        return fail("program %" PRIu64 ": has no name or no cores", i);
      for (uint64_t j = 0; j < i; ++j)
        if (strcmp(file.getString(file.programs[j].name),
                   file.getString(record.name)) == 0)
          return fail("program %" PRIu64 " '%.80s': names must be unique", i,
                      file.getString(record.name));
      if (i >= ALULA_MAX_PROGRAMS)
        return fail("programs: more than %u", ALULA_MAX_PROGRAMS);
      if (record.offset % ALULA_ALIGNMENT || record.offset < next ||
          record.offset - next >= ALULA_ALIGNMENT ||
          record.offset > file.programFiles.size ||
          record.bytes > file.programFiles.size - record.offset)
        return fail("program %" PRIu64 ": out of place", i);
      next = record.offset + record.bytes;
      Artifact program;
      if (!openProgram(file, i, program, diagnostic) ||
          !TableVerifier(program, diagnostic).run())
        return false;
    }
    return next == file.programFiles.size ||
           fail("programs: bytes belong to none");
  }

  bool verifyTypes() {
    uint64_t nextDim = 0;
    for (uint64_t i = 0; i < file.types.size; ++i) {
      const alula_file_type &type = file.types[i];
      if (alula_dtype_get_kind(type.dtype) == ALULA_KIND_INVALID)
        return fail("type %" PRIu64 ": unknown element type %u", i, type.dtype);
      if (type.rank > ALULA_MAX_RANK || type.first_dim != nextDim ||
          type.rank > file.dims.size - nextDim || type.reserved ||
          (type.dtype == ALULA_DTYPE_TOKEN && type.rank))
        return fail("type %" PRIu64 ": wrong rank or dimensions", i);
      nextDim += type.rank;
      for (uint32_t j = 0; j < type.rank; ++j)
        if (!verifyDim(i, file.getDims(type)[j]))
          return false;
      uint64_t bytes;
      if (countDynamicDims(file, type) == 0 &&
          !getStaticBytes(file, type, bytes))
        return fail("type %" PRIu64 ": more than 2^48 bytes", i);
    }
    if (nextDim != file.dims.size)
      return fail("dims: %" PRIu64 " belong to no type",
                  file.dims.size - nextDim);
    return true;
  }

  bool verifyDim(uint64_t type, const alula_file_dim &dim) {
    if (dim.reserved || dim.size < -1)
      return fail("type %" PRIu64 ": dimension of size %" PRId64, type,
                  dim.size);
    bool isStatic = dim.size >= 0;
    if (isStatic ? dim.minimum || dim.maximum || dim.symbol
                 : dim.minimum < 0 || dim.minimum > dim.maximum)
      return fail("type %" PRIu64 ": range of a dimension is wrong", type);
    return checkString(dim.symbol, "type", type);
  }

  bool verifyConstants() {
    uint64_t next = 0;
    for (uint64_t i = 0; i < file.constants.size; ++i) {
      const alula_file_constant &constant = file.constants[i];
      if (!checkString(constant.external_file, "constant", i) ||
          !checkString(constant.external_name, "constant", i))
        return false;
      if (constant.external_file || constant.external_name) {
        uint64_t bytes;
        if (!constant.external_file || !constant.external_name ||
            constant.offset >= file.types.size ||
            !getStaticBytes(file, file.types[constant.offset], bytes) ||
            bytes != constant.bytes)
          return fail("constant %" PRIu64
                      ": external ones have file, name and a static type",
                      i);
        continue;
      }
      if (constant.bytes > ALULA_MAX_BYTES)
        return fail("constant %" PRIu64 ": more than 2^48 bytes", i);
      // Programs of one file share what they can.
      if (constant.offset % ALULA_ALIGNMENT ||
          (constant.offset < next && !file.isProgram) ||
          constant.offset > file.data.size ||
          constant.bytes > file.data.size - constant.offset)
        return fail("constant %" PRIu64 ": out of place", i);
      next = constant.offset + constant.bytes;
    }
    return true;
  }

  bool verifyGlobals() {
    for (uint64_t i = 0; i < file.globals.size; ++i) {
      const alula_file_global &global = file.globals[i];
      if (!checkString(global.name, "global", i))
        return false;
      if (global.type >= file.types.size || global.flags > 1)
        return fail("global %" PRIu64 ": wrong type or flags", i);
      uint64_t bytes;
      if (!getStaticBytes(file, file.types[global.type], bytes))
        return fail("global %" PRIu64 " '%.80s': the shape must be static", i,
                    file.getString(global.name));
      if (global.initial == ALULA_NONE)
        continue;
      if (global.initial >= file.constants.size ||
          file.constants[global.initial].bytes != bytes)
        return fail("global %" PRIu64 " '%.80s': wrong initial value", i,
                    file.getString(global.name));
    }
    return true;
  }

  bool verifyKernels() {
    for (uint64_t i = 0; i < file.kernels.size; ++i) {
      const alula_file_kernel &kernel = file.kernels[i];
      if (!checkString(kernel.name, "kernel", i))
        return false;
      if (kernel.first_access != nextList ||
          kernel.binding_count > file.lists.size - nextList ||
          kernel.binding_count > UINT16_MAX ||
          kernel.constant_count > UINT16_MAX ||
          kernel.scratch_bytes > ALULA_MAX_BYTES)
        return fail("kernel %" PRIu64 ": wrong sizes", i);
      for (uint32_t j = 0; j < kernel.binding_count; ++j) {
        uint32_t access = file.lists[nextList++];
        if (access < 1 || access > 3)
          return fail("kernel %" PRIu64 ": binding %u has access %u", i, j,
                      access);
      }
    }
    return true;
  }

  bool verifyVariants() {
    uint64_t nextEntry = 0, nextImage = 0;
    for (uint64_t i = 0; i < file.variants.size; ++i) {
      const alula_file_variant &variant = file.variants[i];
      if (!checkString(variant.name, "variant", i) ||
          !checkString(variant.target, "variant", i))
        return false;
      if (variant.image_kind < ALULA_IMAGE_ELF ||
          variant.image_kind > ALULA_IMAGE_CUDA)
        return fail("variant %" PRIu64 ": unknown image kind %u", i,
                    variant.image_kind);
      if (variant.first_feature != nextList ||
          variant.feature_count > file.lists.size - nextList ||
          variant.first_entry != nextEntry ||
          file.kernels.size > file.entries.size - nextEntry || variant.reserved)
        return fail("variant %" PRIu64 ": wrong features or entries", i);
      for (uint32_t j = 0; j < variant.feature_count; ++j)
        if (!checkString(file.lists[nextList++], "variant", i))
          return false;
      if (variant.image_offset % ALULA_ALIGNMENT ||
          variant.image_offset < nextImage ||
          variant.image_offset > file.images.size ||
          variant.image_bytes > file.images.size - variant.image_offset)
        return fail("variant %" PRIu64 ": image out of place", i);
      nextImage = variant.image_offset + variant.image_bytes;
      if (variant.image_kind == ALULA_IMAGE_PTX &&
          (variant.image_bytes == 0 || file.images[nextImage - 1] != 0))
        return fail("variant %" PRIu64 ": PTX must end with a zero byte", i);
      for (uint64_t j = 0; j < file.kernels.size; ++j)
        if (file.entries[nextEntry++] >= variant.image_bytes &&
            variant.image_kind != ALULA_IMAGE_ELF)
          return fail("variant %" PRIu64 ": entry of kernel %" PRIu64
                      " is outside its image",
                      i, j);
    }
    return nextEntry == file.entries.size ||
           fail("entries: some belong to nothing");
  }

  bool verifyCustomCalls() {
    for (uint64_t i = 0; i < file.customCalls.size; ++i) {
      const alula_file_custom_call &call = file.customCalls[i];
      if (!checkString(call.name, "custom call", i))
        return false;
      uint64_t values = uint64_t(call.operand_count) + call.result_count;
      if (call.first_type != nextList || values > file.lists.size - nextList ||
          values > UINT16_MAX || call.flags > 1)
        return fail("custom call %" PRIu64 ": wrong sizes or flags", i);
      for (; values; --values)
        if (file.lists[nextList++] >= file.types.size)
          return fail("custom call %" PRIu64 ": type %u is out of range", i,
                      file.lists[nextList - 1]);
      const uint32_t blobs[] = {call.config, call.attributes};
      for (uint32_t blob : blobs)
        if (blob != ALULA_NONE &&
            (blob >= file.constants.size || file.constants[blob].external_file))
          return fail("custom call %" PRIu64 ": constant %u can't be used", i,
                      blob);
    }
    return true;
  }

  /// What the groups of a table may be used for.
  enum GroupUse : uint8_t {
    MayReduce = 1,  ///< no member is in two
    MayDivide = 2,  ///< and all have the same size
    MayPermute = 4, ///< pairs; none has two sources or two targets
  };

  bool verifyGroups() {
    uint32_t participants =
        file.groupTables.size ? file.groupTables[0].participant_count : 0;
    if (file.groupTables.size &&
        (participants == 0 || participants > ALULA_MAX_PARTICIPANTS))
      return fail("group table 0: %u participants", participants);
    auto *uses = static_cast<uint8_t *>(calloc(file.groupTables.size + 1, 1));
    auto *roles = static_cast<uint8_t *>(calloc(participants + 1, 1));
    bool good = uses && roles;
    if (!good)
      diagnostic.fail(ALULA_STATUS_RESOURCE_EXHAUSTED,
                      "out of memory while verifying an artifact");
    for (uint64_t i = 0; good && i < file.groupTables.size; ++i)
      good = verifyGroupTable(i, participants, roles, uses[i]);
    if (good && nextList != file.lists.size)
      good = fail("lists: some belong to nothing");
    for (uint64_t i = 0; good && i < file.collectives.size; ++i)
      good = verifyCollective(i, uses);
    free(uses);
    free(roles);
    return good;
  }

  /// `roles` is zero for every participant, and is left so.
  bool verifyGroupTable(uint64_t index, uint32_t participants, uint8_t *roles,
                        uint8_t &uses) {
    const alula_file_group_table &table = file.groupTables[index];
    if (table.participant_count != participants ||
        table.first_number != nextList ||
        table.number_count > file.lists.size - nextList)
      return fail("group table %" PRIu64 ": wrong sizes", index);
    const uint32_t *numbers = file.lists.data + nextList;
    uint64_t end = nextList + table.number_count;
    uses = MayReduce | MayDivide | MayPermute;
    uint32_t width = 0;
    for (uint32_t i = 0; i < table.group_count; ++i) {
      uint32_t size = nextList < end ? file.lists[nextList++] : 0;
      if (size == 0 || size > end - nextList)
        return fail("group table %" PRIu64 ": group %u is empty or too long",
                    index, i);
      if (i == 0)
        width = size;
      if (size != width)
        uses &= ~MayDivide;
      if (size != 2)
        uses &= ~MayPermute;
      for (uint32_t j = 0; j < size; ++j) {
        uint32_t member = file.lists[nextList++];
        if (member >= participants)
          return fail("group table %" PRIu64 ": participant %u of %u", index,
                      member, participants);
        if (roles[member])
          uses &= ~(MayReduce | MayDivide);
        uint8_t role = j == 0 ? 1 : 2;
        if (roles[member] & role)
          uses &= ~MayPermute;
        roles[member] |= role;
      }
    }
    if (nextList != end)
      return fail("group table %" PRIu64 ": wrong sizes", index);
    // Sizes clear places that are clear.
    for (uint32_t i = 0; i < table.number_count; ++i)
      if (numbers[i] < participants)
        roles[numbers[i]] = 0;
    return true;
  }

  bool verifyCollective(uint64_t index, const uint8_t *uses) {
    const alula_file_collective &collective = file.collectives[index];
    if (collective.kind == 0 || collective.kind > ALULA_COLLECTIVE_LAST)
      return fail("collective %" PRIu64 ": unknown kind %u", index,
                  collective.kind);
    const char *name = alula_collective_get_name(collective.kind);
    if (collective.groups >= file.groupTables.size || collective.reserved)
      return fail("collective %" PRIu64 " (%s): group table %u is out of range",
                  index, name, collective.groups);
    bool reduces = collective.kind == ALULA_COLLECTIVE_ALL_REDUCE ||
                   collective.kind == ALULA_COLLECTIVE_REDUCE_SCATTER;
    uint32_t bits = alula_dtype_get_bits(collective.dtype);
    bool moves = bits >= 8 || collective.dtype == ALULA_DTYPE_I1;
    if (reduces ? !alula_reduction_takes(collective.reduction, collective.dtype)
                : collective.reduction != ALULA_REDUCTION_NONE || !moves)
      return fail("collective %" PRIu64 " (%s): reduction %u of element type "
                  "%u",
                  index, name, collective.reduction, collective.dtype);
    uint8_t use = collective.kind == ALULA_COLLECTIVE_PERMUTE ? MayPermute
                  : collective.kind == ALULA_COLLECTIVE_ALL_REDUCE ||
                          collective.kind == ALULA_COLLECTIVE_BROADCAST
                      ? MayReduce
                      : MayDivide;
    if (!(uses[collective.groups] & use))
      return fail("collective %" PRIu64 " (%s): not with the groups of table "
                  "%u",
                  index, name, collective.groups);
    const alula_file_group_table &table = file.groupTables[collective.groups];
    uint64_t width = table.number_count ? file.lists[table.first_number] : 1;
    uint64_t bytes = alula_dtype_get_bytes(collective.dtype) * width;
    if (use == MayDivide && table.group_count == 0)
      return fail("collective %" PRIu64 " (%s): no groups", index, name);
    return collective.count <= ALULA_MAX_BYTES / bytes ||
           fail("collective %" PRIu64 " (%s): more than 2^48 bytes", index,
                name);
  }

  bool verifyImports() {
    for (uint64_t i = 0; i < file.imports.size; ++i) {
      const alula_file_import &import = file.imports[i];
      if (!checkString(import.name, "import", i))
        return false;
      const char *name = file.getString(import.name);
      if (import.flags > 1 || !*name)
        return fail("import %" PRIu64 ": wrong name or flags", i);
      if (i && strcmp(file.getString(file.imports[i - 1].name), name) >= 0)
        return fail("import %" PRIu64 " '%.80s': names must ascend", i, name);
    }
    return true;
  }

  bool verifyFunctions() {
    uint64_t nextValue = 0, nextSlot = 0, nextBlock = 0, nextWord = 0;
    uint64_t mostBlocks = 0;
    for (uint64_t i = 0; i < file.functions.size; ++i) {
      const alula_file_function &function = file.functions[i];
      const char *name = file.getString(function.name);
      if (!checkString(function.name, "function", i))
        return false;
      uint64_t valueCount =
          uint64_t(function.argument_count) + function.result_count;
      if (function.flags > 1 || function.first_value != nextValue ||
          valueCount > file.values.size - nextValue ||
          function.first_slot != nextSlot ||
          function.slot_count > file.slots.size - nextSlot ||
          function.slot_count > ALULA_MAX_SLOTS ||
          function.register_count > ALULA_MAX_REGISTERS ||
          function.first_block != nextBlock || function.block_count == 0 ||
          function.block_count > file.blocks.size - nextBlock ||
          function.arena_bytes > ALULA_MAX_BYTES)
        return fail("function %" PRIu64 " '%.80s': wrong sizes", i, name);
      for (uint32_t j = 0; j < function.block_count; ++j) {
        const alula_file_block &block = file.blocks[nextBlock + j];
        if (block.begin != nextWord || block.end < block.begin ||
            block.end > file.code.size)
          return fail("function %" PRIu64 " '%.80s': block %u is out of place",
                      i, name, j);
        nextWord = block.end;
      }
      if (!verifyValues(i, function) || !verifySlots(i, function))
        return false;
      nextValue += valueCount;
      nextSlot += function.slot_count;
      nextBlock += function.block_count;
      if (function.block_count > mostBlocks)
        mostBlocks = function.block_count;
    }
    if (nextValue != file.values.size || nextSlot != file.slots.size ||
        nextBlock != file.blocks.size || nextWord != file.code.size)
      return fail("functions: some records belong to none");
    return verifyAllCommands(mostBlocks);
  }

  bool verifyAllCommands(uint64_t mostBlocks) {
    if (file.functions.size == 0)
      return true;
    auto *facts = static_cast<FunctionFacts *>(
        calloc(file.functions.size, sizeof(FunctionFacts)));
    auto *depths =
        static_cast<uint16_t *>(calloc(mostBlocks, sizeof(uint16_t)));
    bool good = facts && depths;
    if (!good)
      diagnostic.fail(ALULA_STATUS_RESOURCE_EXHAUSTED,
                      "out of memory while verifying an artifact");
    for (uint64_t i = 0; good && i < file.functions.size; ++i)
      good = verifyCommands(file, uint32_t(i), facts, depths, diagnostic) &&
             verifyResults(file, uint32_t(i), diagnostic);
    free(facts);
    free(depths);
    return good;
  }

  bool verifyValues(uint64_t index, const alula_file_function &function) {
    uint32_t count = function.argument_count + function.result_count;
    for (uint32_t i = 0; i < count; ++i) {
      const alula_file_value &value = file.values[function.first_value + i];
      if (!checkString(value.name, "function", index))
        return false;
      if (value.type >= file.types.size || value.flags)
        return fail("function %" PRIu64 ": value %u has a wrong type or flags",
                    index, i);
      if (value.alias == ALULA_NONE)
        continue;
      // Both sides name each other, so no argument serves two results.
      bool isArgument = i < function.argument_count;
      uint32_t number = isArgument ? i : i - function.argument_count;
      if (value.alias >=
          (isArgument ? function.result_count : function.argument_count))
        return fail("function %" PRIu64 ": value %u has a wrong alias", index,
                    i);
      const alula_file_value &other =
          isArgument ? file.getResult(function, value.alias)
                     : file.getArgument(function, value.alias);
      if (other.alias != number || other.type != value.type)
        return fail("function %" PRIu64 ": value %u has a wrong alias", index,
                    i);
    }
    return true;
  }

  bool verifySlots(uint64_t index, const alula_file_function &function) {
    for (uint32_t i = 0; i < function.slot_count; ++i) {
      const alula_file_slot &slot = file.slots[function.first_slot + i];
      uint64_t whole = 0;
      if (!getSlotStorage(function, slot, whole))
        return fail("function %" PRIu64 ": slot %u is of a wrong kind or index",
                    index, i);
      bool toTheEnd = slot.bytes == ALULA_REST;
      if (whole == ALULA_REST
              ? slot.offset || !toTheEnd
              : slot.offset > whole ||
                    (!toTheEnd && slot.bytes > whole - slot.offset))
        return fail("function %" PRIu64 ": slot %u leaves its storage", index,
                    i);
    }
    return true;
  }

  /// The bytes of what a slot shows; ALULA_REST if only known at run time.
  bool getSlotStorage(const alula_file_function &function,
                      const alula_file_slot &slot, uint64_t &bytes) {
    if (slot.flags && (slot.kind != ALULA_SLOT_LOCAL || slot.flags > 1))
      return false;
    switch (slot.kind) {
    case ALULA_SLOT_ARGUMENT:
    case ALULA_SLOT_RESULT: {
      bool isArgument = slot.kind == ALULA_SLOT_ARGUMENT;
      if (slot.index >=
          (isArgument ? function.argument_count : function.result_count))
        return false;
      const alula_file_value &value =
          isArgument ? file.getArgument(function, slot.index)
                     : file.getResult(function, slot.index);
      if (!getStaticBytes(file, file.types[value.type], bytes))
        bytes = ALULA_REST;
      return true;
    }
    case ALULA_SLOT_CONSTANT:
      if (slot.index >= file.constants.size)
        return false;
      bytes = file.constants[slot.index].bytes;
      return true;
    case ALULA_SLOT_GLOBAL:
      return slot.index < file.globals.size &&
             getStaticBytes(file, file.types[file.globals[slot.index].type],
                            bytes);
    case ALULA_SLOT_ARENA:
      bytes = function.arena_bytes;
      return slot.index == 0 && slot.bytes != ALULA_REST;
    case ALULA_SLOT_LOCAL:
      bytes = 0;
      return slot.index == 0 && slot.bytes == 0;
    }
    return false;
  }

  const Artifact &file;
  Diagnostic &diagnostic;
  uint64_t nextList = 0;
};

} // namespace

bool verifyArtifact(const Artifact &artifact, Diagnostic &diagnostic) {
  return TableVerifier(artifact, diagnostic).run();
}

bool isWritable(const Artifact &artifact, const alula_file_function &function,
                const alula_file_slot &slot) {
  switch (slot.kind) {
  case ALULA_SLOT_ARGUMENT:
    return artifact.getArgument(function, slot.index).alias != ALULA_NONE;
  case ALULA_SLOT_CONSTANT:
    return false;
  case ALULA_SLOT_GLOBAL:
    return artifact.globals[slot.index].flags & ALULA_GLOBAL_MUTABLE;
  case ALULA_SLOT_LOCAL:
    return !(slot.flags & ALULA_SLOT_READ_ONLY);
  case ALULA_SLOT_RESULT:
  case ALULA_SLOT_ARENA:
    return true;
  }
  return false;
}

} // namespace alula::artifact
