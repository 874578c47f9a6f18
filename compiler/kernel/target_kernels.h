#pragma once

#include "compiler/kernel/loops.h"
#include "compiler/kernel/memory.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace alula::dispatch {
struct Attention;
} // namespace alula::dispatch

namespace alula::kernel {
class Lowering;
class Reader;
struct RowNest;

/// Emits the loops that compute every result of an op into buffers.
using Emitter = void (*)(mlir::Operation *op, Lowering &lowering);
/// Makes the results views of operands that are materialized already.
using Aliaser = bool (*)(mlir::Operation *op, Lowering &lowering);

/// For an op that is not computed element by element where it is used.
struct OpEmitters {
  Emitter emit = nullptr;
  Aliaser alias = nullptr;
};

/// A target's part of the lowering of plans: its loops, its memory and an
/// emitter for each op. Loads of elements are the same for all (element/).
class TargetKernels {
public:
  virtual ~TargetKernels() = default;

  virtual std::unique_ptr<Loops> createLoops(Reader &reader) const = 0;
  virtual std::unique_ptr<Memory> createMemory(Lowering &lowering) const = 0;
  /// All null for an op that is lowered by its generator.
  virtual OpEmitters findEmitters(mlir::Operation *op) const = 0;
  virtual void emitRowNest(const RowNest &nest, Lowering &lowering) const = 0;
  /// For machines with such workgroups; others get none.
  virtual void emitAttention(const dispatch::Attention & /*attention*/,
                             Lowering & /*lowering*/) const {
    llvm_unreachable("no attention is planned for this machine");
  }
};

/// Registers the lowering for machines of a kind (`#dispatch.machine`); the
/// first that is registered is the default for programs that name no machine.
void registerTargetKernels(mlir::DialectRegistry &registry,
                           llvm::StringLiteral kind,
                           std::unique_ptr<TargetKernels> (*create)());

/// The registered lowering for the machine that `op` is compiled for; null, and
/// an error at `op`, if there is none.
const TargetKernels *findTargetKernels(mlir::Operation *op);

} // namespace alula::kernel
