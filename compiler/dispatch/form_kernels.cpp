// Moves groups of ops into executables.
//   %2 = stablehlo.add %0, %1  →  %2 = dispatch.launch @main_0::@main_0(%0, %1)
// Sizes that are not known are computed before, on the host: host_sizes.h.
// What only changes dimensions is no kernel:
//   %3 = stablehlo.reshape %2  →  %3 = dispatch.view %2
// Relies on: no calls, no tuples (the input room sees to both).

#include "compiler/dispatch/host_sizes.h"
#include "compiler/dispatch/in_place.h"
#include "compiler/dispatch/kernel_groups.h"
#include "compiler/dispatch/merge_groups.h"
#include "compiler/dispatch/passes.h"
#include "dialect/chlo/functions.h"
#include "dialect/dispatch/in_place.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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
  llvm::SetVector<Value> inputs;
  /// Results of ops that the kernel has a copy of.
  llvm::SetVector<Value> constants;
  /// Numbers of the host.
  llvm::SetVector<Value> numbers;
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
        if (operand.getType().isIndex()) {
          border.numbers.insert(operand);
        } else if (auto pack = operand.getDefiningOp<PackOp>()) {
          border.constants.insert(operand);
          border.numbers.insert(pack.operand_begin(), pack.operand_end());
        } else if (auto weights = operand.getDefiningOp<FromPanelsOp>()) {
          border.constants.insert(operand);
          border.inputs.insert(weights.getPanels());
        } else if (isKernelConstant(operand))
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

bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

/// Whether sizes are computed or checked while the function runs.
bool needsSizes(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        bool found = llvm::any_of(op->getResultTypes(), isDynamic) ||
                     llvm::any_of(op->getOperandTypes(), isDynamic) ||
                     stablehlo::readsAny(op, stablehlo::Access::Sizes);
        if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
          found |= call.getCallTargetName() == "shape_assertion";
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Ops that became dead: sizes are computed from numbers of the host now.
void eraseDead(Block &block, function_ref<bool(Operation &)> mayErase) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      if (mayErase(op))
        op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseDead(inner, mayErase);
  }
}

bool isTensorOp(Operation &op) { return chlo::isTensorOp(&op); }

