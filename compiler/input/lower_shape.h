// The parts of input-lower-shape, one for each dialect that it reads.

#pragma once

#include "compiler/input/list_arithmetic.h"

#include "mlir/IR/OpDefinition.h"

namespace alula::input {

/// The type that a value has in stablehlo: of an index i64, of a scalar a
/// tensor without dimensions, of a shape a list of numbers.
mlir::Type getPlainType(mlir::Type type);

/// The same numbers in the plain type; null if they can't be said in it.
mlir::ElementsAttr getPlainElements(mlir::ElementsAttr elements);

/// What an arith op computes, of operands that have plain types; null if it is
/// not known, after an error.
mlir::Value buildArithmetic(mlir::Operation *op, mlir::OpBuilder &builder);

/// Says ops on sizes in stablehlo, with their operands lowered already. A list
/// is a tensor of one dimension whose elements are known as scalars.
class ShapeLowering {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  explicit ShapeLowering(mlir::MLIRContext *context) : builder(context) {}

  mlir::LogicalResult lower(mlir::Block &block);
  /// Takes away what was lowered.
  void finish();

private:
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerAssuming(mlir::Operation *op);
  void retype(mlir::Operation *op);
  void replace(mlir::Value old, mlir::Value by);
  /// A value for each result; null for a witness, which says what assertions
  /// say already.
  mlir::FailureOr<Values> lowerShape(mlir::Operation *op);
  mlir::FailureOr<mlir::Value> lowerTensor(mlir::Operation *op);
  mlir::FailureOr<mlir::Value> lowerExtract(mlir::Operation *op);
  mlir::FailureOr<mlir::Value> lowerExtractSlice(mlir::Operation *op);
  mlir::FailureOr<mlir::Value> lowerCast(mlir::Operation *op);
  mlir::FailureOr<mlir::Value> lowerReshape(mlir::Operation *op);
  mlir::FailureOr<Values> lowerSplit(mlir::Operation *op);
  mlir::FailureOr<mlir::Value> getExtent(mlir::Operation *op, mlir::Value list,
                                         mlir::Value index);

  ListArithmetic math(mlir::Operation *op) {
    builder.setInsertionPoint(op);
    return {builder, op->getLoc()};
  }
  mlir::InFlightDiagnostic refuse(mlir::Operation *op);
  static std::optional<int64_t> getKnown(mlir::Value scalar);
  /// An attribute's number or a value's.
  mlir::Value getNumber(mlir::Operation *op, mlir::OpFoldResult number);
  Values getNumbers(mlir::Operation *op,
                    llvm::ArrayRef<mlir::OpFoldResult> numbers);
  /// The sizes of a tensor; an error if it has no rank.
  mlir::FailureOr<Values> getSizes(mlir::Operation *op, mlir::Value tensor);
  /// The elements of a list; an error if its length is not known.
  mlir::FailureOr<Values> getElements(mlir::Operation *op, mlir::Value list);
  mlir::Value makeList(mlir::Operation *op, mlir::ValueRange numbers);
  mlir::Value reshape(mlir::Operation *op, mlir::Value tensor,
                      llvm::ArrayRef<mlir::Value> sizes);

  mlir::Value compare(mlir::Operation *op, mlir::Value a, mlir::Value b);
  /// True if known to be, null if known not to be.
  mlir::Value areEqual(mlir::Operation *op, llvm::ArrayRef<Values> lists);
  mlir::Value makeCondition(mlir::Operation *op, bool value);
  void require(mlir::Operation *op, mlir::Value condition,
               const llvm::Twine &message,
               llvm::ArrayRef<mlir::Value> shown = {});
  /// The message is the program's.
  void requireAsWritten(mlir::Operation *op, mlir::Value condition,
                        llvm::StringRef message);
  mlir::Value broadcast(mlir::Operation *op, llvm::ArrayRef<Values> shapes,
                        size_t fromEnd);
  /// Calls `visit` with pairs of sizes, of which one must be 1 or both the
  /// same, and their place.
  void
  forEachPair(llvm::ArrayRef<Values> shapes,
              llvm::function_ref<void(mlir::Value, mlir::Value, size_t)> visit);
  mlir::Value canBroadcast(mlir::Operation *op, mlir::Value a, mlir::Value b);

  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, Values> sizes, lists;
  llvm::SmallVector<mlir::Operation *> lowered;
};

} // namespace alula::input
