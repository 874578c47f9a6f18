#pragma once

#include "compiler/kernel/loops.h"
#include "compiler/kernel/memory.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace alula::kernel {
class Lowering;
class Reader;
struct RowNest;

/// Fills or sets every result of an op.
using Emitter = void (*)(mlir::Operation *op, Lowering &lowering);
/// The same if it costs nothing, since operands are in memory already.
using Aliaser = bool (*)(mlir::Operation *op, Lowering &lowering);

/// For an op whose elements can't be computed one by one, or better together.
struct OpEmitters {
  Emitter emit = nullptr;
  Aliaser alias = nullptr;
};

/// What a target brings to make kernels of plans: its loops, its memory and
/// what it does for each op. Reading elements is the same for all (element/).
class TargetKernels {
public:
  virtual ~TargetKernels() = default;

  virtual std::unique_ptr<Loops> createLoops(Reader &reader) const = 0;
  virtual std::unique_ptr<Memory> createMemory(Lowering &lowering) const = 0;
  /// All null for an op that has none.
  virtual OpEmitters findEmitters(mlir::Operation *op) const = 0;
  virtual void emitRowNest(const RowNest &nest, Lowering &lowering) const = 0;
};

/// What `create` makes is used for machines of a kind (`#dispatch.machine`);
/// the first that is registered also for programs that name no machine.
void registerTargetKernels(mlir::DialectRegistry &registry,
                           llvm::StringLiteral kind,
                           std::unique_ptr<TargetKernels> (*create)());

/// Who makes the kernels of the machine that `op` is compiled for; null, and an
/// error at `op`, if nobody does.
const TargetKernels *findTargetKernels(mlir::Operation *op);

} // namespace alula::kernel
