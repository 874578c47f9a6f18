// dynamic_reshape → reshape, and so on, once shapes are known.

#include "compiler/input/static_forms.h"
#include "compiler/input/integer_evaluator.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::input;

namespace {
bool isStatic(Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  return shaped && shaped.hasStaticShape();
}

Operation *replaceRealDynamicSlice(stablehlo::RealDynamicSliceOp op,
                                   KnownValue known, IRRewriter &rewriter) {
  auto start = known(op.getStartIndices()), limit = known(op.getLimitIndices()),
       stride = known(op.getStrides());
  auto operand = cast<RankedTensorType>(op.getOperand().getType());
  if (start && limit && stride)
    return rewriter.replaceOpWithNewOp<stablehlo::SliceOp>(
        op, op.getType(), op.getOperand(), getIntegers(start),
        getIntegers(limit), getIntegers(stride));
  // A start that is only known when the program runs: the limit must be at a
  // known distance from it.
  auto sum = op.getLimitIndices().getDefiningOp<stablehlo::AddOp>();
  if (!stride || !sum || !operand.hasStaticShape())
    return nullptr;
  DenseElementsAttr distance;
  if (sum.getLhs() == op.getStartIndices())
    distance = known(sum.getRhs());
  else if (sum.getRhs() == op.getStartIndices())
    distance = known(sum.getLhs());
  if (!distance)
    return nullptr;
  Location location = op.getLoc();
  SmallVector<int64_t> sizes = getIntegers(distance);
  SmallVector<int64_t> strides = getIntegers(stride);
  for (auto [size, extent, by] :
       llvm::zip_equal(sizes, operand.getShape(), strides))
    if (size < 0 || size > extent || by <= 0)
      return nullptr;
  Type index = getElementTypeOrSelf(op.getStartIndices().getType());
  SmallVector<Value> starts;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    Value one = rewriter.create<stablehlo::SliceOp>(
        location, RankedTensorType::get({1}, index), op.getStartIndices(),
        ArrayRef<int64_t>{dim}, ArrayRef<int64_t>{dim + 1},
        ArrayRef<int64_t>{1});
    starts.push_back(rewriter.create<stablehlo::ReshapeOp>(
        location, RankedTensorType::get({}, index), one));
  }
  auto sliceType = RankedTensorType::get(sizes, operand.getElementType());
  Value slice = rewriter.create<stablehlo::DynamicSliceOp>(
      location, sliceType, op.getOperand(), starts, sizes);
  SmallVector<int64_t> zeros(operand.getRank(), 0), shape;
  for (auto [size, by] : llvm::zip_equal(sizes, strides))
    shape.push_back((size + by - 1) / by);
  return rewriter.replaceOpWithNewOp<stablehlo::SliceOp>(
      op, RankedTensorType::get(shape, operand.getElementType()), slice, zeros,
      sizes, strides);
}

