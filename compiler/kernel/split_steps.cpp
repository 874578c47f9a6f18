// Makes a launch of each step of a kernel whose loops depend on each other, so
// that each can be shared by workgroups.
//   scf.parallel … {kernel.step = 0}   →  @k_step0 writes a temporary,
//   scf.parallel … {kernel.step = 1}      @k_step1 reads it
// Temporaries of several steps become results of the first that needs them; the
// others change them in place.
// Relies on: outside of the loops nothing is written. Where that is not so, or
// a size is not known, the kernel stays one.

#include "compiler/kernel/launches.h"
#include "compiler/kernel/memory_root.h"
#include "compiler/kernel/passes.h"
#include "dialect/dispatch/ops.h"
#include "dialect/plan/plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace alula::kernel {
#define GEN_PASS_DEF_SPLITSTEPS
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using alula::kernel::findMemory;
using namespace alula::dispatch;

namespace {
constexpr StringRef stepName = "kernel.step";

std::optional<int64_t> getStep(Operation *op) {
  auto step = op->getAttrOfType<IntegerAttr>(stepName);
  return step ? std::optional(step.getInt()) : std::nullopt;
}

class StepSplitter {
public:
  StepSplitter(func::FuncOp kernel, EntryOp entry, ArrayRef<LaunchOp> launches)
      : kernel(kernel), entry(entry), launches(launches) {}

  void run() {
    if (!canSplit())
      return;
    numBindings = static_cast<unsigned>(entry.getBindings().size());
    for (Operation *loop : loops)
      memory.push_back(findMemory(loop));
    findShared();
    for (LaunchOp launch : launches)
      if (!writesAll(launch))
        return;
    for (size_t step = 0; step < loops.size(); ++step)
      plans.push_back(planStep(step));
    for (LaunchOp launch : launches)
      splitLaunch(launch);
    for (const Plan &plan : plans)
      createKernel(plan);
    entry.erase();
    kernel.erase();
  }

private:
  /// What one step is launched with: arguments of the kernel or temporaries.
  struct Plan {
    size_t step;
    /// Its bindings, those of fresh results last.
    SmallVector<Value> bindings;
    SmallVector<Access> accesses;
    size_t numInputs = 0;
  };

  bool canSplit() {
    if (entry.getPinned() || launches.empty() ||
        kernel->hasAttr("kernel.workgroup"))
      return false;
    for (Operation &op : kernel.front().without_terminator()) {
      if (auto step = getStep(&op)) {
        if (*step != static_cast<int64_t>(loops.size()))
          return false;
        loops.push_back(&op);
        continue;
      }
      auto alloc = dyn_cast<memref::AllocOp>(op);
      if (alloc ? !alloc.getType().hasStaticShape() : !isMemoryEffectFree(&op))
        return false;
    }
    return loops.size() > 1;
  }

  void findShared() {
    llvm::MapVector<Value, unsigned> uses;
    for (const auto &step : memory)
      for (auto [root, isWritten] : step)
        if (Operation *owner = root.getDefiningOp())
          if (owner->getBlock() == &kernel.front())
            ++uses[root];
    for (auto [root, count] : uses)
      if (count > 1)
        shared.insert(root);
  }

  std::optional<unsigned> getBinding(Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    if (argument && argument.getOwner() == &kernel.front() &&
        argument.getArgNumber() < numBindings)
      return argument.getArgNumber();
    return std::nullopt;
  }

  Access getAccess(unsigned binding) {
    return cast<AccessAttr>(entry.getBindings()[binding]).getValue();
  }

  /// Each result must be one of some step.
  bool writesAll(LaunchOp launch) {
    for (unsigned binding = 0; binding < numBindings; ++binding)
      if (getAccess(binding) != Access::Read &&
          llvm::none_of(memory, [&](const auto &step) {
            return step.lookup(kernel.getArgument(binding));
          }))
        return false;
    return launch.getResultDims().empty();
  }

