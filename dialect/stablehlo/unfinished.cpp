// Ops whose rules are still to be written; each line goes when they are.

#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace mlir::stablehlo;

#define ALULA_NO_VERIFIER(Op) \
  __attribute__((weak)) LogicalResult Op::verify() { return success(); }
#define ALULA_NO_INFERENCE(Op) \
  __attribute__((weak)) LogicalResult Op::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) { return failure(); }
#define ALULA_NO_SYMBOLS(Op) \
  __attribute__((weak)) LogicalResult Op::verifySymbolUses(SymbolTableCollection &) { return success(); }

ALULA_NO_INFERENCE(AbsOp)
ALULA_NO_VERIFIER(AddOp)
ALULA_NO_INFERENCE(AfterAllOp)
ALULA_NO_INFERENCE(AsyncDoneOp)
ALULA_NO_INFERENCE(AsyncStartOp)
ALULA_NO_VERIFIER(BitcastConvertOp)
ALULA_NO_VERIFIER(BroadcastInDimOp)
ALULA_NO_INFERENCE(BroadcastOp)
ALULA_NO_INFERENCE(CaseOp)
ALULA_NO_INFERENCE(ClampOp)
ALULA_NO_INFERENCE(CompareOp)
ALULA_NO_VERIFIER(CompareOp)
ALULA_NO_INFERENCE(ComplexOp)
ALULA_NO_INFERENCE(ConcatenateOp)
ALULA_NO_INFERENCE(ConstantOp)
__attribute__((weak)) OpFoldResult ConvertOp::fold(FoldAdaptor) { return {}; }
ALULA_NO_INFERENCE(CreateTokenOp)
__attribute__((weak)) void CustomCallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
ALULA_NO_VERIFIER(DynamicBroadcastInDimOp)
ALULA_NO_VERIFIER(DynamicIotaOp)
ALULA_NO_VERIFIER(DynamicPadOp)
ALULA_NO_VERIFIER(DynamicReshapeOp)
ALULA_NO_INFERENCE(DynamicSliceOp)
ALULA_NO_INFERENCE(DynamicUpdateSliceOp)
__attribute__((weak)) OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) { return {}; }
ALULA_NO_INFERENCE(GetDimensionSizeOp)
ALULA_NO_INFERENCE(GetTupleElementOp)
ALULA_NO_INFERENCE(IfOp)
ALULA_NO_INFERENCE(ImagOp)
ALULA_NO_VERIFIER(IotaOp)
ALULA_NO_INFERENCE(IsFiniteOp)
ALULA_NO_INFERENCE(MapOp)
ALULA_NO_INFERENCE(OptimizationBarrierOp)
ALULA_NO_INFERENCE(PadOp)
ALULA_NO_VERIFIER(RealDynamicSliceOp)
ALULA_NO_INFERENCE(RealOp)
ALULA_NO_VERIFIER(ReducePrecisionOp)
ALULA_NO_VERIFIER(ReshapeOp)
ALULA_NO_VERIFIER(ReverseOp)
ALULA_NO_INFERENCE(SelectOp)
ALULA_NO_INFERENCE(SetDimensionSizeOp)
ALULA_NO_INFERENCE(SliceOp)
ALULA_NO_INFERENCE(TransposeOp)
ALULA_NO_VERIFIER(TransposeOp)
ALULA_NO_INFERENCE(TupleOp)
ALULA_NO_VERIFIER(UniformDequantizeOp)
ALULA_NO_VERIFIER(UniformQuantizeOp)
ALULA_NO_INFERENCE(WhileOp)
ALULA_NO_VERIFIER(WhileOp)
