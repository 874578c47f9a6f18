// The last step before LLVM's own dialect, all at once: one after the other,
// MLIR's passes for each dialect leave casts at their borders and take three
// times as long.

#include "compiler/target/cpu/passes.h"

#include "mlir/Analysis/DataLayoutAnalysis.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace alula::cpu {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu

using namespace mlir;

namespace {
struct ConvertToLlvm
    : public alula::cpu::impl::ConvertToLlvmBase<ConvertToLlvm> {
  using ConvertToLlvmBase::ConvertToLlvmBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    const auto &layouts = getAnalysis<DataLayoutAnalysis>();
    LowerToLLVMOptions options(context, layouts.getAtOrAbove(getOperation()));
    options.overrideIndexBitwidth(indexBits);
    options.useBarePtrCallConv = true;
    LLVMTypeConverter types(context, options, &layouts);
    RewritePatternSet patterns(context);
    populateComplexToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    index::populateIndexToLLVMConversionPatterns(types, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(*context);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