/// What a group only has other dimensions of, so that no byte moves; null for
/// others. What leaves the function or a body is copied anyway if no kernel
/// before it wrote it.
Value findReshaped(const KernelGroup &group, const Border &border) {
  if (border.inputs.size() != 1 || border.outputs.size() != 1 ||
      !llvm::all_of(
          border.constants,
          [](Value shape) { return bool(shape.getDefiningOp<PackOp>()); }) ||
      !llvm::all_of(
          group.ops,
          llvm::IsaPred<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>))
    return {};
  Value source = border.inputs.front(), root = source;
  while (auto view = root.getDefiningOp<ViewOp>())
    root = view.getSource();
  auto launch = root.getDefiningOp<LaunchOp>();
  Block *block = group.getLast()->getBlock();
  bool isWrittenHere = launch && launch->getBlock() == block;
  bool leaves =
      llvm::any_of(border.outputs.front().getUsers(), [](Operation *user) {
        return user->hasTrait<OpTrait::IsTerminator>();
      });
  return isWrittenHere || !leaves ? source : Value();
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
        function.emitError()
            << "'func.func': must have one block: @" << function.getSymName()
            << " has " << function.getBlocks().size();
        return signalPassFailure();
      }
      HostSizes sizes(function);
      if (needsSizes(function)) {
        if (failed(sizes.compute()))
          return signalPassFailure();
        eraseDead(function.front(), isTensorOp);
      }
      outlineBlock(function.front(), function.getSymName(), symbols, sizes);
      eraseDead(function.front(), [](Operation &) { return true; });
    }
  }

  void outlineBlock(Block &block, StringRef name, SymbolTable &symbols,
                    HostSizes &sizes) {
    for (const KernelGroup &group :
         mergeGroups(formKernelGroups(block), getMachine(block.getParentOp())))
      outline(group, name, symbols, sizes);
    // Numbers that the host needs in memory.
    for (auto pack : llvm::to_vector(block.getOps<PackOp>())) {
      if (!pack->use_empty())
        outline({{pack}}, name, symbols, sizes);
      else
        pack.erase();
    }
    // What has stayed on the host has kernels inside.
    for (Operation &op : block)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (isa<stablehlo::StablehloDialect>(op.getDialect()))
            outlineBlock(inner, name, symbols, sizes);
  }

  static void outline(const KernelGroup &group, StringRef functionName,
                      SymbolTable &symbols, HostSizes &sizes) {
    Border border = findBorder(group);
    // Without a reader there is nothing to compute.
    if (border.outputs.empty())
      return eraseOps(group);
    Operation *last = group.getLast();
    Location location = last->getLoc();
    if (Value source = findReshaped(group, border)) {
      Value output = border.outputs.front();
      auto view = OpBuilder(last).create<ViewOp>(
          location, output.getType(), source, sizes.getDynamicDims(output));
      sizes.replace(output, view);
      output.replaceAllUsesWith(view);
      return eraseOps(group);
    }

    OpBuilder builder(last->getContext());
    auto executable = builder.create<ExecutableOp>(
        location, functionName, builder.getStringAttr("private"),
        /*objects=*/ArrayAttr());
    StringAttr name = symbols.insert(executable);
    builder.setInsertionPointToEnd(&executable.getBody().emplaceBlock());
    SmallVector<int64_t> inPlace = chooseInPlace(
        group, border.inputs.getArrayRef(), border.outputs, sizes);
    SmallVector<Attribute> bindings(
        border.inputs.size(),
        AccessAttr::get(builder.getContext(), Access::Read));
    for (int64_t input : inPlace)
      if (input >= 0)
        bindings[static_cast<size_t>(input)] =
            AccessAttr::get(builder.getContext(), Access::ReadWrite);
    bindings.append(static_cast<size_t>(llvm::count(inPlace, -1)),
                    AccessAttr::get(builder.getContext(), Access::Write));
    LaunchSizes launchSizes = collectSizes(border, sizes);
    builder.create<EntryOp>(location, name, builder.getArrayAttr(bindings),
                            builder.getDenseI64ArrayAttr({1, 1, 1}),
                            builder.getI64IntegerAttr(0),
                            builder.getI64IntegerAttr(static_cast<int64_t>(
                                launchSizes.constants.size())),
                            /*workgroup_size=*/DenseI64ArrayAttr(),
                            /*workgroup_count=*/FlatSymbolRefAttr(),
                            /*added_constants=*/FlatSymbolRefAttr(),
                            /*pinned=*/UnitAttr());
    auto inner = builder.create<ModuleOp>(location);
    builder.setInsertionPointToEnd(inner.getBody());
    ValueRange inputs = border.inputs.getArrayRef();
    SmallVector<Type> types(inputs.getTypes());
    types.append(launchSizes.numbers.size(), builder.getIndexType());
    auto kernel = builder.create<func::FuncOp>(
        location, name,
        builder.getFunctionType(types, ValueRange(border.outputs).getTypes()));
    fillBody(kernel, group, border, launchSizes.numbers);
    DenseI64ArrayAttr inPlaceAttr;
    if (llvm::any_of(inPlace, [](int64_t input) { return input >= 0; })) {
      inPlaceAttr = builder.getDenseI64ArrayAttr(inPlace);
      kernel->setAttr(inPlaceName, inPlaceAttr);
    }

    builder.setInsertionPoint(last);
    auto entry = SymbolRefAttr::get(name, {FlatSymbolRefAttr::get(name)});
    auto launch = builder.create<LaunchOp>(
        location, ValueRange(border.outputs).getTypes(), entry, inputs,
        launchSizes.constants, /*workgroups=*/ValueRange(),
        launchSizes.resultDims, inPlaceAttr);
    for (auto [output, result] :
         llvm::zip_equal(border.outputs, launch.getResults())) {
      sizes.replace(output, result);
      output.replaceAllUsesWith(result);
    }
    eraseOps(group);
  }

  struct LaunchSizes {
    /// Sizes of inputs, sizes of results, then `numbers`.
    SmallVector<Value> constants, resultDims, numbers;
  };

  static LaunchSizes collectSizes(const Border &border, HostSizes &sizes) {
    LaunchSizes all;
    for (Value input : border.inputs)
      llvm::append_range(all.constants, sizes.getDynamicDims(input));
    for (Value output : border.outputs)
      llvm::append_range(all.resultDims, sizes.getDynamicDims(output));
    llvm::append_range(all.constants, all.resultDims);
    for (Value number : border.numbers)
      if (!matchPattern(number, m_Constant()))
        all.numbers.push_back(number);
    llvm::append_range(all.constants, all.numbers);
    return all;
  }

  static void eraseOps(const KernelGroup &group) {
    for (Operation *op : llvm::reverse(group.ops)) {
      op->dropAllUses();
      op->erase();
    }
  }

  static void fillBody(func::FuncOp kernel, const KernelGroup &group,
                       const Border &border, ArrayRef<Value> numbers) {
    Block *body = kernel.addEntryBlock();
    auto builder = OpBuilder::atBlockEnd(body);
    IRMapping mapping;
    size_t numInputs = border.inputs.size();
    mapping.map(border.inputs.getArrayRef(),
                body->getArguments().take_front(numInputs));
    mapping.map(numbers, body->getArguments().drop_front(numInputs));
    for (Value number : border.numbers)
      if (!mapping.contains(number))
        builder.clone(*number.getDefiningOp(), mapping);
    for (Value constant : border.constants)
      builder.clone(*constant.getDefiningOp(), mapping);
    for (Operation *op : group.ops)
      builder.clone(*op, mapping);
    SmallVector<Value> results;
    for (Value output : border.outputs)
      results.push_back(mapping.lookup(output));
    builder.create<func::ReturnOp>(group.getLast()->getLoc(), results);
  }
};
} // namespace
