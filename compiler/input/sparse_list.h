#pragma once

#include "compiler/input/list_arithmetic.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

namespace alula::input {

using Encoding = mlir::sparse_tensor::SparseTensorEncodingAttr;

/// The encoding of a type that has one, else null.
Encoding getSparseEncoding(mlir::Type type);
/// The same tensor, stored whole.
mlir::RankedTensorType getDenseType(mlir::Type type);

/// A size: a number, or a value of type tensor<i64>.
struct Extent {
  int64_t known = mlir::ShapedType::kDynamic;
  mlir::Value value;

  static Extent of(int64_t number) { return {number, {}}; }
  bool isKnown() const { return !mlir::ShapedType::isDynamic(known); }
};

/// What a level of a tensor's storage is.
struct SparseLevel {
  mlir::sparse_tensor::LevelType type;
  /// Its coordinate, of the dimensions' ones.
  mlir::AffineExpr expression;
  Extent size;

  bool isDense() const {
    return type.isa<mlir::sparse_tensor::LevelFormat::Dense>();
  }
  bool isCompressed() const {
    return type.isa<mlir::sparse_tensor::LevelFormat::Compressed>();
  }
  bool isUnique() const { return mlir::sparse_tensor::isUniqueLT(type); }
};

/// The elements of a tensor that may be other than zero, none twice, in any
/// order. Places that are none of the tensor have its size as their coordinate
/// in each dimension, and the value zero.
struct SparseList {
  /// For each dimension one tensor<nxi64>.
  llvm::SmallVector<mlir::Value> coordinates;
  mlir::Value values;
  llvm::SmallVector<Extent> sizes;
  /// Of a matrix that came as rows: where each starts, columns, and values
  /// that may be anything at places that are none; null otherwise.
  mlir::Value rowStarts, columns, rowValues;
};

/// Vectors of a program as ops, and lists of elements made of them.
class SparseMath {
public:
  SparseMath(mlir::OpBuilder &b, mlir::Location l)
      : builder(b), location(l), scalars(b, l) {}

  mlir::OpBuilder &builder;
  mlir::Location location;
  ListArithmetic scalars;

  Extent getExtent(mlir::Value tensor, unsigned dim = 0);
  llvm::SmallVector<Extent> getExtents(mlir::Value tensor);
  mlir::Value getNumber(Extent extent);
  Extent multiply(Extent a, Extent b);
  Extent multiplyAll(llvm::ArrayRef<Extent> extents);
  mlir::Value makeShape(llvm::ArrayRef<Extent> extents);
  mlir::RankedTensorType getType(llvm::ArrayRef<Extent> extents,
                                 mlir::Type element);

  mlir::Value splat(mlir::Value scalar, llvm::ArrayRef<Extent> shape);
  mlir::Value splat(Extent number, mlir::Value like);
  mlir::Value splat(int64_t number, mlir::Value like) {
    return splat(Extent::of(number), like);
  }
  mlir::Value makeZeros(llvm::ArrayRef<Extent> shape, mlir::Type element);
  mlir::Value makeIota(llvm::ArrayRef<Extent> shape, int64_t dim = 0);
  mlir::Value reshape(mlir::Value tensor, llvm::ArrayRef<Extent> shape);
  mlir::Value flatten(mlir::Value tensor) {
    return reshape(tensor, {multiplyAll(getExtents(tensor))});
  }
  mlir::Value convert(mlir::Value tensor, mlir::Type element);
  mlir::Value concatenate(mlir::ValueRange parts, int64_t dim = 0);
  /// A column of a matrix, as a vector.
  mlir::Value getColumn(mlir::Value matrix, int64_t column);

  template <typename Op> mlir::Value apply(mlir::Value a, mlir::Value b) {
    return builder.create<Op>(location, a.getType(), a, b);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return apply<mlir::stablehlo::AddOp>(a, b);
  }
  mlir::Value subtract(mlir::Value a, mlir::Value b) {
    return apply<mlir::stablehlo::SubtractOp>(a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) {
    return apply<mlir::stablehlo::MulOp>(a, b);
  }
  mlir::Value divide(mlir::Value a, mlir::Value b) {
    return apply<mlir::stablehlo::DivOp>(a, b);
  }
  mlir::Value getRemainder(mlir::Value a, mlir::Value b) {
    return apply<mlir::stablehlo::RemOp>(a, b);
  }
  /// Of masks; one of them may be null.
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::Value a, mlir::stablehlo::ComparisonDirection d,
                      mlir::Value b) {
    return builder.create<mlir::stablehlo::CompareOp>(location, a, b, d);
  }
  mlir::Value select(mlir::Value mask, mlir::Value a, mlir::Value b);

  /// Elements of a vector; places beyond its ends give any element.
  mlir::Value gather(mlir::Value list, mlir::Value places);
  /// Adds to elements of a vector; places beyond its ends are left out.
  mlir::Value scatterAdd(mlir::Value onto, mlir::Value places,
                         mlir::Value updates);
  /// Sorted by the first, which are i64.
  llvm::SmallVector<mlir::Value> sort(mlir::ValueRange vectors);
  /// For each query, how many elements of a list in order are no more.
  mlir::Value countUpTo(mlir::Value list, mlir::Value queries);

  // Lists.
  /// With `mask` false, a place is none.
  SparseList makeList(llvm::ArrayRef<mlir::Value> coordinates,
                      mlir::Value values, mlir::Value mask,
                      llvm::ArrayRef<Extent> sizes);
  mlir::Value getMask(const SparseList &list);
  /// Places in row-major order of `sizes`, whatever the mask says.
  mlir::Value linearize(llvm::ArrayRef<mlir::Value> coordinates,
                        llvm::ArrayRef<Extent> sizes);
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value places,
                                             llvm::ArrayRef<Extent> sizes);
  /// What is not zero of a dense tensor.
  SparseList makeSparse(mlir::Value dense);
  mlir::Value makeDense(const SparseList &list, mlir::RankedTensorType type);
  /// a + b, or what both have, multiplied.
  SparseList merge(const SparseList &a, const SparseList &b, bool isProduct);
  SparseList reshape(const SparseList &list, llvm::ArrayRef<Extent> sizes);

  // Storage: the arrays of a type, in the order of its levels.
  /// Their types, and what each holds.
  void getStorage(mlir::RankedTensorType type,
                  llvm::SmallVectorImpl<mlir::Type> &types,
                  llvm::SmallVectorImpl<std::string> &parts);
  SparseList unpack(mlir::RankedTensorType type, mlir::ValueRange arrays,
                    llvm::StringRef name);
  llvm::SmallVector<mlir::Value> pack(const SparseList &list,
                                      mlir::RankedTensorType type);

private:
  llvm::SmallVector<SparseLevel> getLevels(Encoding encoding,
                                           llvm::ArrayRef<Extent> sizes);
  mlir::Value evaluate(mlir::AffineExpr expression,
                       llvm::ArrayRef<mlir::Value> variables);
  /// Of a vector that is not empty: places beyond its ends give its last one.
  mlir::Value gatherSome(mlir::Value list, mlir::Value places);
  void assertSize(mlir::Value array, Extent wanted, llvm::StringRef name,
                  llvm::StringRef part);
};

/// Fails with the reason if storage of this kind isn't known.
mlir::LogicalResult checkSparseType(mlir::Operation *op, mlir::Type type);

} // namespace alula::input
