// Says programs on quantized tensors in integers and floats.
//
//   %r = add %a, %b : (tensor<2xQA>, tensor<2xQB>) -> tensor<2xQR>
//     → %r = quantize(add(dequantize(%a), dequantize(%b))), in plain ops
//
// An op that computes does so on the expressed type; products and convolutions
// of bytes are summed in integers where that gives the same. One that moves
// data, calls or has regions does on storage what it did on quantized values.
// Arguments and results of functions become storage; `alula.quantized_type`
// keeps the type that they had. Deprecated ops and chlo must be gone.

#include "compiler/input/lower_quantized.h"

#include "dialect/newer/restore.h"
#include "dialect/newer/types.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/type_rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERQUANTIZED
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-lower-quantized"

namespace {
/// Whether a quantized element type is anywhere in a type.
bool hasQuantized(Type type) {
  return type
      .walk([](Type part) {
        return getStorageType(part) ? WalkResult::interrupt()
                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

bool hasQuantized(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return hasQuantized(type); });
}

bool isQuantizedTensor(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && getStorageType(shaped.getElementType());
}

/// Ops that compute on real numbers: dequantize, compute, quantize.
bool isComputing(Operation *op) {
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    // Stored values mean the same on both sides if the types are equal.
    Type element = stablehlo::elementType(op->getResult(0).getType());
    return stablehlo::elementType(select.getOnTrue().getType()) != element ||
           stablehlo::elementType(select.getOnFalse().getType()) != element;
  }
  return isa<
      // elementwise
      stablehlo::AbsOp, stablehlo::AddOp, stablehlo::Atan2Op, stablehlo::CbrtOp,
      stablehlo::CeilOp, stablehlo::ClampOp, stablehlo::CompareOp,
      stablehlo::CosineOp, stablehlo::DivOp, stablehlo::ExpOp,
      stablehlo::Expm1Op, stablehlo::FloorOp, stablehlo::IsFiniteOp,
      stablehlo::Log1pOp, stablehlo::LogOp, stablehlo::LogisticOp,
      stablehlo::MaxOp, stablehlo::MinOp, stablehlo::MulOp, stablehlo::NegOp,
      stablehlo::PowOp, stablehlo::ReducePrecisionOp, stablehlo::RemOp,
      stablehlo::RoundNearestEvenOp, stablehlo::RoundOp, stablehlo::RsqrtOp,
      stablehlo::SignOp, stablehlo::SineOp, stablehlo::SqrtOp,
      stablehlo::SubtractOp, stablehlo::TanOp, stablehlo::TanhOp,
      // shape: the index is a real number
      stablehlo::DynamicIotaOp, stablehlo::IotaOp,
      // reduce
      stablehlo::BatchNormGradOp, stablehlo::BatchNormInferenceOp,
      stablehlo::BatchNormTrainingOp,
      // dot, conv
      stablehlo::CholeskyOp, stablehlo::ConvolutionOp, stablehlo::DotGeneralOp,
      stablehlo::DotOp, stablehlo::DynamicConvOp,
      stablehlo::TriangularSolveOp>(op);
}

/// Ops that do on storage what they do on quantized values.
bool worksOnStorage(Operation *op) {
  if (!isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()))
    // Functions and calls; what tests check and print.
    return !op->getName().getDialectNamespace().starts_with("chlo");
  return isa<
      // shape
      stablehlo::BitcastConvertOp, stablehlo::BroadcastInDimOp,
      stablehlo::BroadcastOp, stablehlo::ConcatenateOp, stablehlo::ConstantOp,
      stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicPadOp,
      stablehlo::DynamicReshapeOp, stablehlo::GetDimensionSizeOp,
      stablehlo::PadOp, stablehlo::ReshapeOp, stablehlo::ReverseOp,
      stablehlo::SetDimensionSizeOp, stablehlo::TransposeOp,
      // slice
      stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp,
      stablehlo::RealDynamicSliceOp, stablehlo::SliceOp,
      // elementwise, reduce, gather_scatter: regions are lowered themselves
      stablehlo::DynamicGatherOp, stablehlo::GatherOp, stablehlo::MapOp,
      stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp,
      stablehlo::SelectAndScatterOp, stablehlo::SelectOp, stablehlo::SortOp,
      stablehlo::TorchIndexSelectOp,
      // control
      stablehlo::AsyncDoneOp, stablehlo::AsyncStartOp, stablehlo::CaseOp,
      stablehlo::CompositeOp, stablehlo::GetTupleElementOp, stablehlo::IfOp,
      stablehlo::OptimizationBarrierOp, stablehlo::ReturnOp,
      stablehlo::TupleOp, stablehlo::WhileOp,
      // collective
      stablehlo::AllGatherOp, stablehlo::AllReduceOp, stablehlo::AllToAllOp,
      stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp,
      stablehlo::CollectiveReduceOp, stablehlo::InfeedOp,
      stablehlo::OutfeedOp, stablehlo::RecvOp, stablehlo::ReduceScatterOp,
      stablehlo::SendOp,
      // quantize, custom_call
      stablehlo::CustomCallOp, stablehlo::UniformDequantizeOp,
      stablehlo::UniformQuantizeOp>(op);
}

