// The tensor dialect: what makes lists of sizes and reads them, and what says
// the shape of a tensor in another way.

#include "compiler/input/lower_shape.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::input;

Value ShapeLowering::reshape(Operation *op, Value tensor,
                             ArrayRef<Value> sizes) {
  SmallVector<int64_t> shape;
  for (Value size : sizes)
    shape.push_back(getKnown(size).value_or(ShapedType::kDynamic));
  auto from = cast<RankedTensorType>(tensor.getType());
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from == to && to.hasStaticShape())
    return tensor;
  if (from.hasStaticShape() && to.hasStaticShape()) {
    builder.setInsertionPoint(op);
    return builder.create<stablehlo::ReshapeOp>(op->getLoc(), to, tensor);
  }
  Value list = makeList(op, sizes);
  builder.setInsertionPoint(op);
  return builder.create<stablehlo::DynamicReshapeOp>(op->getLoc(), to, tensor,
                                                     list);
}

FailureOr<Value> ShapeLowering::lowerCast(Operation *op) {
  Value tensor = op->getOperand(0);
  auto from = dyn_cast<RankedTensorType>(tensor.getType());
  auto to =
      dyn_cast<RankedTensorType>(getPlainType(op->getResult(0).getType()));
  // What is known already is not forgotten.
  if (from && (!to || from.getRank() == to.getRank()) &&
      llvm::all_of(llvm::seq<unsigned>(0, to ? to.getRank() : 0),
                   [&](unsigned dim) {
                     return to.isDynamicDim(dim) ||
                            from.getDimSize(dim) == to.getDimSize(dim);
                   }))
    return tensor;
  FailureOr<Values> all = getSizes(op, tensor);
  if (failed(all))
    return failure();
  if (!to || from.getRank() != to.getRank())
    return refuse(op) << "a cast must keep the rank: is from " << from << " to "
                      << op->getResult(0).getType();
  // A size that the program promises is checked when it runs.
  for (auto [dim, size] : llvm::enumerate(to.getShape())) {
    if (ShapedType::isDynamic(size))
      continue;
    Value old = (*all)[dim], promised = math(op).make(size);
    if (auto known = getKnown(old); known && *known != size)
      return refuse(op) << "size must be what the type says: dimension " << dim
                        << " is " << *known << ", not " << size;
    require(op, compare(op, old, promised),
            "size must be what the type says: dimension " + Twine(dim) +
                " is {0}, not {1}",
            {old, promised});
    (*all)[dim] = promised;
  }
  return reshape(op, tensor, *all);
}

FailureOr<Value> ShapeLowering::lowerExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  Value tensor = extract.getTensor();
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return refuse(op) << "rank of the operand must be known: is "
                      << tensor.getType();
  auto scalar = RankedTensorType::get({}, type.getElementType());
  SmallVector<int64_t> ones(type.getRank(), 1), first, limits;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    auto at = getKnown(index);
    if (!at || type.isDynamicDim(static_cast<unsigned>(dim)))
      continue;
    if (*at < 0 || *at >= type.getDimSize(static_cast<unsigned>(dim)))
      return refuse(op) << "index must be inside of " << type << ": is " << *at;
    first.push_back(*at);
    limits.push_back(*at + 1);
  }
  if (auto found = lists.find(tensor);
      found != lists.end() && first.size() == 1)
    return found->second[static_cast<size_t>(first.front())];
  builder.setInsertionPoint(op);
  auto one = RankedTensorType::get(ones, type.getElementType());
  Value element = tensor;
  if (type.getRank() > 0 && first.size() == ones.size())
    element = builder.create<stablehlo::SliceOp>(op->getLoc(), one, tensor,
                                                 first, limits, ones);
  else if (type.getRank() > 0)
    element = builder.create<stablehlo::DynamicSliceOp>(
        op->getLoc(), one, tensor, extract.getIndices(), ones);
  if (element.getType() == scalar)
    return element;
  return Value(
      builder.create<stablehlo::ReshapeOp>(op->getLoc(), scalar, element));
}

FailureOr<Value> ShapeLowering::lowerExtractSlice(Operation *op) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  Value tensor = slice.getSource();
  auto type = cast<RankedTensorType>(tensor.getType());
  Values offsets = getNumbers(op, slice.getMixedOffsets());
  Values extents = getNumbers(op, slice.getMixedSizes());
  Values strides = getNumbers(op, slice.getMixedStrides());
  FailureOr<Values> all = getSizes(op, tensor);
  if (failed(all))
    return failure();
  Values limits;
  SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < offsets.size(); ++dim) {
    // An end after the last element by less than a stride is no other slice.
    Value limit = math(op).add(offsets[dim],
                               math(op).multiply(extents[dim], strides[dim]));
    limits.push_back(getKnown(strides[dim]) == 1
                         ? limit
                         : math(op).getMinimum(limit, (*all)[dim]));
    shape.push_back(getKnown(extents[dim]).value_or(ShapedType::kDynamic));
  }
  auto whole = RankedTensorType::get(shape, type.getElementType());
  Value starts = makeList(op, offsets), ends = makeList(op, limits),
        steps = makeList(op, strides);
  builder.setInsertionPoint(op);
  Value result = builder.create<stablehlo::RealDynamicSliceOp>(
      op->getLoc(), whole, tensor, starts, ends, steps);
  // Dimensions of size 1 may go.
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (dropped.none())
    return result;
  Values kept;
  for (unsigned dim = 0; dim < extents.size(); ++dim)
    if (!dropped.test(dim))
      kept.push_back(extents[dim]);
  return reshape(op, result, kept);
}

