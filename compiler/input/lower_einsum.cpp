// einsum → dot_general between a preparation of each operand and a transpose.
//
// Preparing an operand takes the diagonal of letters that it repeats and sums
// over letters that nothing else has. Of what is left, letters of both
// operands are batching if the result has them and contracting otherwise.

#include "compiler/input/lower_einsum.h"

#include "dialect/stablehlo/build.h"
#include "dialect/stablehlo/einsum_config.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/type_rules.h"

using namespace mlir;
using namespace alula::input;

namespace {
using Letters = SmallVector<int>;

RankedTensorType getExpressed(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(stablehlo::expressedType(tensor.getElementType()));
}

/// A tensor with a letter for each dimension.
struct Labeled {
  Value value;
  Letters letters;
  RankedTensorType type() const {
    return cast<RankedTensorType>(value.getType());
  }
};

struct Lowering {
  OpBuilder &builder;
  Location location;

  Value buildSum(Value operand, ArrayRef<int64_t> dims) {
    return stablehlo::buildSum(builder, location, operand, dims);
  }

  /// Zero off the diagonal of two dimensions, then summed over the second.
  Labeled takeDiagonal(Labeled operand, int64_t first, int64_t second) {
    RankedTensorType type = operand.type();
    auto indexType =
        RankedTensorType::get(type.getShape(), builder.getI64Type());
    Value a = builder.create<stablehlo::IotaOp>(location, indexType, first);
    Value b = builder.create<stablehlo::IotaOp>(location, indexType, second);
    Value isDiagonal = builder.create<stablehlo::CompareOp>(
        location, indexType.clone(builder.getI1Type()), a, b,
        stablehlo::ComparisonDirection::EQ,
        stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                           stablehlo::ComparisonType::SIGNED));
    Value zeros = builder.create<stablehlo::BroadcastInDimOp>(
        location, type,
        stablehlo::buildZero(builder, location, type.getElementType()),
        ArrayRef<int64_t>{});
    Value kept = builder.create<stablehlo::SelectOp>(location, type, isDiagonal,
                                                     operand.value, zeros);
    operand.value = buildSum(kept, {second});
    operand.letters.erase(operand.letters.begin() + second);
    return operand;
  }

  Labeled prepare(Labeled operand, function_ref<bool(int)> isNeeded) {
    for (size_t second = 1; second < operand.letters.size(); ++second) {
      const auto *first = llvm::find(operand.letters, operand.letters[second]);
      auto at = static_cast<size_t>(first - operand.letters.begin());
      if (at == second)
        continue;
      operand = takeDiagonal(operand, static_cast<int64_t>(at),
                             static_cast<int64_t>(second));
      --second;
    }
    SmallVector<int64_t> summed;
    Letters kept;
    for (auto [dim, letter] : llvm::enumerate(operand.letters)) {
      if (isNeeded(letter))
        kept.push_back(letter);
      else
        summed.push_back(static_cast<int64_t>(dim));
    }
    if (!summed.empty())
      operand.value = buildSum(operand.value, summed);
    operand.letters = kept;
    return operand;
  }

  /// The dimensions in the order of `letters`; letters that the operand
  /// doesn't have are broadcast to the sizes of `type`.
  Value arrange(Labeled operand, ArrayRef<int> letters, RankedTensorType type) {
    SmallVector<int64_t> order;
    for (int letter : letters) {
      const auto *found = llvm::find(operand.letters, letter);
      if (found != operand.letters.end())
        order.push_back(found - operand.letters.begin());
    }
    if (!llvm::is_sorted(order)) {
      SmallVector<int64_t> shape;
      Letters arranged;
      for (int64_t dim : order) {
        shape.push_back(operand.type().getDimSize(dim));
        arranged.push_back(operand.letters[dim]);
      }
      operand.value = builder.create<stablehlo::TransposeOp>(
          location,
          RankedTensorType::get(shape, operand.type().getElementType()),
          operand.value, order);
      operand.letters = arranged;
    }
    if (operand.type() == type)
      return operand.value;
    SmallVector<int64_t> dims;
    for (auto [dim, letter] : llvm::enumerate(letters))
      if (llvm::is_contained(operand.letters, letter))
        dims.push_back(static_cast<int64_t>(dim));
    return builder.create<stablehlo::BroadcastInDimOp>(location, type,
                                                       operand.value, dims);
  }

