// Builds an artifact in memory. Same calls in the same order: same bytes.
//
// The writer does not check what it is told; `finish` runs the verifier.

#pragma once

#include "alula/artifact.h"
#include "alula/dtype.h"
#include "artifact/diagnostic.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alula::artifact {

class FunctionWriter;

/// A dimension of a type; a plain number is a static one.
struct Dim {
  int64_t size = 0;
  int64_t minimum = 0, maximum = 0;
  std::string symbol;

  Dim(int64_t size) : size(size) {}
  static Dim dynamic(std::string symbol = "", int64_t minimum = 0,
                     int64_t maximum = INT64_MAX) {
    Dim dim(-1);
    dim.minimum = minimum;
    dim.maximum = maximum;
    dim.symbol = std::move(symbol);
    return dim;
  }
};

struct KernelSpec {
  std::string name;
  /// ALULA_ACCESS_… for each binding.
  std::vector<uint32_t> accesses;
  uint32_t constantCount = 0;
  uint64_t scratchBytes = 0;
};

/// The code of all kernels for one kind of machine.
struct VariantSpec {
  std::string name;   ///< "x86-64-v3"
  std::string target; ///< "x86_64", "aarch64", "riscv64"
  std::vector<std::string>
      features; ///< "avx2", …: runtime/device/cpu knows them
  alula_image_kind kind = ALULA_IMAGE_ELF;
  std::string image;
  /// For each kernel, in order; addElfVariant finds them itself.
  std::vector<uint64_t> entries;
};

/// A C function that the embedder registers under this name.
struct CustomCallSpec {
  std::string name;
  /// StableHLO's api_version.
  uint32_t apiVersion = 0;
  std::vector<uint32_t> operandTypes, resultTypes;
  /// The backend's configuration, any bytes; attributes as a JSON object.
  std::string config, attributes;
  bool hasSideEffect = false;
};

/// A collective between participants; artifact/SPEC.md defines the kinds.
struct CollectiveSpec {
  alula_collective_kind kind = ALULA_COLLECTIVE_ALL_REDUCE;
  alula_reduction reduction = ALULA_REDUCTION_NONE;
  alula_dtype dtype = ALULA_DTYPE_F32;
  /// What addGroups gave.
  uint32_t groups = 0;
  /// Elements of a block.
  uint64_t count = 0;
  uint32_t channel = 0;
};

class ArtifactWriter {
public:
  uint32_t addString(std::string_view text);
  uint32_t addType(alula_dtype dtype, const std::vector<Dim> &dims);
  /// Equal bytes are deduplicated. `type` is the element type for a safetensors
  /// file.
  uint32_t addConstant(std::string bytes, uint32_t type = ALULA_NONE);
  uint32_t addConstant(const void *bytes, size_t size,
                       uint32_t type = ALULA_NONE) {
    return addConstant({static_cast<const char *>(bytes), size}, type);
  }
  /// The same without a copy: the bytes must outlive the writer.
  uint32_t addBorrowedConstant(std::string_view bytes,
                               uint32_t type = ALULA_NONE);
  /// A tensor of a safetensors file, of a static type.
  uint32_t addExternalConstant(std::string_view file, std::string_view name,
                               uint32_t type);
  uint32_t addGlobal(std::string_view name, uint32_t type, bool isMutable,
                     uint32_t initial = ALULA_NONE);
  uint32_t addKernel(const KernelSpec &kernel);
  uint32_t addCustomCall(const CustomCallSpec &spec);
  /// The number that the next one gets.
  uint32_t getCustomCallCount() const { return uint32_t(customCalls.size()); }
  /// A function that kernels call; names must ascend.
  void addImport(std::string_view name, bool isOptional);
  /// The members of each replica group, or source-target pairs. Equal tables
  /// are deduplicated. All are of a program over so many participants.
  uint32_t addGroups(uint32_t participantCount,
                     const std::vector<std::vector<uint32_t>> &groups);
  uint32_t addCollective(const CollectiveSpec &spec);
  /// After all kernels; the best variant first.
  void addVariant(VariantSpec variant);
  /// The same for an ELF image that exports each kernel by its name. Fails if
  /// one is missing, or if the loader would refuse the image.
  bool addElfVariant(VariantSpec variant, Diagnostic &diagnostic);
  /// Callees before callers. The returned writer lives as long as this one.
  FunctionWriter &addFunction(std::string_view name, bool exported = true);
  void addFact(std::string_view key, std::string_view value);

  /// Moves constants of at least `minimumBytes` out of the file, into the
  /// safetensors file that is returned; "" if there are none. It must lie under
  /// this name beside the artifact.
  std::string externalizeConstants(std::string_view fileName,
                                   uint64_t minimumBytes);

  /// The file, or an empty string and a diagnostic if it does not verify.
  std::string finish(Diagnostic &diagnostic) const;

private:
  friend class FunctionWriter;
  uint32_t addImmediate(int64_t value);
  /// Where the next constant lies in the section DATA.
  uint64_t placeConstant(uint64_t size);

  std::string strings{'\0'};
  std::map<std::string, uint32_t, std::less<>> stringIds{{"", 0}};
  std::vector<alula_file_dim> dims;
  std::vector<alula_file_type> types;
  std::vector<int64_t> immediates;
  std::map<int64_t, uint32_t> immediateIds;
  std::vector<alula_file_global> globals;
  std::vector<alula_file_constant> constants;
  /// ALULA_NONE where nobody said.
  std::vector<uint32_t> constantTypes;
  std::multimap<uint64_t, uint32_t> constantIds;
  /// Of each constant; empty for those outside the file.
  std::vector<std::string_view> contents;
  std::deque<std::string> ownedContents;
  uint64_t dataBytes = 0;
  std::vector<KernelSpec> kernels;
  std::vector<VariantSpec> variants;
  std::vector<alula_file_custom_call> customCalls;
  std::vector<uint32_t> customCallTypes;
  std::vector<alula_file_import> imports;
  std::vector<alula_file_group_table> groupTables;
  std::vector<uint32_t> groupNumbers;
  std::vector<alula_file_collective> collectives;
  std::vector<std::unique_ptr<FunctionWriter>> functions;
  std::vector<alula_file_fact> facts;
};

