// What choosing a handler for a statement needs.

#pragma once

#include "runtime/device/cuda/emulator/parser.h"

namespace alula::ptx {

/// The decoder as families of instructions see it. Any of these may set an
/// error; the first one stays.
class Decoding {
public:
  virtual ~Decoding() = default;
  /// A register of so many bytes (0: a predicate), or a number of this type.
  virtual Operand operand(const Written &written, Type type) = 0;
  virtual Operand operandOf(std::string_view word, Type type) = 0;
  /// A register of any width, or a number of this type.
  virtual Operand anyWidth(std::string_view word, Type type) = 0;
  /// Where what is written in the list at `index` is in Module::lists.
  virtual void list(Instruction &instruction, unsigned index,
                    const Written &written, Type type, bool anyWidth) = 0;
  /// Base and offset of an address: operand `index` and number.
  virtual void address(Instruction &instruction, unsigned index,
                       const Written &written) = 0;
  virtual Operand discarded(Type type) = 0;
  virtual void fail(const std::string &why) = 0;
};

/// Each sets `instruction.run`, or leaves it NULL if the statement is none of
/// its family.
void decodeArithmetic(Decoding &decoding, const Statement &statement,
                      Instruction &instruction);
void decodeFloats(Decoding &decoding, const Statement &statement,
                  Instruction &instruction);
void decodeConversion(Decoding &decoding, const Statement &statement,
                      Instruction &instruction);
void decodeMemory(Decoding &decoding, const Statement &statement,
                  Instruction &instruction);
void decodeExchange(Decoding &decoding, const Statement &statement,
                    Instruction &instruction);
void decodeTransfer(Decoding &decoding, const Statement &statement,
                    Instruction &instruction);
void decodeWarpgroup(Decoding &decoding, const Statement &statement,
                     Instruction &instruction);
void decodeMatrix(Decoding &decoding, const Statement &statement,
                  Instruction &instruction);

/// Control flow; the decoder fills in where to.
void runBranch(Warp &, const Instruction &, uint32_t);
void runIndexedBranch(Warp &, const Instruction &, uint32_t);
void runExit(Warp &, const Instruction &, uint32_t);
void runCall(Warp &, const Instruction &, uint32_t);
void runReturn(Warp &, const Instruction &, uint32_t);
void runTrap(Warp &, const Instruction &, uint32_t);
void runNothing(Warp &, const Instruction &, uint32_t);
/// Copies bytes of the local memory: parameters of a call.
void runCopyParameter(Warp &, const Instruction &, uint32_t);

} // namespace alula::ptx
