// Moves groups of ops into executables.
//   %2 = stablehlo.add %0, %1  →  %2 = dispatch.launch @main_0::@main_0(%0, %1)
// Relies on: no calls, no tuples (the input room sees to both).

#include "compiler/dispatch/kernel_groups.h"
#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_FORMKERNELS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// A constant is worth copying into a kernel when it is one number.
bool isSplatConstant(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant && isa<DenseElementsAttr>(constant.getValue()) &&
         cast<DenseElementsAttr>(constant.getValue()).isSplat();
}

/// What the group reads from outside, once each, in order of use; regions
/// included.
SmallVector<Value> findInputs(const KernelGroup &group) {
  llvm::SetVector<Value> inputs;
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  for (Operation *op : group.ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *owner = operand.getParentBlock()->getParentOp();
        bool isInner = owner != op->getParentOp();
        if (!isInner && !members.contains(operand.getDefiningOp()) &&
            !isSplatConstant(operand))
          inputs.insert(operand);
      }
    });
  return inputs.takeVector();
}

struct FormKernels
    : public alula::dispatch::impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      if (!function.getBody().hasOneBlock()) {
        function.emitError() << "'func.func': must have one block: @"
                             << function.getSymName() << " has "
                             << function.getBlocks().size();
        return signalPassFailure();
      }
      for (const KernelGroup &group : formKernelGroups(function.front()))
        outline(function, group, symbols);
    }
  }

  void outline(func::FuncOp function, const KernelGroup &group,
               SymbolTable &symbols) {
    Operation *root = group.getRoot();
    SmallVector<Value> inputs = findInputs(group);
    OpBuilder builder(root->getContext());
    Location location = root->getLoc();

    auto executable = builder.create<ExecutableOp>(
        location, function.getSymName(), builder.getStringAttr("private"));
    StringAttr name = symbols.insert(executable);

    builder.setInsertionPointToEnd(&executable.getBody().emplaceBlock());
    SmallVector<Attribute> bindings(
        inputs.size(), AccessAttr::get(builder.getContext(), Access::Read));
    bindings.append(root->getNumResults(),
                    AccessAttr::get(builder.getContext(), Access::Write));
    builder.create<EntryOp>(location, name, builder.getArrayAttr(bindings),
                            ArrayRef<int64_t>{1, 1, 1});
    auto inner = builder.create<ModuleOp>(location);
    builder.setInsertionPointToEnd(inner.getBody());
    auto kernel = builder.create<func::FuncOp>(
        location, name,
        builder.getFunctionType(TypeRange(ValueRange(inputs)),
                                root->getResultTypes()));
    fillBody(kernel, group, inputs);

    builder.setInsertionPoint(root);
    auto entry = SymbolRefAttr::get(name, {FlatSymbolRefAttr::get(name)});
    auto launch = builder.create<LaunchOp>(location, root->getResultTypes(),
                                           entry, inputs, ArrayAttr());
    root->replaceAllUsesWith(launch.getResults());
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
  }

  void fillBody(func::FuncOp kernel, const KernelGroup &group,
                ArrayRef<Value> inputs) {
    Block *body = kernel.addEntryBlock();
    auto builder = OpBuilder::atBlockEnd(body);
    IRMapping mapping;
    mapping.map(inputs, body->getArguments());
    for (Operation *op : group.ops) {
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (isSplatConstant(operand) && !mapping.contains(operand) &&
              operand.getParentBlock() == op->getBlock())
            mapping.map(operand,
                        builder.clone(*operand.getDefiningOp())->getResult(0));
      });
      builder.clone(*op, mapping);
    }
    SmallVector<Value> results;
    for (Value result : group.getRoot()->getResults())
      results.push_back(mapping.lookup(result));
    builder.create<func::ReturnOp>(group.getRoot()->getLoc(), results);
  }
};
} // namespace
