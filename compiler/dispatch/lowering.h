#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Support/DebugStringHelper.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

// How one kernel body is turned from StableHLO to linalg: op by op, in order,
// through one table with a function for each op, in the file of its family.

namespace alula::dispatch {

/// The body under construction and where each StableHLO value went.
class Lowering {
public:
  Lowering(mlir::OpBuilder &builder) : builder(builder) {}

  mlir::Value get(mlir::Value source) const { return mapping.lookup(source); }
  void set(mlir::Value source, mlir::Value lowered) {
    mapping.map(source, lowered);
  }
  /// A fresh tensor to write `source`'s value to.
  mlir::Value createEmpty(mlir::Location location, mlir::Type sourceType);
  /// `linalg.generic` over identity maps but for `maps`; all loops parallel.
  mlir::Value createMap(
      mlir::Location location, mlir::Type sourceType, mlir::ValueRange inputs,
      llvm::ArrayRef<mlir::AffineMap> inputMaps,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
          body);

  mlir::OpBuilder &builder;

private:
  mlir::IRMapping mapping;
};

using LowerFunction = llvm::LogicalResult (*)(mlir::Operation *, Lowering &);

/// Null for an op that has no native code.
LowerFunction findLowering(mlir::Operation *op);

/// Machine integers have no sign: tensor<4xui8> is tensor<4xi8> from here on.
/// Null for a type that has no native code.
mlir::Type lowerType(mlir::Type type);

/// The arithmetic of one element of `op`, an elementwise op or an op of a
/// reduction's body, on already lowered scalars. Null and a diagnostic if there
/// is none for its type.
mlir::Value lowerScalar(mlir::OpBuilder &builder, mlir::Operation *op,
                        mlir::ValueRange operands);
/// All ops of a body on scalars; the values it returns.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
lowerScalarBody(mlir::OpBuilder &builder, mlir::Block &block,
                mlir::ValueRange arguments);

/// "'op': no native code for …: type", at the op.
llvm::LogicalResult declineOp(mlir::Operation *op, const llvm::Twine &reason);

// The families.
llvm::LogicalResult lowerElementwise(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerConstant(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerIota(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerBroadcastInDim(mlir::Operation *op,
                                        Lowering &lowering);
llvm::LogicalResult lowerReshape(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerTranspose(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerSlice(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerReverse(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerReduce(mlir::Operation *op, Lowering &lowering);
llvm::LogicalResult lowerDotGeneral(mlir::Operation *op, Lowering &lowering);

} // namespace alula::dispatch