/// Types that ops of this dialect have were checked by their verifiers, but
/// those of functions were not.
LogicalResult verifyType(Operation *op, Type type) {
  WalkResult result = type.walk([&](ShapedType shaped) {
    Type element = shaped.getElementType();
    bool isQuantized =
        isa<quant::QuantizedType, alula::newer::SubChannelQuantizedType>(
            element);
    if (!isQuantized)
      return WalkResult::advance();
    if (!stablehlo::isQuantizedElement(element) ||
        !stablehlo::hasValidQuantizedAxis(shaped)) {
      stablehlo::opError(op)
          << "quantized types must be uniform, stored in 2, 4, 8, 16 or 32 "
             "bits and fit their tensor: has "
          << shaped;
      return WalkResult::interrupt();
    }
    if (isa<alula::newer::SubChannelQuantizedType>(element) &&
        !shaped.hasStaticShape()) {
      stablehlo::opError(op)
          << "tensors quantized in blocks must have a static shape: has "
          << shaped;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult verifyOp(Operation *op, bool &isQuantized) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    llvm::append_range(types, function.getArgumentTypes());
    llvm::append_range(types, function.getResultTypes());
  }
  for (Type type : types)
    if (failed(verifyType(op, type)))
      return failure();
  if (!hasQuantized(types))
    return success();
  isQuantized = true;
  if (isComputing(op) || worksOnStorage(op))
    return success();
  return stablehlo::opError(op)
         << "op has no meaning on quantized types that can be lowered: has "
         << *llvm::find_if(types, [](Type type) { return hasQuantized(type); });
}

/// Official spelling, since the text leaves the compiler.
StringAttr getTypeText(Type type) {
  std::string printed, text;
  llvm::raw_string_ostream(printed) << type;
  llvm::raw_string_ostream os(text);
  alula::newer::restoreText(printed, os);
  return StringAttr::get(type.getContext(), text);
}

void nameQuantizedTypes(func::FuncOp function) {
  constexpr StringLiteral name = "alula.quantized_type";
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (hasQuantized(type))
      function.setArgAttr(static_cast<unsigned>(index), name,
                          getTypeText(type));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (hasQuantized(type))
      function.setResultAttr(static_cast<unsigned>(index), name,
                             getTypeText(type));
}

Type getExpressedTensor(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.clone(stablehlo::expressedType(shaped.getElementType()));
}

/// op(quantized) → quantize(op(dequantize(quantized)))
void wrapComputing(Operation *op, OpBuilder &builder) {
  builder.setInsertionPoint(op);
  llvm::SmallDenseMap<Value, Value> reals;
  for (OpOperand &operand : op->getOpOperands()) {
    Value stored = operand.get();
    if (!isQuantizedTensor(stored.getType()))
      continue;
    Value &real = reals[stored];
    if (!real)
      real = builder.create<stablehlo::UniformDequantizeOp>(
          op->getLoc(), getExpressedTensor(stored.getType()), stored);
    operand.set(real);
  }
  // The integers' order is not asked for any more.
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op);
      compare && !reals.empty() &&
      compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER)
    compare.removeCompareTypeAttr();
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type type = result.getType();
    if (!isQuantizedTensor(type))
      continue;
    result.setType(getExpressedTensor(type));
    Value stored = builder.create<stablehlo::UniformQuantizeOp>(
        op->getLoc(), type, result);
    result.replaceAllUsesExcept(stored, stored.getDefiningOp());
  }
}

