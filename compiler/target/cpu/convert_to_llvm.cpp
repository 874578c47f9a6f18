// The last step before LLVM's own dialect, all at once: one after the other,
// MLIR's passes for each dialect leave casts at their borders and take three
// times as long.

#include "compiler/target/cpu/passes.h"

#include "dialect/dispatch/ops.h"

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
#include "mlir/IR/DialectInterface.h"

#include <map>
#include <mutex>
#include <optional>

namespace alula::cpu {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "compiler/target/cpu/passes.h.inc"
} // namespace alula::cpu

using namespace mlir;

namespace {
/// Types and patterns of a conversion.
struct Conversion {
  Conversion(MLIRContext *context, LowerToLLVMOptions options,
             const DataLayoutAnalysis *layouts)
      : types(context, options, layouts) {
    RewritePatternSet all(context);
    populateComplexToLLVMConversionPatterns(types, all);
    populateMathToLLVMConversionPatterns(types, all);
    arith::populateArithToLLVMConversionPatterns(types, all);
    index::populateIndexToLLVMConversionPatterns(types, all);
    populateFinalizeMemRefToLLVMConversionPatterns(types, all);
    populateFuncToLLVMConversionPatterns(types, all);
    cf::populateControlFlowToLLVMConversionPatterns(types, all);
    patterns = FrozenRewritePatternSet(std::move(all));
  }

  LLVMTypeConverter types;
  FrozenRewritePatternSet patterns;
};

/// Those of modules that say nothing of how data lies stay with their context:
/// making them takes longer than what they do for a small kernel.
class KeptConversions : public DialectInterface::Base<KeptConversions> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeptConversions)
  explicit KeptConversions(Dialect *dialect) : Base(dialect) {}

  const Conversion &get(const LowerToLLVMOptions &options) {
    std::lock_guard lock(mutex);
    std::unique_ptr<Conversion> &kept = conversions[options.getIndexBitwidth()];
    if (!kept)
      kept = std::make_unique<Conversion>(getContext(), options, nullptr);
    return *kept;
  }

private:
  /// Passes may run on several modules of a context at once.
  std::mutex mutex;
  std::map<unsigned, std::unique_ptr<Conversion>> conversions;
};

KeptConversions &getKept(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<alula::dispatch::DispatchDialect>();
  auto *kept = const_cast<KeptConversions *>(
      dialect->getRegisteredInterface<KeptConversions>());
  return kept ? *kept : dialect->addInterface<KeptConversions>();
}

struct ConvertToLlvm
    : public alula::cpu::impl::ConvertToLlvmBase<ConvertToLlvm> {
  using ConvertToLlvmBase::ConvertToLlvmBase;

  /// No other thread works in the context now.
  LogicalResult initialize(MLIRContext *context) override {
    kept = &getKept(context);
    return success();
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    const auto &layouts = getAnalysis<DataLayoutAnalysis>();
    LowerToLLVMOptions options(context, layouts.getAtOrAbove(getOperation()));
    options.overrideIndexBitwidth(indexBits);
    options.useBarePtrCallConv = true;
    std::optional<Conversion> own;
    if (getOperation().getDataLayoutSpec())
      own.emplace(context, options, &layouts);
    const Conversion &conversion = own ? *own : kept->get(options);
    LLVMConversionTarget target(*context);
    if (failed(applyPartialConversion(getOperation(), target,
                                      conversion.patterns)))
      signalPassFailure();
  }

private:
  KeptConversions *kept = nullptr;
};
} // namespace
