// PTX, decoded: what a machine interprets.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace alula::ptx {

struct Warp;
struct Instruction;
/// Runs one instruction for the lanes of `mask`, which is not 0.
using Handler = void (*)(Warp &warp, const Instruction &instruction,
                         uint32_t mask);

enum class Space : uint8_t { generic, global, shared, local, param };

/// The windows of the generic address space, where no host address is.
constexpr uint64_t sharedWindow = uint64_t(1) << 56;
constexpr uint64_t localWindow = uint64_t(2) << 56;
constexpr uint64_t paramWindow = uint64_t(3) << 56;
constexpr uint64_t windowBytes = uint64_t(1) << 32;
/// Shared addresses begin here, so that zero is none.
constexpr uint32_t sharedStart = 1024;

/// A register of all lanes, or a number that all have: 32 values of `bytes`
/// bytes, or a mask of predicates (bytes is 0).
struct Operand {
  uint32_t offset = 0;
  bool isConstant = false;
  uint8_t bytes = 0;
};

struct Instruction {
  Handler run = nullptr;
  Operand operands[5];
  /// Vectors, fragments of matrices: in Module::lists.
  uint32_t lists[4] = {};
  uint8_t listSizes[4] = {};
  /// Offset of the predicate register, if there is one.
  uint32_t predicate = 0;
  bool hasPredicate = false, isNegated = false;
  Space space = Space::generic;
  /// Of an element in memory.
  uint8_t bytes = 0;
  uint32_t flags = 0, mode = 0;
  uint64_t number = 0;
  uint32_t target = 0;
  uint32_t line = 0;
};

struct Parameter {
  std::string name;
  uint32_t offset, bytes;
};

struct Kernel {
  std::string name;
  uint32_t begin = 0;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  /// From .reqntid; zeros: none.
  uint32_t requiredBlock[3] = {}, maxThreads = 0;
  /// Of the variables in shared memory that it has in its code.
  uint32_t sharedBytes = 0;
};

struct Module {
  std::string target;
  uint32_t versionMajor = 0, versionMinor = 0;
  std::vector<Instruction> code;
  std::vector<Operand> lists;
  /// Values of numbers in the code, 32 times each.
  std::vector<uint8_t> constants;
  /// What registers of a warp take; special ones are among them.
  uint32_t registerBytes = 0, localBytes = 0, sharedBytes = 0;
  /// Of shared memory: where what a launch asks for begins.
  uint32_t dynamicStart = 0;
  std::map<std::string, Kernel> kernels;
  /// Variables in global and constant memory, at their place.
  std::unique_ptr<uint8_t[]> globals;
  uint64_t globalBytes = 0;
  struct Variable {
    uint64_t offset, bytes;
  };
  std::map<std::string, Variable> variables;
  /// Tables of brx.idx: numbers of instructions.
  std::vector<std::vector<uint32_t>> tables;

  uint64_t getGlobalAddress(uint64_t offset) const {
    return reinterpret_cast<uint64_t>(globals.get() + offset);
  }
};

/// Special registers stand at the start of a warp's.
enum SpecialRegister : uint32_t {
  tidX,
  tidY,
  tidZ,
  ntidX,
  ntidY,
  ntidZ,
  ctaidX,
  ctaidY,
  ctaidZ,
  nctaidX,
  nctaidY,
  nctaidZ,
  laneId,
  warpId,
  nwarpId,
  smId,
  nsmId,
  gridId,
  laneMaskEq,
  laneMaskLt,
  laneMaskLe,
  laneMaskGt,
  laneMaskGe,
  dynamicSharedBytes,
  totalSharedBytes,
  zero,
  clusterCtaRank,
  clusterRanks,
  specialCount
};

/// Decodes a text; NULL and an error "line 3: …" if it can't.
std::unique_ptr<Module> parseModule(std::string_view text, std::string &error);

} // namespace alula::ptx