  Plan planStep(size_t step) {
    Plan plan{step, {}, {}};
    SmallVector<Value> fresh;
    for (auto [root, mayWrite] : memory[step]) {
      auto binding = getBinding(root);
      if (!binding && !shared.contains(root))
        continue;
      bool isWritten =
          mayWrite && !(binding && getAccess(*binding) == Access::Read);
      bool isInput = binding && getAccess(*binding) != Access::Write;
      if (!isInput && !begun.contains(root)) {
        fresh.push_back(root);
        begun.insert(root);
        continue;
      }
      plan.bindings.push_back(root);
      plan.accesses.push_back(isWritten ? Access::ReadWrite : Access::Read);
    }
    plan.numInputs = plan.bindings.size();
    plan.bindings.append(fresh);
    plan.accesses.append(fresh.size(), Access::Write);
    return plan;
  }

  std::string getName(size_t step) {
    return (entry.getSymName() + "_step" + Twine(step)).str();
  }

  /// The type of a binding's tensor; of an input, as the launch has it.
  Type getTensorType(LaunchOp launch, Value root) {
    if (auto binding = getBinding(root)) {
      unsigned fresh = static_cast<unsigned>(launch.getInputs().size());
      for (auto [number, type] : llvm::enumerate(launch.getResultTypes())) {
        auto input = launch.getInPlaceInput(static_cast<unsigned>(number));
        if ((input ? *input : fresh) == *binding)
          return type;
        fresh += !input;
      }
      return launch.getInputs()[*binding].getType();
    }
    auto type = cast<MemRefType>(root.getType());
    return RankedTensorType::get(type.getShape(), type.getElementType());
  }

  void splitLaunch(LaunchOp launch) {
    OpBuilder builder(launch);
    DenseMap<Value, Value> current;
    for (auto [number, input] : llvm::enumerate(launch.getInputs()))
      current[kernel.getArgument(static_cast<unsigned>(number))] = input;
    for (const Plan &plan : plans) {
      SmallVector<Value> inputs, changed;
      SmallVector<Type> types;
      SmallVector<int64_t> inPlace;
      for (auto [number, root] : llvm::enumerate(plan.bindings)) {
        bool isInput = number < plan.numInputs;
        if (isInput)
          inputs.push_back(current[root]);
        if (plan.accesses[number] == Access::Read)
          continue;
        changed.push_back(root);
        types.push_back(getTensorType(launch, root));
        inPlace.push_back(isInput ? static_cast<int64_t>(number) : -1);
      }
      auto step = builder.create<LaunchOp>(
          launch.getLoc(), types,
          SymbolRefAttr::get(launch.getEntry().getRootReference(),
                             {FlatSymbolRefAttr::get(builder.getContext(),
                                                     getName(plan.step))}),
          inputs, launch.getConstants(), launch.getWorkgroups(), ValueRange(),
          llvm::all_of(inPlace, [](int64_t input) { return input < 0; })
              ? DenseI64ArrayAttr()
              : builder.getDenseI64ArrayAttr(inPlace));
      for (auto [root, result] : llvm::zip_equal(changed, step.getResults()))
        current[root] = result;
    }
    unsigned fresh = static_cast<unsigned>(launch.getInputs().size());
    for (OpResult result : launch->getResults()) {
      auto input = launch.getInPlaceInput(result.getResultNumber());
      result.replaceAllUsesWith(
          current[kernel.getArgument(input ? *input : fresh)]);
      fresh += !input;
    }
    launch.erase();
  }