/// A register or an immediate.
struct Operand {
  uint32_t word;
};

/// Builds one function. Commands go to the current block; a new function
/// stands in its body, block 0.
class FunctionWriter {
public:
  uint32_t getIndex() const { return index; }

  uint32_t addArgument(std::string_view name, uint32_t type);
  /// `alias`: the donated argument whose storage the result takes over.
  uint32_t addResult(std::string_view name, uint32_t type,
                     uint32_t alias = ALULA_NONE);
  void setArenaBytes(uint64_t bytes) { arenaBytes = bytes; }

  /// Slots.
  uint32_t addSlot(alula_slot_kind kind, uint32_t slotIndex,
                   uint64_t offset = 0, uint64_t bytes = ALULA_REST,
                   uint16_t flags = 0);
  uint32_t argument(uint32_t number) {
    return addSlot(ALULA_SLOT_ARGUMENT, number);
  }
  uint32_t result(uint32_t number) {
    return addSlot(ALULA_SLOT_RESULT, number);
  }
  uint32_t constant(uint32_t number) {
    return addSlot(ALULA_SLOT_CONSTANT, number);
  }
  uint32_t global(uint32_t number) {
    return addSlot(ALULA_SLOT_GLOBAL, number);
  }
  uint32_t arena(uint64_t offset, uint64_t bytes) {
    return addSlot(ALULA_SLOT_ARENA, 0, offset, bytes);
  }
  uint32_t local(bool readOnly = false) {
    return addSlot(ALULA_SLOT_LOCAL, 0, 0, 0,
                   readOnly ? ALULA_SLOT_READ_ONLY : 0);
  }

  /// Registers and operands.
  Operand newRegister() { return {registerCount++}; }
  Operand immediate(int64_t value);

  /// Blocks.
  uint32_t newBlock();
  void setBlock(uint32_t block) { current = block; }
  uint32_t getBlock() const { return current; }

  /// Commands, in the order of their parameters in alula/artifact.h. Those
  /// that give a number return the register; with `dst` they overwrite one.
  Operand compute(alula_operator op, Operand a, Operand b);
  void compute(Operand dst, alula_operator op, Operand a, Operand b);
  void move(Operand dst, Operand value) {
    compute(dst, ALULA_OPERATOR_MOVE, value, value);
  }
  Operand select(Operand condition, Operand a, Operand b);
  Operand load(alula_dtype type, uint32_t slot, Operand offset);
  void load(Operand dst, alula_dtype type, uint32_t slot, Operand offset);
  void store(alula_dtype type, uint32_t slot, Operand offset, Operand value);
  Operand argumentDim(uint32_t argument, uint32_t dim);
  void bindResult(uint32_t number, const std::vector<Operand> &dynamicDims);
  void alloc(uint32_t slot, Operand bytes);
  void free(uint32_t slot);
  void view(uint32_t slot, uint32_t base, Operand offset, Operand bytes);
  void swap(uint32_t a, uint32_t b);
  void copy(uint32_t dst, Operand dstOffset, uint32_t src, Operand srcOffset,
            Operand bytes);
  void fill(uint32_t dst, Operand offset, Operand bytes, uint32_t width,
            Operand pattern);
  void dispatch(uint32_t kernel, Operand x, Operand y, Operand z,
                const std::vector<uint32_t> &bindings,
                const std::vector<Operand> &constants = {});
  /// Of the next so many commands.
  void together(uint32_t dispatches);
  void branch(Operand condition, uint32_t thenBlock,
              uint32_t elseBlock = ALULA_NONE);
  void branch(Operand index, const std::vector<uint32_t> &caseBlocks);
  void loop(uint32_t conditionBlock, Operand condition, uint32_t body);
  void call(uint32_t function, const std::vector<uint32_t> &arguments,
            const std::vector<uint32_t> &results,
            const std::vector<Operand> &argumentDims = {},
            const std::vector<Operand> &resultDims = {});
  void customCall(uint32_t number, const std::vector<uint32_t> &operands,
                  const std::vector<uint32_t> &results,
                  const std::vector<Operand> &operandDims = {},
                  const std::vector<Operand> &resultDims = {});
  /// The handle, for collectiveDone.
  Operand collectiveStart(uint32_t number, uint32_t operand, uint32_t result);
  void collectiveDone(Operand handle);
  Operand participant();
  void assertThat(Operand condition, std::string_view message,
                  const std::vector<Operand> &operands = {});
  void checkGlobal(uint32_t number);
  void defineGlobal(uint32_t number);
  /// Any command, by its words after the first.
  void emit(alula_command command, const std::vector<uint32_t> &parameters);

private:
  friend class ArtifactWriter;
  FunctionWriter(ArtifactWriter &file, uint32_t index)
      : file(file), index(index) {}

  ArtifactWriter &file;
  uint32_t index;
  uint32_t name = 0, flags = 0;
  std::vector<alula_file_value> arguments, results;
  std::vector<alula_file_slot> slots;
  std::vector<std::vector<uint32_t>> blocks{{}};
  uint32_t current = 0;
  uint32_t registerCount = 0;
  bool hasTogether = false;
  uint64_t arenaBytes = 0;
};

} // namespace alula::artifact
