// Which functions emit which op.

#include "compiler/target/cpu/kernel/op_table.h"

#include "compiler/kernel/emitters.h"
#include "compiler/target/cpu/kernel/families.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
const llvm::StringMap<OpEmitters> &getTable() {
  static const llvm::StringMap<OpEmitters> table = {
      {"after_all", {emitNothing}},
      {"case", {emitCase}},
      {"cholesky", {emitCholesky}},
      {"concatenate", {emitConcatenate}},
      {"constant", {emitConstant}},
      {"convolution", {emitConvolution}},
      {"create_token", {emitNothing}},
      {"custom_call", {emitCustomCall}},
      {"dot_general", {emitDotGeneral}},
      {"dynamic_conv", {emitConvolution}},
      {"dynamic_gather", {emitGather}},
      {"dynamic_reshape", {emitReshape, aliasReshape}},
      {"dynamic_update_slice", {emitDynamicUpdateSlice}},
      {"gather", {emitGather}},
      {"fft", {emitFft}},
      {"if", {emitIf}},
      {"optimization_barrier", {emitIdentity}},
      {"pad", {emitPad}},
      {"reduce", {emitReduce}},
      {"reduce_window", {emitReduceWindow}},
      {"reshape", {emitReshape, aliasReshape}},
      {"scatter", {emitScatter}},
      {"rng", {emitRng}},
      {"rng_bit_generator", {emitRngBitGenerator}},
      {"select_and_scatter", {emitSelectAndScatter}},
      {"sort", {emitSort}},
      {"triangular_solve", {emitTriangularSolve}},
      {"while", {emitWhile}},
  };
  return table;
}
} // namespace

OpEmitters alula::cpu::findEmitters(Operation *op) {
  if (isImportOp(op))
    return {emitImport};
  if (isa<arith::ConstantIndexOp>(op))
    return {emitIndexConstant};
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      call && call.getCallTargetName() == "stablehlo.dynamic_rng_bit_generator")
    return {emitDynamicRngBits};
  if (!isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()))
    return {};
  return getTable().lookup(op->getName().stripDialect());
}
