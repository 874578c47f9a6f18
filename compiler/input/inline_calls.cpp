// Puts functions in place of their calls.
//
//   func.call @f(%x)   →   what @f does with %x
//
// Callers come first: what a chain of calls does is copied to where it stays,
// not once more into each function of the chain. A function that calls itself
// stays a call. Relies on check-call-sizes; private functions that only calls
// name are unused afterwards.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/InliningUtils.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTINLINECALLS
#define GEN_PASS_DEF_INPUTINLINECALLS
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

#define DEBUG_TYPE "input-inline-calls"

namespace {
/// A call, and the one that it came with.
struct Pending {
  func::CallOp call;
  int64_t from;
  func::FuncOp callee;
};

class CallInliner : public InlinerInterface {
public:
  explicit CallInliner(ModuleOp module)
      : InlinerInterface(module.getContext()), symbols(module) {}

  void inlineInto(func::FuncOp function) {
    pending.clear();
    root = function;
    from = -1;
    function.walk([&](func::CallOp call) { add(call); });
    for (size_t i = 0; i < pending.size(); ++i) {
      func::FuncOp callee =
          symbols.lookup<func::FuncOp>(pending[i].call.getCallee());
      pending[i].callee = callee;
      from = static_cast<int64_t>(i);
      if (!callee || callee.isExternal() || callsItself(i))
        continue;
      auto call = cast<CallOpInterface>(pending[i].call.getOperation());
      if (succeeded(inlineCall(*this, call, callee, &callee.getBody())))
        call.erase();
    }
  }

private:
  void add(func::CallOp call) { pending.push_back({call, from, nullptr}); }

  /// Of the copy: its calls are next.
  void
  processInlinedBlocks(llvm::iterator_range<Region::iterator> blocks) final {
    for (Block &block : blocks)
      block.walk([&](func::CallOp call) { add(call); });
  }

  bool callsItself(size_t i) const {
    func::FuncOp callee = pending[i].callee;
    bool found = callee == root;
    for (int64_t at = pending[i].from; at >= 0 && !found; at = pending[at].from)
      found = pending[at].callee == callee;
    return found;
  }

  SymbolTable symbols;
  std::vector<Pending> pending;
  int64_t from = -1;
  func::FuncOp root;
};

/// Who else names a function: composites, custom calls.
DenseSet<StringAttr> findNamed(ModuleOp module) {
  DenseSet<StringAttr> named;
  AttrTypeWalker walker;
  walker.addWalk(
      [&](SymbolRefAttr name) { named.insert(name.getRootReference()); });
  module.walk([&](Operation *op) {
    if (!isa<func::CallOp>(op))
      walker.walk(op->getAttrDictionary());
  });
  return named;
}

struct InlineCalls : alula::input::impl::InputInlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    CallInliner inliner(getOperation());
    DenseSet<StringAttr> named = findNamed(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isPrivate() || named.contains(function.getSymNameAttr()))
        inliner.inlineInto(function);
  }
};
} // namespace