FailureOr<Value> ShapeLowering::lowerReshape(Operation *op) {
  Value tensor = op->getOperand(0);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    Values to;
    unsigned next = 1;
    for (int64_t size : expand.getStaticOutputShape())
      to.push_back(ShapedType::isDynamic(size) ? op->getOperand(next++)
                                               : math(op).make(size));
    return reshape(op, tensor, to);
  }
  if (isa<tensor::ReshapeOp>(op)) {
    FailureOr<Values> to = getElements(op, op->getOperand(1));
    if (failed(to))
      return failure();
    return reshape(op, tensor, *to);
  }
  FailureOr<Values> all = getSizes(op, tensor);
  if (failed(all))
    return failure();
  Values to;
  for (const auto &group :
       cast<tensor::CollapseShapeOp>(op).getReassociationIndices()) {
    Value product;
    for (int64_t dim : group) {
      Value size = (*all)[static_cast<size_t>(dim)];
      auto a = product ? getKnown(product) : 1, b = getKnown(size);
      int64_t known;
      if (!product || a == 1)
        product = size;
      else if (a && b && !llvm::MulOverflow(*a, *b, known))
        product = math(op).make(known);
      else if (b != 1)
        product = math(op).multiply(product, size);
    }
    to.push_back(product);
  }
  return reshape(op, tensor, to);
}

FailureOr<Value> ShapeLowering::lowerTensor(Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](tensor::DimOp) -> FailureOr<Value> {
        FailureOr<Values> all = getSizes(op, op->getOperand(0));
        if (failed(all))
          return failure();
        return getExtent(op, makeList(op, *all), op->getOperand(1));
      })
      .Case([&](tensor::RankOp) -> FailureOr<Value> {
        FailureOr<Values> all = getSizes(op, op->getOperand(0));
        if (failed(all))
          return failure();
        return math(op).make(static_cast<int64_t>(all->size()));
      })
      .Case([&](tensor::FromElementsOp make) -> FailureOr<Value> {
        auto type = cast<RankedTensorType>(getPlainType(make.getType()));
        if (type.getRank() == 1 && type.getElementType().isInteger(64) &&
            type.getDimSize(0) > 0)
          return makeList(op, op->getOperands());
        builder.setInsertionPoint(op);
        Type element = type.getElementType();
        if (type.getNumElements() == 0)
          return Value(builder.create<stablehlo::ConstantOp>(
              op->getLoc(),
              DenseElementsAttr::get(type, ArrayRef<Attribute>())));
        SmallVector<Value> parts;
        for (Value number : op->getOperands())
          parts.push_back(builder.create<stablehlo::ReshapeOp>(
              op->getLoc(), RankedTensorType::get({1}, element), number));
        Value list = builder.create<stablehlo::ConcatenateOp>(
            op->getLoc(),
            RankedTensorType::get({type.getNumElements()}, element), parts,
            /*dimension=*/0);
        if (list.getType() == type)
          return list;
        return Value(
            builder.create<stablehlo::ReshapeOp>(op->getLoc(), type, list));
      })
      .Case([&](tensor::ExtractOp) { return lowerExtract(op); })
      .Case([&](tensor::CastOp) { return lowerCast(op); })
      .Case([&](tensor::ExtractSliceOp) { return lowerExtractSlice(op); })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(
          [&](auto) { return lowerReshape(op); })
      .Case([&](tensor::ConcatOp concat) {
        builder.setInsertionPoint(op);
        return Value(builder.create<stablehlo::ConcatenateOp>(
            op->getLoc(), getPlainType(concat.getType()), op->getOperands(),
            concat.getDim()));
      })
      .Case([&](tensor::SplatOp splat) -> FailureOr<Value> {
        auto type = cast<RankedTensorType>(getPlainType(splat.getType()));
        Values all;
        unsigned next = 1;
        for (int64_t size : type.getShape())
          all.push_back(ShapedType::isDynamic(size) ? op->getOperand(next++)
                                                    : math(op).make(size));
        Value list = makeList(op, all);
        builder.setInsertionPoint(op);
        return Value(builder.create<stablehlo::DynamicBroadcastInDimOp>(
            op->getLoc(), type, op->getOperand(0), list,
            builder.getDenseI64ArrayAttr({})));
      })
      .Default([&](Operation *) -> FailureOr<Value> {
        return refuse(op) << "of tensor there is what makes lists of sizes, "
                             "reads elements and says shapes otherwise";
      });
}
