// MLIR's canonicalization with patterns that stay with their context: to
// collect them takes longer than to apply them to a small kernel, and a pass of
// MLIR collects them for each program.

#include "compiler/kernel/passes.h"

#include "dialect/dispatch/ops.h"

#include "mlir/IR/DialectInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace alula::kernel {
#define GEN_PASS_DEF_CANONICALIZE
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;

namespace {
/// The patterns of all ops that a context knows.
class KeptPatterns : public DialectInterface::Base<KeptPatterns> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeptPatterns)
  explicit KeptPatterns(Dialect *dialect) : Base(dialect) {}

  /// Dialects may have been loaded since.
  const FrozenRewritePatternSet &get() {
    MLIRContext *context = getContext();
    ArrayRef<RegisteredOperationName> ops = context->getRegisteredOperations();
    if (ops.size() == opCount)
      return patterns;
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName op : ops)
      op.getCanonicalizationPatterns(all, context);
    patterns = FrozenRewritePatternSet(std::move(all));
    opCount = ops.size();
    return patterns;
  }

private:
  FrozenRewritePatternSet patterns;
  size_t opCount = 0;
};

FrozenRewritePatternSet getPatterns(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<alula::dispatch::DispatchDialect>();
  auto *kept = const_cast<KeptPatterns *>(
      dialect->getRegisteredInterface<KeptPatterns>());
  return kept ? kept->get() : dialect->addInterface<KeptPatterns>().get();
}

struct Canonicalize
    : public alula::kernel::impl::CanonicalizeBase<Canonicalize> {
  /// No other thread works in the context now.
  LogicalResult initialize(MLIRContext *context) override {
    patterns = getPatterns(context);
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.useTopDownTraversal = true;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Normal;
    // As far as it comes.
    (void)applyPatternsAndFoldGreedily(getOperation(), patterns, config);
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
