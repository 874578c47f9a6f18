// chlo.ragged_dot → a call that multiplies group by group, where the target's
// kernels have one: with transposes and reshapes around it,
//
//   alula.ragged_rows_product(lhs [*, m, k], rhs [*, g, k, n], sizes i32 [*,
//   g])
//       -> [*, m, n]: each row times the matrix of its group, 0 without one
//   alula.ragged_sums_product(lhs [*, m, k], rhs [*, m, n], sizes i32 [*, g])
//       -> [*, g, k, n]: for each group lhs' rhs of its rows
//
// bf16 has sums in f32, which is the result's type; smaller floats are widened.

#include "compiler/input/convert_chlo.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::input;

namespace {
class RaggedCall {
public:
  RaggedCall(chlo::RaggedDotOp op, IRRewriter &rewriter)
      : op(op), rewriter(rewriter), location(op.getLoc()),
        numbers(op.getRaggedDotDimensionNumbers()),
        ragged(numbers.getLhsRaggedDimensions().front()),
        lhs(cast<RankedTensorType>(op.getLhs().getType())),
        rhs(cast<RankedTensorType>(op.getRhs().getType())),
        sizes(cast<RankedTensorType>(op.getGroupSizes().getType())),
        result(cast<RankedTensorType>(op.getType())) {}

  /// Whether the rows of all groups are neighbours, and the types are floats.
  bool fits() const;
  void convert();

private:
  using Dims = SmallVector<int64_t>;

  bool isContracting() const {
    return llvm::is_contained(numbers.getLhsContractingDimensions(), ragged);
  }
  /// The dimensions of a side that play no other part.
  static Dims collectFree(RankedTensorType type,
                          ArrayRef<ArrayRef<int64_t>> taken);
  int64_t count(RankedTensorType type, ArrayRef<int64_t> dims) const {
    int64_t product = 1;
    for (int64_t dim : dims)
      product *= type.getDimSize(dim);
    return product;
  }
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> order);
  Value convertElements(Value value, Type element);
  /// The parts of a tensor in this order, each as one dimension but the first.
  Value gather(Value value, Type element, ArrayRef<int64_t> batch,
               ArrayRef<Dims> parts);
  Value getSizes(ArrayRef<int64_t> batchShape, int64_t rows, int64_t inner);
  Value call(StringRef name, ArrayRef<int64_t> shape, Type element,
             ValueRange operands);
  Type chooseElement() const;
  Value convertRows();
  Value convertSums();

  mutable chlo::RaggedDotOp op;
  IRRewriter &rewriter;
  Location location;
  chlo::RaggedDotDimensionNumbersAttr numbers;
  int64_t ragged;
  RankedTensorType lhs, rhs, sizes, result;
};

bool isMultiplied(Type type) {
  auto element = dyn_cast<FloatType>(type);
  return element && stablehlo::isFloatElement(type) && element.getWidth() <= 64;
}

bool RaggedCall::fits() const {
  if (!lhs.hasStaticShape() || !rhs.hasStaticShape() ||
      !sizes.hasStaticShape() || !result.hasStaticShape() ||
      llvm::is_contained(numbers.getLhsBatchingDimensions(), ragged) ||
      !isMultiplied(lhs.getElementType()) ||
      !isMultiplied(rhs.getElementType()) ||
      !isMultiplied(result.getElementType()) ||
      lhs.getElementType() != rhs.getElementType())
    return false;
  // Sizes are passed as i32.
  if (lhs.getNumElements() > std::numeric_limits<int32_t>::max())
    return false;
  // Groups may not begin anew for each index of another dimension.
  return op.getGroupPrefixDims().size() ==
             numbers.getLhsBatchingDimensions().size() &&
         (sizes.getRank() == 1 ||
          sizes.getRank() == int64_t(op.getGroupPrefixDims().size()) + 1);
}

RaggedCall::Dims RaggedCall::collectFree(RankedTensorType type,
                                         ArrayRef<ArrayRef<int64_t>> taken) {
  Dims free;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (llvm::none_of(taken, [&](ArrayRef<int64_t> list) {
          return llvm::is_contained(list, dim);
        }))
      free.push_back(dim);
  return free;
}

Value RaggedCall::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return rewriter.create<stablehlo::ReshapeOp>(location, type.clone(shape),
                                               value);
}

Value RaggedCall::transpose(Value value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Dims shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return rewriter.create<stablehlo::TransposeOp>(location, type.clone(shape),
                                                 value, order);
}

Value RaggedCall::convertElements(Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return rewriter.create<stablehlo::ConvertOp>(location, type.clone(element),
                                               value);
}

Value RaggedCall::gather(Value value, Type element, ArrayRef<int64_t> batch,
                         ArrayRef<Dims> parts) {
  auto type = cast<RankedTensorType>(value.getType());
  Dims order(batch), shape;
  for (int64_t dim : batch)
    shape.push_back(type.getDimSize(dim));
  for (const Dims &part : parts) {
    llvm::append_range(order, part);
    shape.push_back(count(type, part));
  }
  return reshape(transpose(convertElements(value, element), order), shape);
}

