#pragma once

#include "dialect/stablehlo/rule_site.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"
#include "mlir/IR/Value.h"

namespace mlir::stablehlo {

/// The type of operand `index`, null with a message unless there is one and it
/// is a ranked tensor.
RankedTensorType tensorOperand(const RuleSite &site, ValueRange operands,
                               size_t index);

/// A list of dimension numbers and how messages call it.
struct NamedDims {
  StringRef name;
  ArrayRef<int64_t> dims;
};

/// Each number is in [0, limit).
LogicalResult verifyInRange(const RuleSite &site, NamedDims list,
                            int64_t limit);
LogicalResult verifyInRange(const RuleSite &site, StringRef name, int64_t dim,
                            int64_t limit);
/// No number appears twice in the lists together.
LogicalResult verifyUnique(const RuleSite &site, ArrayRef<NamedDims> lists);
LogicalResult verifySorted(const RuleSite &site, NamedDims list);

/// Equal, or one of them is unknown.
inline bool agree(int64_t sizeA, int64_t sizeB) {
  return ShapedType::isDynamic(sizeA) || ShapedType::isDynamic(sizeB) ||
         sizeA == sizeB;
}
/// `4`, or `?` for an unknown size.
std::string sizeText(int64_t size);
/// `[2, ?, 4]`.
std::string shapeText(ArrayRef<int64_t> shape);

/// The value of an attribute that should be a 64-bit integer; nothing if it is
/// missing or does not fit.
std::optional<int64_t> readInteger(IntegerAttr attribute);
/// The pairs of an attribute that should be a tensor<Nx2xi64>.
FailureOr<SmallVector<std::pair<int64_t, int64_t>>>
readPairs(const RuleSite &site, StringRef name, DenseIntElementsAttr attribute);

/// The integers of a constant, such as a shape that an op takes as an operand;
/// nothing if `value` is no constant.
std::optional<SmallVector<int64_t>> readConstant(Value value);

/// Collects the dimensions of a result, each with its bound.
class ShapeBuilder {
public:
  ShapeBuilder() = default;
  /// Starts with all dimensions of a type.
  explicit ShapeBuilder(RankedTensorType type);

  void add(int64_t size, int64_t bound = ShapedType::kDynamic);
  /// Appends dimension `dim` of `type`.
  void addDim(RankedTensorType type, int64_t dim);
  void set(int64_t dim, int64_t size, int64_t bound = ShapedType::kDynamic);

  ArrayRef<int64_t> getSizes() const { return sizes; }
  RankedTensorType get(Type elementType) const;

private:
  SmallVector<int64_t> sizes, bounds;
};

/// The bound of a dimension, kDynamic if it has none.
int64_t boundOf(RankedTensorType type, int64_t dim);

/// What all these shapes tell about one shape: null if they contradict. The
/// element type is that of the first.
RankedTensorType mergeShapes(TypeRange types);

} // namespace mlir::stablehlo
