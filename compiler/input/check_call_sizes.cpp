// Checks that a program stays small when each call gets a copy of its function.
//
//   main calls @f twice, @f calls @g twice, …   →  an error, or nothing
//
// Relies on nothing; what inlines calls relies on it.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTCHECKCALLSIZES
#define GEN_PASS_DEF_INPUTCHECKCALLSIZES
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

#define DEBUG_TYPE "input-check-call-sizes"

namespace {
/// Functions with the ops of all that they call. Callees come first, so that a
/// deep chain of calls is no deep recursion.
class CallSizes {
public:
  explicit CallSizes(SymbolTable &symbols) : symbols(symbols) {}

  /// A function that calls itself counts once: another pass refuses it.
  uint64_t count(func::FuncOp root) {
    SmallVector<func::FuncOp> pending{root};
    while (!pending.empty()) {
      func::FuncOp function = pending.back();
      auto [place, isNew] = sizes.try_emplace(function, 0);
      if (isNew) {
        function.walk([&](func::CallOp call) {
          if (func::FuncOp callee = lookup(call);
              callee && !sizes.count(callee))
            pending.push_back(callee);
        });
        continue;
      }
      pending.pop_back();
      if (!place->second)
        sizes[function] = countOwn(function);
    }
    return sizes.lookup(root);
  }

  /// 1 for what is no call.
  uint64_t count(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    func::FuncOp callee = call ? lookup(call) : nullptr;
    return callee ? std::max<uint64_t>(sizes.lookup(callee), 1) : 1;
  }

private:
  func::FuncOp lookup(func::CallOp call) {
    return symbols.lookup<func::FuncOp>(call.getCallee());
  }

  uint64_t countOwn(func::FuncOp function) {
    uint64_t size = 0;
    function.getBody().walk(
        [&](Operation *op) { size = llvm::SaturatingAdd(size, count(op)); });
    return size;
  }

  SymbolTable &symbols;
  DenseMap<func::FuncOp, uint64_t> sizes;
};

struct CheckCallSizes
    : alula::input::impl::InputCheckCallSizesBase<CheckCallSizes> {
  using InputCheckCallSizesBase::InputCheckCallSizesBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    CallSizes sizes(symbols);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      uint64_t size = sizes.count(function);
      if (size <= maxOps)
        continue;
      // The call that is most of it.
      Operation *largest = function;
      function.walk([&](func::CallOp call) {
        if (largest == function || sizes.count(call) > sizes.count(largest))
          largest = call;
      });
      if (largest == function)
        continue;
      largest->emitOpError("stands for ")
          << sizes.count(largest)
          << " operations, since each call gets a copy of "
          << "its function: with them '" << function.getSymName() << "' has "
          << size << ", more than " << uint64_t(maxOps);
      return signalPassFailure();
    }
  }
};
} // namespace
