#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <optional>

namespace llvm {
class BasicBlock;
class BranchInst;
class Constant;
class ICmpInst;
class Instruction;
class Loop;
class PHINode;
class ScalarEvolution;
class SCEV;
class Value;
} // namespace llvm

namespace alula::cpu {

/// A loop as LLVM's vectorizer leaves it if it may mask every step. Its only
/// block is
///   %index = phi [ 0, … ], [ %next, … ]
///   %mask = icmp ule (splat %index + lanes), splat (length - 1)
///   %next = add %index, step
///   br (%next == end), …
class MaskedLoop {
public:
  /// What `loop` is, if it is like that. Asks about memory now: cutting other
  /// loops makes `evolution` forget what it was.
  static std::optional<MaskedLoop> find(llvm::Loop &loop,
                                        llvm::ScalarEvolution &evolution);

  /// Makes those steps their own in which masks aren't all true: the last one,
  /// and the first one where that brings what is read or written to the start
  /// of a vector in memory.
  void cut();

private:
  using Values = llvm::ValueToValueMapTy;
  struct Mask {
    llvm::ICmpInst *isInside;
    uint64_t firstLane;
  };
  /// What a loop carries from step to step for the lanes of one mask.
  struct Sum {
    llvm::PHINode *phi;
    unsigned part;
  };

  explicit MaskedLoop(llvm::BasicBlock *block) : block(block) {}
  bool findIndex();
  bool findMasks();
  void carryMasked();
  llvm::Constant *findLanes(llvm::Value *vector) const;

  void findShift(llvm::ScalarEvolution &evolution);
  llvm::Value *findStream(llvm::ScalarEvolution &evolution) const;
  bool mayShift(llvm::Value *index) const;
  bool onlyMasks(llvm::Value *vector) const;
  bool findSums();

  llvm::Constant *getIndex(uint64_t value) const;
  void makeShift();
  llvm::Value *makeAtStart(llvm::Value *value, Values &known);
  llvm::Value *makeMask(const Mask &mask, uint64_t at, llvm::Instruction *before);
  llvm::Value *rotate(llvm::Value *low, llvm::Value *high, llvm::Value *by,
                      llvm::Instruction *before);
  llvm::BasicBlock *copyStep(uint64_t at, Values &values,
                             llvm::BasicBlock *before);
  void makeFirst();
  void makeLast();

  llvm::BasicBlock *block, *entry = nullptr;
  llvm::BranchInst *branch = nullptr;
  llvm::ICmpInst *end = nullptr;
  llvm::PHINode *index = nullptr;
  llvm::SmallVector<Mask> masks;
  uint64_t step = 0, limit = 0, length = 0, lanes = 0;
  /// If the first step begins before the first number, by `shift` lanes: so
  /// that vectors at `stream` lie in memory as in a table of vectors.
  llvm::Value *stream = nullptr, *shift = nullptr;
  llvm::SmallVector<Sum> sums;
};

} // namespace alula::cpu
