#pragma once

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace llvm {
class BasicBlock;
class BranchInst;
class Constant;
class ICmpInst;
class Loop;
class PHINode;
class Value;
} // namespace llvm

namespace alula::cpu {

/// A loop as LLVM's vectorizer leaves it if it may fold the tail. Its only
/// block is
///   %index = phi [ 0, … ], [ %next, … ]
///   %mask = icmp ule (splat %index + lanes), splat (length - 1)
///   %next = add %index, step
///   br (%next == end), …
class MaskedLoop {
public:
  /// What `loop` is, if it is like that.
  static std::optional<MaskedLoop> find(llvm::Loop &loop);

  /// Peels off the last iteration, the only one whose masks aren't all true.
  void cut();

private:
  struct Mask {
    llvm::ICmpInst *isInside;
    llvm::Constant *lanes; ///< In the iteration in which the index is 0.
  };

  explicit MaskedLoop(llvm::BasicBlock *block) : block(block) {}
  bool findIndex();
  bool findMasks();
  bool isTrueBefore(const Mask &mask) const;
  void carryMasked();
  llvm::Constant *findLanes(llvm::Value *vector) const;
  llvm::Constant *getIndex(uint64_t value) const;
  llvm::Value *getLast(llvm::PHINode &phi) const;
  llvm::BasicBlock *makeLast();

  llvm::BasicBlock *block, *entry = nullptr;
  llvm::BranchInst *branch = nullptr;
  llvm::ICmpInst *end = nullptr;
  llvm::PHINode *index = nullptr;
  llvm::SmallVector<Mask> masks;
  uint64_t step = 0, last = 0; ///< Of the index.
};

} // namespace alula::cpu