  Labeled multiply(const Labeled &lhs, const Labeled &rhs, ArrayRef<int> result,
                   Type element) {
    SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting,
        rhsContracting, shape;
    Letters batching, lhsFree, rhsFree;
    for (auto [dim, letter] : llvm::enumerate(lhs.letters)) {
      const auto *other = llvm::find(rhs.letters, letter);
      if (other == rhs.letters.end()) {
        lhsFree.push_back(letter);
        continue;
      }
      bool isBatching = llvm::is_contained(result, letter);
      (isBatching ? lhsBatching : lhsContracting)
          .push_back(static_cast<int64_t>(dim));
      (isBatching ? rhsBatching : rhsContracting)
          .push_back(other - rhs.letters.begin());
      if (isBatching)
        batching.push_back(letter);
    }
    for (int letter : rhs.letters)
      if (!llvm::is_contained(lhs.letters, letter))
        rhsFree.push_back(letter);
    Labeled product{nullptr, batching};
    llvm::append_range(product.letters, lhsFree);
    llvm::append_range(product.letters, rhsFree);
    for (int letter : product.letters) {
      const Labeled &from = llvm::is_contained(lhs.letters, letter) ? lhs : rhs;
      shape.push_back(from.type().getDimSize(static_cast<unsigned>(
          llvm::find(from.letters, letter) - from.letters.begin())));
    }
    product.value = builder.create<stablehlo::DotGeneralOp>(
        location, RankedTensorType::get(shape, element), lhs.value, rhs.value,
        stablehlo::DotDimensionNumbersAttr::get(builder.getContext(),
                                                lhsBatching, rhsBatching,
                                                lhsContracting, rhsContracting),
        ArrayAttr(), stablehlo::DotAlgorithmAttr());
    return product;
  }
};
} // namespace

LogicalResult alula::input::lowerEinsum(Operation *op, IRRewriter &rewriter) {
  SmallVector<int64_t> ranks;
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                SmallVector<Type>(op->getResultTypes()))) {
    auto tensor = cast<RankedTensorType>(type);
    if (!tensor.hasStaticShape())
      return stablehlo::opError(op) << "shapes must be static: has " << tensor;
    ranks.push_back(tensor.getRank());
  }
  ranks.pop_back();
  std::string error;
  auto text = op->getAttrOfType<StringAttr>("einsum_config").getValue();
  auto config = stablehlo::parseEinsumConfig(text, ranks, error);
  if (!config)
    return stablehlo::opError(op) << error;
  // Quantized elements are computed on as real numbers.
  Location location = op->getLoc();
  Type quantized = op->getResult(0).getType();
  RankedTensorType result = getExpressed(quantized);
  Lowering lowering{rewriter, location};
  SmallVector<Labeled> operands;
  for (auto [value, letters] :
       llvm::zip_equal(op->getOperands(), config->operands)) {
    Value operand = value;
    if (Type real = getExpressed(value.getType()); real != value.getType())
      operand = rewriter.create<stablehlo::UniformDequantizeOp>(location, real,
                                                                value);
    operands.push_back({operand, letters});
  }
  auto finish = [&](Labeled last) {
    Value value = lowering.arrange(last, config->result, result);
    if (result != quantized)
      value = rewriter.create<stablehlo::UniformQuantizeOp>(location, quantized,
                                                            value);
    rewriter.replaceOp(op, value);
    return success();
  };
  auto inResult = [&](int letter) {
    return llvm::is_contained(config->result, letter);
  };
  if (operands.size() == 1)
    return finish(lowering.prepare(operands[0], inResult));
  Letters lhsLetters = operands[0].letters, rhsLetters = operands[1].letters;
  Labeled lhs = lowering.prepare(operands[0], [&](int letter) {
    return inResult(letter) || llvm::is_contained(rhsLetters, letter);
  });
  Labeled rhs = lowering.prepare(operands[1], [&](int letter) {
    return inResult(letter) || llvm::is_contained(lhsLetters, letter);
  });
  return finish(
      lowering.multiply(lhs, rhs, config->result, result.getElementType()));
}
