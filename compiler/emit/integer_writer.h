#pragma once

#include "artifact/writer.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace alula::emit {

/// Writes integer arithmetic: `arith` on index and iN. A register holds a value
/// of N bits sign-extended, but i1 as 0 or 1.
class IntegerWriter {
public:
  explicit IntegerWriter(artifact::FunctionWriter &out) : out(out) {}

  /// Fails with a diagnostic if the op has no command.
  mlir::LogicalResult write(mlir::Operation &op);

  artifact::Operand get(mlir::Value value);
  void set(mlir::Value value, artifact::Operand operand) {
    operands.insert({value, operand});
  }

private:
  artifact::Operand compute(alula_operator op, artifact::Operand a,
                            artifact::Operand b) {
    return out.compute(op, a, b);
  }
  artifact::Operand wrap(artifact::Operand operand, mlir::Type type);
  artifact::Operand toUnsigned(artifact::Operand operand, mlir::Type type);
  artifact::Operand toSigned(artifact::Operand operand, mlir::Type type);
  std::optional<artifact::Operand> writeBinary(mlir::Operation &op);
  std::optional<artifact::Operand> writeCompare(mlir::Operation &op);
  std::optional<artifact::Operand> writeCast(mlir::Operation &op);

  artifact::FunctionWriter &out;
  llvm::DenseMap<mlir::Value, artifact::Operand> operands;
};

} // namespace alula::emit