/// quantize(quantized) goes through real numbers.
void splitRequantize(stablehlo::UniformQuantizeOp op, OpBuilder &builder) {
  Value operand = op.getOperand();
  if (!isQuantizedTensor(operand.getType()))
    return;
  builder.setInsertionPoint(op);
  op.getOperandMutable().assign(builder.create<stablehlo::UniformDequantizeOp>(
      op.getLoc(), getExpressedTensor(operand.getType()), operand));
}

/// The same bits as elements of another integer type of the same width.
ElementsAttr withElementType(ElementsAttr elements, Type element) {
  auto type = cast<ShapedType>(elements.getType());
  if (type.getElementType() == element)
    return elements;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.bitcast(element);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return DenseResourceElementsAttr::get(type.clone(element),
                                          resource.getRawHandle());
  if (auto sparse = dyn_cast<SparseElementsAttr>(elements))
    return SparseElementsAttr::get(type.clone(element), sparse.getIndices(),
                                   sparse.getValues().bitcast(element));
  return elements;
}

/// An op whose lowering needs the types that storage does not say.
struct Pending {
  Operation *op;
  SmallVector<Type> operandTypes;
  Type resultElement;
};

void lowerPending(const Pending &pending, OpBuilder &builder) {
  Operation *op = pending.op;
  if (mayGiveZeros(op))
    return shiftZeros(op, pending.operandTypes);
  if (isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op))
    return lowerIntegerProduct(op, pending.operandTypes, pending.resultElement);
  Location location = op->getLoc();
  builder.setInsertionPoint(op);
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    constant.setValueAttr(withElementType(
        constant.getValue(), constant.getType().getElementType()));
    return;
  }
  Value operand = op->getOperand(0), lowered;
  if (isa<stablehlo::UniformDequantizeOp>(op))
    lowered = buildDequantize(builder, location, operand,
                              getElementTypeOrSelf(pending.operandTypes[0]));
  else if (isa<stablehlo::UniformQuantizeOp>(op))
    lowered = buildQuantize(builder, location, operand, pending.resultElement);
  else if (operand.getType() == op->getResult(0).getType())
    lowered = operand;
  else
    return;
  // One of the types may know more sizes.
  if (lowered.getType() != op->getResult(0).getType())
    lowered = builder.create<stablehlo::ConvertOp>(
        location, op->getResult(0).getType(), lowered);
  op->getResult(0).replaceAllUsesWith(lowered);
  op->erase();
}

struct LowerQuantized
    : alula::input::impl::InputLowerQuantizedBase<LowerQuantized> {
  void runOnOperation() override {
    bool isQuantized = false;
    WalkResult result = getOperation().walk([&](Operation *op) {
      return failed(verifyOp(op, isQuantized)) ? WalkResult::interrupt()
                                               : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (!isQuantized)
      return markAllAnalysesPreserved();

    OpBuilder builder(&getContext());
    getOperation().walk([](Operation *op) { multiplyQuantized(op); });
    getOperation().walk([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        nameQuantizedTypes(function);
      else if (auto quantize = dyn_cast<stablehlo::UniformQuantizeOp>(op))
        splitRequantize(quantize, builder);
      else if (isComputing(op) && !isIntegerProduct(op))
        wrapComputing(op, builder);
    });
    SmallVector<Pending> pending;
    getOperation().walk([&](Operation *op) {
      if ((isa<stablehlo::BitcastConvertOp, stablehlo::ConstantOp,
               stablehlo::UniformDequantizeOp, stablehlo::UniformQuantizeOp>(
               op) ||
           mayGiveZeros(op) || isIntegerProduct(op)) &&
          (hasQuantized(op->getOperandTypes()) ||
           hasQuantized(op->getResultTypes())))
        pending.push_back({op, SmallVector<Type>(op->getOperandTypes()),
                           getElementTypeOrSelf(op->getResult(0).getType())});
    });
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [](Type type) -> std::optional<std::pair<Type, WalkResult>> {
          if (Type storage = getStorageType(type))
            return std::pair(storage, WalkResult::skip());
          return std::nullopt;
        });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    for (const Pending &one : pending)
      lowerPending(one, builder);
  }
};
} // namespace
