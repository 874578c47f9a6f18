// Which functions lower which op.

#include "compiler/kernel/element/generators.h"
#include "compiler/kernel/families.h"

#include "dialect/chlo/functions.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
const llvm::StringMap<OpLowering> &getTable() {
  static const llvm::StringMap<OpLowering> table = {
      {"after_all", {nullptr, emitNothing}},
      {"bitcast_convert", {generateBitcast}},
      {"broadcast", {generateBroadcast}},
      {"broadcast_in_dim", {generateBroadcast}},
      {"case", {nullptr, emitCase}},
      {"cholesky", {nullptr, emitCholesky}},
      {"clamp", {generateElementwise}},
      {"concatenate", {generateConcatenate, emitConcatenate}},
      {"constant", {generateConstant, emitConstant}},
      {"convolution", {nullptr, emitConvolution}},
      {"create_token", {nullptr, emitNothing}},
      {"custom_call", {nullptr, emitCustomCall}},
      {"dot_general", {nullptr, emitDotGeneral}},
      {"dynamic_conv", {nullptr, emitConvolution}},
      {"dynamic_broadcast_in_dim", {generateBroadcast}},
      {"dynamic_gather", {generateGather, emitGather}},
      {"dynamic_iota", {generateIota}},
      {"dynamic_pad", {generatePad}},
      {"dynamic_reshape", {generateReshape, emitReshape, aliasReshape}},
      {"dynamic_slice", {generateDynamicSlice}},
      {"dynamic_update_slice", {nullptr, emitDynamicUpdateSlice}},
      {"gather", {generateGather, emitGather}},
      {"fft", {nullptr, emitFft}},
      {"get_dimension_size", {generateDimensionSize}},
      {"if", {nullptr, emitIf}},
      {"iota", {generateIota}},
      {"map", {generateMap}},
      {"optimization_barrier", {nullptr, emitIdentity}},
      {"pad", {generatePad, emitPad}},
      {"real_dynamic_slice", {generateRealDynamicSlice}},
      {"reduce", {nullptr, emitReduce}},
      {"reduce_window", {nullptr, emitReduceWindow}},
      {"reshape", {generateReshape, emitReshape, aliasReshape}},
      {"reverse", {generateReverse}},
      {"set_dimension_size", {generateSetDimensionSize}},
      {"scatter", {nullptr, emitScatter}},
      {"rng", {nullptr, emitRng}},
      {"rng_bit_generator", {nullptr, emitRngBitGenerator}},
      {"select", {generateElementwise}},
      {"select_and_scatter", {nullptr, emitSelectAndScatter}},
      {"slice", {generateSlice}},
      {"sort", {nullptr, emitSort}},
      {"transpose", {generateTranspose}},
      {"triangular_solve", {nullptr, emitTriangularSolve}},
      {"while", {nullptr, emitWhile}},
  };
  return table;
}
} // namespace

OpLowering alula::kernel::findLowering(Operation *op) {
  if (isa<alula::dispatch::PackOp>(op))
    return {generatePack};
  if (isa<alula::dispatch::FromPanelsOp>(op))
    return {generateFromPanels};
  if (isImportOp(op))
    return {nullptr, emitImport};
  if (isa<arith::ConstantIndexOp>(op))
    return {nullptr, emitIndexConstant};
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      call &&
      call.getCallTargetName() == "stablehlo.dynamic_rng_bit_generator")
    return {nullptr, emitDynamicRngBits};
  if (chlo::isNamedFunction(op))
    return {generateElementwise};
  if (!isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()))
    return {};
  auto found = getTable().find(op->getName().stripDialect());
  if (found != getTable().end())
    return found->second;
  if (op->hasTrait<mlir::OpTrait::Elementwise>())
    return {generateElementwise};
  return {};
}

bool alula::kernel::hasGenerator(Operation *op) {
  return findLowering(op).generate != nullptr;
}
