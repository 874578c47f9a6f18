// The table of lowerings and what they share.

#include "compiler/dispatch/lowering.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace alula::dispatch;

Type alula::dispatch::lowerType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Type element = lowerType(tensor.getElementType());
    if (!element || !tensor.hasStaticShape())
      return {};
    return RankedTensorType::get(tensor.getShape(), element);
  }
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1 || width >= 8)
      return IntegerType::get(type.getContext(), width);
    return {};
  }
  if (type.isF32() || type.isF64() || type.isF16() || type.isBF16())
    return type;
  return {};
}

Value Lowering::createEmpty(Location location, Type sourceType) {
  auto type = cast<RankedTensorType>(lowerType(sourceType));
  return builder.create<tensor::EmptyOp>(location, type.getShape(),
                                         type.getElementType());
}

Value Lowering::createMap(
    Location location, Type sourceType, ValueRange inputs,
    ArrayRef<AffineMap> inputMaps,
    function_ref<Value(OpBuilder &, ValueRange)> body) {
  Value empty = createEmpty(location, sourceType);
  auto type = cast<RankedTensorType>(empty.getType());
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto generic = builder.create<linalg::GenericOp>(
      location, TypeRange(type), inputs, ValueRange(empty), maps, loops,
      [&](OpBuilder &inner, Location where, ValueRange arguments) {
        Value value = body(inner, arguments.drop_back());
        // A failed body has said why; the module is dropped afterwards.
        if (!value)
          value = arguments.back();
        inner.create<linalg::YieldOp>(where, value);
      });
  return generic.getResult(0);
}

LogicalResult alula::dispatch::declineOp(Operation *op, const Twine &reason) {
  return op->emitError() << "'" << op->getName().getStringRef()
                         << "': no native code: " << reason;
}

LowerFunction alula::dispatch::findLowering(Operation *op) {
  static const struct {
    StringLiteral name;
    LowerFunction lower;
  } table[] = {
      {"stablehlo.broadcast_in_dim", lowerBroadcastInDim},
      {"stablehlo.constant", lowerConstant},
      {"stablehlo.dot_general", lowerDotGeneral},
      {"stablehlo.iota", lowerIota},
      {"stablehlo.reduce", lowerReduce},
      {"stablehlo.reshape", lowerReshape},
      {"stablehlo.reverse", lowerReverse},
      {"stablehlo.slice", lowerSlice},
      {"stablehlo.transpose", lowerTranspose},
  };
  for (const auto &row : table)
    if (row.name == op->getName().getStringRef())
      return row.lower;
  if (op->hasTrait<mlir::OpTrait::Elementwise>() ||
      isa<stablehlo::SelectOp, stablehlo::ClampOp>(op))
    return lowerElementwise;
  return nullptr;
}