/// Sizes of the groups in rows, each of which stands for `inner` ones. As many
/// as there are rows is the most that a group can have.
Value RaggedCall::getSizes(ArrayRef<int64_t> batchShape, int64_t rows,
                           int64_t inner) {
  auto constant = [&](int64_t number, RankedTensorType type) -> Value {
    return rewriter.create<stablehlo::ConstantOp>(
        location,
        DenseElementsAttr::get(
            type, rewriter.getIntegerAttr(type.getElementType(), number)));
  };
  // Wide enough for all rows, whatever the type of sizes is.
  auto wide = sizes.clone(rewriter.getI64Type());
  Value all = convertElements(op.getGroupSizes(), wide.getElementType());
  all = rewriter.create<stablehlo::ClampOp>(location, wide, constant(0, wide),
                                            all, constant(rows, wide));
  if (inner != 1)
    all =
        rewriter.create<stablehlo::MulOp>(location, all, constant(inner, wide));
  all = convertElements(all, rewriter.getI32Type());
  Dims shape(batchShape);
  shape.push_back(sizes.getShape().back());
  auto type = RankedTensorType::get(shape, rewriter.getI32Type());
  if (all.getType() == type)
    return all;
  return rewriter.create<stablehlo::BroadcastInDimOp>(
      location, type, all,
      ArrayRef<int64_t>{static_cast<int64_t>(batchShape.size())});
}

Value RaggedCall::call(StringRef name, ArrayRef<int64_t> shape, Type element,
                       ValueRange operands) {
  OperationState state(location, stablehlo::CustomCallOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(RankedTensorType::get(shape, element));
  state.addAttribute("call_target_name", rewriter.getStringAttr(name));
  // As dot_general has it: who may round operands asks for it.
  if (ArrayAttr precision =
          convertPrecision(op.getPrecisionConfig(), op.getContext()))
    state.addAttribute("precision_config", precision);
  return rewriter.create(state)->getResult(0);
}

/// What is multiplied: what kernels have products of, as wide as the result.
Type RaggedCall::chooseElement() const {
  Type element = lhs.getElementType();
  if (result.getElementType().isF64())
    return result.getElementType();
  bool isNative = element.isBF16() || element.getIntOrFloatBitWidth() >= 32;
  return isNative ? element : Float32Type::get(op.getContext());
}

Type chooseSum(Type element) {
  return element.isBF16() ? Float32Type::get(element.getContext()) : element;
}

Value RaggedCall::convertRows() {
  ArrayRef<int64_t> lhsBatch = numbers.getLhsBatchingDimensions(),
                    rhsBatch = numbers.getRhsBatchingDimensions();
  Dims group(numbers.getRhsGroupDimensions()),
      lhsTerms(numbers.getLhsContractingDimensions()),
      rhsTerms(numbers.getRhsContractingDimensions());
  Dims rows = collectFree(lhs, {lhsBatch, lhsTerms});
  Dims columns = collectFree(rhs, {rhsBatch, rhsTerms, group});
  Type element = chooseElement();
  Value left = gather(op.getLhs(), element, lhsBatch, {rows, lhsTerms});
  Value right =
      gather(op.getRhs(), element, rhsBatch, {group, rhsTerms, columns});
  Dims shape(cast<RankedTensorType>(left.getType()).getShape().drop_back(2));
  int64_t all = count(lhs, rows), raggedSize = lhs.getDimSize(ragged);
  Value sizesOfRows =
      getSizes(shape, raggedSize, raggedSize ? all / raggedSize : 1);
  shape.append({all, count(rhs, columns)});
  Value product = call("alula.ragged_rows_product", shape, chooseSum(element),
                       {left, right, sizesOfRows});
  return reshape(convertElements(product, result.getElementType()),
                 result.getShape());
}

Value RaggedCall::convertSums() {
  ArrayRef<int64_t> lhsBatch = numbers.getLhsBatchingDimensions(),
                    rhsBatch = numbers.getRhsBatchingDimensions();
  Dims lhsTerms(numbers.getLhsContractingDimensions()),
      rhsTerms(numbers.getRhsContractingDimensions());
  Dims rows = collectFree(lhs, {lhsBatch, lhsTerms});
  Dims columns = collectFree(rhs, {rhsBatch, rhsTerms});
  Type element = chooseElement();
  Value left = gather(op.getLhs(), element, lhsBatch, {lhsTerms, rows});
  Value right = gather(op.getRhs(), element, rhsBatch, {rhsTerms, columns});
  Dims shape(cast<RankedTensorType>(left.getType()).getShape().drop_back(2));
  int64_t all = count(lhs, lhsTerms), raggedSize = lhs.getDimSize(ragged);
  int64_t batch = static_cast<int64_t>(shape.size());
  Value sizesOfRows =
      getSizes(shape, raggedSize, raggedSize ? all / raggedSize : 1);
  shape.append(
      {sizes.getShape().back(), count(lhs, rows), count(rhs, columns)});
  Value product = call("alula.ragged_sums_product", shape, chooseSum(element),
                       {left, right, sizesOfRows});
  // Groups come first.
  Dims order{batch};
  for (int64_t dim = 0; dim < batch + 3; ++dim)
    if (dim != batch)
      order.push_back(dim);
  product = convertElements(product, result.getElementType());
  return reshape(transpose(product, order), result.getShape());
}

void RaggedCall::convert() {
  rewriter.replaceOp(op, isContracting() ? convertSums() : convertRows());
}
} // namespace

bool alula::input::convertRaggedDotToCall(Operation *op, IRRewriter &rewriter) {
  auto dot = dyn_cast<chlo::RaggedDotOp>(op);
  if (!dot)
    return false;
  rewriter.setInsertionPoint(op);
  RaggedCall call(dot, rewriter);
  if (!call.fits())
    return false;
  call.convert();
  return true;
}
