#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdint>

namespace mlir {
class Operation;
} // namespace mlir

namespace alula::dispatch {

/// What rooms may know of the machine that a program is compiled for: numbers,
/// never its name or features. The rows are in `compiler/target`; 0 is "none".
struct MachineFacts {
  // ---- The kind of machine: the same for all code that shares a host program
  // ----

  /// Of an integer that counts elements or bytes.
  int64_t indexBits = 0;
  /// That run workgroups at the same time.
  int64_t cores = 0;
  /// Cores that together saturate the memory bus, if there are so many.
  int64_t memoryCores = 0;
  /// Data caches: of one core, the first two; shared, the last.
  int64_t l1Bytes = 0, l2Bytes = 0, l3Bytes = 0;
  int64_t lineBytes = 0;
  /// 32-bit lanes that move together, at most.
  int64_t lanes = 0;
  /// Of a row of a panel: the layout of the right side that the product
  /// microkernels read in place.
  int64_t panelBytes = 0;
  /// Tile of the result that one product call computes, at most.
  int64_t blockRows = 0, blockColumns = 0;
  /// Memory that the threads of a workgroup share, and how many these may be.
  int64_t sharedBytes = 0, blockThreads = 0;
  /// Numbers of a head, at most, for which a workgroup computes rows of an
  /// attention.
  int64_t attentionHead = 0;
  /// Costs in steps of a scalar loop: of a launch, of what makes another
  /// workgroup worth its while, and of a call of a library routine.
  int64_t launchSteps = 0, workgroupSteps = 0, callSteps = 0;
  /// Ops that one kernel holds, at most.
  int64_t kernelOps = 0;
  /// Of bindings and temporaries that the compiler places, in bytes.
  int64_t alignment = 0;

  // ---- Levels of an instruction set; of several, what each of them has ----

  int64_t vectorBytes = 0, vectorRegisters = 0;
  /// 1: sums of products of bf16 pairs, of 4 bytes, by one instruction.
  int64_t bf16Dot = 0, int8Dot = 0;

  bool operator==(const MachineFacts &) const = default;

  /// Cores that can share what memory limits.
  int64_t getMemoryCores() const { return std::min(memoryCores, cores); }
  /// Workgroups of a launch, at most: slow ones are made up for by others.
  int64_t getMaxWorkgroups() const { return 4 * cores; }
  /// The cache that all others are in front of.
  int64_t getLastCacheBytes() const {
    return l3Bytes ? l3Bytes : l2Bytes ? l2Bytes : l1Bytes;
  }
  /// The largest cache of a single core.
  int64_t getCoreCacheBytes() const { return l2Bytes ? l2Bytes : l1Bytes; }
};

llvm::hash_code hash_value(const MachineFacts &facts);

/// A fact as text has it: "l2_bytes".
struct MachineFact {
  llvm::StringLiteral name;
  int64_t MachineFacts::*member;
  /// It differs between levels of one kind of machine.
  bool isOfLevel;
  int64_t least, most;
  bool isPowerOf2 = false;
};

/// In the order in which they are printed.
llvm::ArrayRef<MachineFact> getMachineFacts();
/// Null if there is none of this name.
const MachineFact *findMachineFact(llvm::StringRef name);

/// Whether programs are compiled alike for both, but for the code of kernels.
bool isSameKind(const MachineFacts &a, const MachineFacts &b);
/// Of machines of one kind: what code for any of them may count on.
MachineFacts meet(const MachineFacts &a, const MachineFacts &b);

/// On a module: the machine that it is compiled for.
constexpr llvm::StringLiteral machineAttributeName = "dispatch.machine";

/// The facts of the closest module around `op` that has them, else those of the
/// default machine (`DispatchDialect::setDefaultMachine`).
MachineFacts getMachine(mlir::Operation *op);

} // namespace alula::dispatch