  void createKernel(const Plan &plan) {
    OpBuilder builder(kernel);
    Location location = kernel.getLoc();
    SmallVector<Type> types;
    for (Value root : plan.bindings)
      types.push_back(MemRefType::get(
          {}, cast<MemRefType>(root.getType()).getElementType()));
    ValueRange constants = kernel.getArguments().drop_front(numBindings);
    llvm::append_range(types, constants.getTypes());
    auto function = builder.create<func::FuncOp>(
        location, getName(plan.step), builder.getFunctionType(types, {}));
    function->setAttr(
        "kernel.bindings",
        builder.getI64IntegerAttr(static_cast<int64_t>(plan.bindings.size())));
    if (Attribute count = kernel->getAttr("kernel.constants"))
      function->setAttr("kernel.constants", count);
    if (Attribute grid = kernel->getAttr(alula::plan::gridName))
      function->setAttr(alula::plan::gridName, grid);
    Block *body = function.addEntryBlock();
    auto inner = OpBuilder::atBlockEnd(body);
    IRMapping mapping;
    for (auto [root, argument] :
         llvm::zip(plan.bindings, body->getArguments())) {
      if (auto alloc = root.getDefiningOp<memref::AllocOp>()) {
        SmallVector<int64_t> strides(alloc.getType().getRank(), 1);
        ArrayRef<int64_t> shape = alloc.getType().getShape();
        for (size_t i = shape.size(); i-- > 1;)
          strides[i - 1] = strides[i] * shape[i];
        mapping.map(
            root, inner.create<memref::ReinterpretCastOp>(
                      location, alloc.getType(), argument, 0, shape, strides));
      } else {
        mapping.map(root, argument);
      }
    }
    for (auto [old, fresh] : llvm::zip_equal(
             constants, body->getArguments().drop_front(plan.bindings.size())))
      mapping.map(old, fresh);
    // What the loop needs of what is before it.
    llvm::SetVector<Operation *> needed;
    SmallVector<Operation *> open{loops[plan.step]};
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (!needed.insert(op))
        continue;
      op->walk([&](Operation *user) {
        for (Value operand : user->getOperands())
          if (Operation *owner = operand.getDefiningOp())
            if (owner->getBlock() == &kernel.front() &&
                !mapping.contains(operand))
              open.push_back(owner);
      });
    }
    for (Operation &op : kernel.front())
      if (needed.contains(&op))
        inner.clone(op, mapping)->removeAttr(stepName);
    inner.create<func::ReturnOp>(location);

    builder.setInsertionPoint(entry);
    SmallVector<Attribute> accesses;
    for (Access access : plan.accesses)
      accesses.push_back(AccessAttr::get(builder.getContext(), access));
    auto created = cast<EntryOp>(builder.clone(*entry));
    created.setSymName(getName(plan.step));
    created.setBindingsAttr(builder.getArrayAttr(accesses));
  }

  func::FuncOp kernel;
  EntryOp entry;
  ArrayRef<LaunchOp> launches;
  unsigned numBindings = 0;
  /// One for each step.
  SmallVector<Operation *> loops;
  SmallVector<llvm::MapVector<Value, bool>> memory;
  SmallVector<Plan> plans;
  /// Temporaries of several steps.
  llvm::SetVector<Value> shared;
  /// What some step has written.
  llvm::SetVector<Value> begun;
};

struct SplitSteps : public alula::kernel::impl::SplitStepsBase<SplitSteps> {
  void runOnOperation() override {
    // A module without kernels may be of no machine. Where workgroups have
    // threads, all launches are formed already.
    if (getOperation().getOps<ExecutableOp>().empty() ||
        getMachine(getOperation()).blockThreads > 1)
      return;
    alula::kernel::Launches launches(getOperation());
    for (auto executable : getOperation().getOps<ExecutableOp>()) {
      if (executable.isExternal())
        continue;
      for (auto entry :
           llvm::to_vector(executable.getBody().getOps<EntryOp>())) {
        auto kernel = executable.getInnerModule().lookupSymbol<func::FuncOp>(
            entry.getSymName());
        if (kernel && !kernel.isExternal())
          StepSplitter(kernel, entry, launches.of(entry)).run();
      }
    }
  }
};
} // namespace
