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
/// What a group needs from outside and what outside needs from it.
struct Border {
  llvm::SetVector<Value> inputs, constants;
  SmallVector<Value> outputs;
};

Border findBorder(const KernelGroup &group) {
  Border border;
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  Block *block = group.getLast()->getBlock();
  auto isInside = [&](Operation *op) {
    Operation *ancestor = block->findAncestorOpInBlock(*op);
    return ancestor && members.contains(ancestor);
  };
  for (Operation *op : group.ops) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *owner = operand.getDefiningOp();
        if (!owner)
          owner = operand.getParentBlock()->getParentOp();
        // An argument of a block inside belongs to its op.
        if (isInside(owner))
          continue;
        if (isKernelConstant(operand))
          border.constants.insert(operand);
        else
          border.inputs.insert(operand);
      }
    });
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !isInside(user); }))
        border.outputs.push_back(result);
  }
  return border;
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
      outlineBlock(function.front(), function.getSymName(), symbols);
    }
  }

  void outlineBlock(Block &block, StringRef name, SymbolTable &symbols) {
    for (const KernelGroup &group : formKernelGroups(block))
      outline(group, name, symbols);
    // What has stayed on the host has kernels inside.
    for (Operation &op : block)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (isa<stablehlo::StablehloDialect>(op.getDialect()))
            outlineBlock(inner, name, symbols);
  }

  static void outline(const KernelGroup &group, StringRef functionName,
                      SymbolTable &symbols) {
    Border border = findBorder(group);
    // Without a reader there is nothing to compute.
    if (border.outputs.empty())
      return eraseOps(group);
    Operation *last = group.getLast();
    OpBuilder builder(last->getContext());
    Location location = last->getLoc();

    auto executable = builder.create<ExecutableOp>(
        location, functionName, builder.getStringAttr("private"));
    StringAttr name = symbols.insert(executable);
    builder.setInsertionPointToEnd(&executable.getBody().emplaceBlock());
    SmallVector<Attribute> bindings(
        border.inputs.size(),
        AccessAttr::get(builder.getContext(), Access::Read));
    bindings.append(border.outputs.size(),
                    AccessAttr::get(builder.getContext(), Access::Write));
    builder.create<EntryOp>(location, name, builder.getArrayAttr(bindings),
                            builder.getDenseI64ArrayAttr({1, 1, 1}),
                            builder.getI64IntegerAttr(0),
                            builder.getI64IntegerAttr(0));
    auto inner = builder.create<ModuleOp>(location);
    builder.setInsertionPointToEnd(inner.getBody());
    ValueRange inputs = border.inputs.getArrayRef();
    auto kernel = builder.create<func::FuncOp>(
        location, name,
        builder.getFunctionType(inputs.getTypes(),
                                ValueRange(border.outputs).getTypes()));
    fillBody(kernel, group, border);

    builder.setInsertionPoint(last);
    auto entry = SymbolRefAttr::get(name, {FlatSymbolRefAttr::get(name)});
    auto launch = builder.create<LaunchOp>(
        location, ValueRange(border.outputs).getTypes(), entry, inputs);
    for (auto [output, result] :
         llvm::zip_equal(border.outputs, launch.getResults()))
      output.replaceAllUsesWith(result);
    eraseOps(group);
  }

  static void eraseOps(const KernelGroup &group) {
    for (Operation *op : llvm::reverse(group.ops)) {
      op->dropAllUses();
      op->erase();
    }
  }

  static void fillBody(func::FuncOp kernel, const KernelGroup &group,
                       const Border &border) {
    Block *body = kernel.addEntryBlock();
    auto builder = OpBuilder::atBlockEnd(body);
    IRMapping mapping;
    mapping.map(border.inputs.getArrayRef(), body->getArguments());
    for (Value constant : border.constants)
      mapping.map(constant,
                  builder.clone(*constant.getDefiningOp())->getResult(0));
    for (Operation *op : group.ops)
      builder.clone(*op, mapping);
    SmallVector<Value> results;
    for (Value output : border.outputs)
      results.push_back(mapping.lookup(output));
    builder.create<func::ReturnOp>(group.getLast()->getLoc(), results);
  }
};
} // namespace