Operation *replaceDynamicConv(stablehlo::DynamicConvOp op, KnownValue known,
                              IRRewriter &rewriter) {
  auto padding = known(op.getPadding());
  if (!padding)
    return nullptr;
  auto type = RankedTensorType::get(
      cast<ShapedType>(padding.getType()).getShape(), rewriter.getI64Type());
  auto pairs = DenseIntElementsAttr::get(type, getIntegers(padding));
  auto result = rewriter.create<stablehlo::ConvolutionOp>(
      op.getLoc(), op.getType(), op.getLhs(), op.getRhs(),
      op.getWindowStridesAttr(), pairs, op.getLhsDilationAttr(),
      op.getRhsDilationAttr(), op.getWindowReversalAttr(),
      op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
      op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
  rewriter.replaceOp(op, result);
  return result;
}

/// The custom calls that JAX writes for ops that have no dynamic form.
Operation *replaceNamedCall(stablehlo::CustomCallOp op, KnownValue known,
                            IRRewriter &rewriter) {
  StringRef target = op.getCallTargetName();
  Location location = op.getLoc();
  auto isResultStatic = [&] { return llvm::all_of(op->getResults(), isStatic); };
  if (target == "stablehlo.dynamic_top_k" && op.getNumOperands() == 2 &&
      op.getNumResults() == 2) {
    auto k = known(op.getOperand(1));
    if (!k || k.getNumElements() != 1)
      return nullptr;
    auto topK = rewriter.create<chlo::TopKOp>(
        location, op->getResultTypes(), op.getOperand(0),
        rewriter.getI64IntegerAttr(getIntegers(k).front()), BoolAttr());
    rewriter.replaceOp(op, topK);
    return topK;
  }
  if (target == "stablehlo.dynamic_rng_bit_generator" &&
      op.getNumOperands() == 2 && op.getNumResults() == 2 &&
      isResultStatic()) {
    auto algorithm = op->getAttrOfType<stablehlo::RngAlgorithmAttr>(
        "rng_algorithm");
    if (!algorithm)
      return nullptr;
    auto generator = rewriter.create<stablehlo::RngBitGeneratorOp>(
        location, op->getResultTypes(), algorithm, op.getOperand(0));
    rewriter.replaceOp(op, generator);
    return generator;
  }
  if (target == "stablehlo.dynamic_reduce_window" &&
      op.getNumResults() >= 1 && isResultStatic() &&
      op.getNumOperands() == 2 * op.getNumResults() + 5 &&
      op.getCalledComputations().size() == 1) {
    // Inputs, init values, then five lists of numbers.
    unsigned count = op.getNumResults();
    SmallVector<DenseI64ArrayAttr> lists;
    SmallVector<int64_t> padding;
    for (unsigned list = 0; list < 5; ++list) {
      auto value = known(op.getOperand(2 * count + list));
      if (!value)
        return nullptr;
      padding = getIntegers(value);
      lists.push_back(rewriter.getDenseI64ArrayAttr(padding));
    }
    auto body = SymbolTable::lookupNearestSymbolFrom(
        op, cast<FlatSymbolRefAttr>(op.getCalledComputations()[0]));
    if (!body || body->getNumRegions() != 1 || body->getRegion(0).empty())
      return nullptr;
    auto paddingType = RankedTensorType::get(
        {static_cast<int64_t>(padding.size() / 2), 2}, rewriter.getI64Type());
    auto window = rewriter.create<stablehlo::ReduceWindowOp>(
        location, op->getResultTypes(), op.getInputs().take_front(count),
        op.getInputs().slice(count, count), lists[0], lists[1], lists[2],
        lists[3], DenseIntElementsAttr::get(paddingType, padding));
    IRMapping mapping;
    body->getRegion(0).cloneInto(&window.getBody(), mapping);
    Operation *end = window.getBody().front().getTerminator();
    rewriter.setInsertionPoint(end);
    rewriter.replaceOpWithNewOp<stablehlo::ReturnOp>(end, end->getOperands());
    rewriter.replaceOp(op, window);
    return window;
  }
  return nullptr;
}

/// Drops shape operands that the result types say.
Operation *dropShapeOperands(stablehlo::CustomCallOp op,
                             IRRewriter &rewriter) {
  SmallVector<int64_t> indices = getShapeOperands(op);
  if (indices.empty() || !llvm::all_of(op->getResults(), isStatic))
    return nullptr;
  llvm::BitVector dropped(op.getNumOperands());
  for (int64_t index : indices)
    dropped.set(static_cast<unsigned>(index));
  rewriter.modifyOpInPlace(op, [&] {
    op->eraseOperands(dropped);
    op->removeAttr("indices_of_shape_operands");
    if (auto layouts = op.getOperandLayouts()) {
      SmallVector<Attribute> kept;
      for (auto [index, layout] : llvm::enumerate(*layouts))
        if (index >= dropped.size() || !dropped.test(index))
          kept.push_back(layout);
      op.setOperandLayoutsAttr(rewriter.getArrayAttr(kept));
    }
  });
  return op;
}
} // namespace

Operation *alula::input::replaceByStaticForm(Operation *op, KnownValue known,
                                             IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, Operation *>(op)
      .Case([&](stablehlo::DynamicReshapeOp reshape) -> Operation * {
        if (!isStatic(reshape.getResult()))
          return nullptr;
        return rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(
            op, reshape.getType(), reshape.getOperand());
      })
      .Case([&](stablehlo::DynamicBroadcastInDimOp broadcast) -> Operation * {
        if (!isStatic(broadcast.getResult()) ||
            !isStatic(broadcast.getOperand()))
          return nullptr;
        return rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(
            op, broadcast.getType(), broadcast.getOperand(),
            broadcast.getBroadcastDimensions());
      })
      .Case([&](stablehlo::DynamicIotaOp iota) -> Operation * {
        if (!isStatic(iota.getResult()))
          return nullptr;
        return rewriter.replaceOpWithNewOp<stablehlo::IotaOp>(
            op, iota.getType(), iota.getIotaDimension());
      })
      .Case([&](stablehlo::DynamicPadOp pad) -> Operation * {
        auto low = known(pad.getEdgePaddingLow());
        auto high = known(pad.getEdgePaddingHigh());
        auto interior = known(pad.getInteriorPadding());
        if (!low || !high || !interior)
          return nullptr;
        return rewriter.replaceOpWithNewOp<stablehlo::PadOp>(
            op, pad.getType(), pad.getOperand(), pad.getPaddingValue(),
            getIntegers(low), getIntegers(high), getIntegers(interior));
      })
      .Case([&](stablehlo::DynamicGatherOp gather) -> Operation * {
        auto sizes = known(gather.getSliceSizes());
        if (!sizes)
          return nullptr;
        return rewriter.replaceOpWithNewOp<stablehlo::GatherOp>(
            op, gather.getType(), gather.getOperand(), gather.getStartIndices(),
            gather.getDimensionNumbers(), getIntegers(sizes),
            gather.getIndicesAreSorted());
      })
      .Case([&](stablehlo::DynamicConvOp conv) {
        return replaceDynamicConv(conv, known, rewriter);
      })
      .Case([&](stablehlo::RealDynamicSliceOp slice) {
        return replaceRealDynamicSlice(slice, known, rewriter);
      })
      .Case([&](stablehlo::CustomCallOp call) -> Operation * {
        if (Operation *named = replaceNamedCall(call, known, rewriter))
          return named;
        return dropShapeOperands(call, rewriter);
      })
      .Default([](Operation *) { return nullptr; });
}
