// Chooses the layouts that a program leaves to the compiler.
//
//   main() -> tensor<8x4xf32> {mhlo.layout_mode = "auto"} {
//     %1 = transpose %0, [1, 0]            →  {mhlo.layout_mode = "{0,1}"}
//     return %1                               the transpose moves nothing
//
// It looks through elementwise ops whose operands agree, and through calls.

#include "compiler/partition/layout_mode.h"
#include "compiler/partition/passes.h"
#include "dialect/stablehlo/element_rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::partition {
#define GEN_PASS_DEF_RESOLVELAYOUTS
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {
/// The orders in which the values of a function lie when they are computed;
/// nothing for those that may as well lie in any.
class Orders {
public:
  Orders(SymbolTable &symbols, unsigned depth)
      : symbols(symbols), depth(depth) {}

  void set(Value value, std::optional<Order> order) {
    known[value] = std::move(order);
  }

  std::optional<Order> find(Value value) {
    auto array = dyn_cast<RankedTensorType>(value.getType());
    if (!array)
      return std::nullopt;
    if (auto found = known.find(value); found != known.end())
      return found->second;
    // What is further away does not decide.
    std::optional<Order> order = getRowMajor(array.getRank());
    if (depth < maxDepth) {
      ++depth;
      order = compute(value, array.getRank());
      --depth;
    }
    known[value] = order;
    return order;
  }

private:
  static constexpr unsigned maxDepth = 200;

  std::optional<Order> compute(Value value, int64_t rank) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return getRowMajor(rank);
    if (op->hasTrait<OpTrait::ConstantLike>())
      return std::nullopt;
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      std::optional<Order> operand = find(transpose.getOperand());
      if (!operand)
        return std::nullopt;
      Order inverse = invert(transpose.getPermutation());
      for (int64_t &dim : *operand)
        dim = inverse[dim];
      return operand;
    }
    if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
      if (cast<ShapedType>(broadcast.getOperand().getType()).getRank() == 0)
        return std::nullopt;
    if (auto call = dyn_cast<func::CallOp>(op))
      return findInCallee(call, cast<OpResult>(value).getResultNumber(), rank);
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
      return findInCustomCall(call, value, rank);
    if (isa<stablehlo::OptimizationBarrierOp>(op))
      return find(op->getOperand(cast<OpResult>(value).getResultNumber()));
    StringRef name = op->getName().getStringRef();
    if (stablehlo::isElementwise(op) || name == "sdy.sharding_constraint" ||
        name == "sdy.reshard" || name == "sdy.propagation_barrier")
      return findAgreed(op, rank);
    return getRowMajor(rank);
  }

  /// The order of all operands that have one and are arrays of this rank.
  std::optional<Order> findAgreed(Operation *op, int64_t rank) {
    std::optional<Order> agreed;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      // One number for all elements.
      if (!type || type.getRank() != rank)
        continue;
      std::optional<Order> order = find(operand);
      if (order && agreed && *order != *agreed)
        return getRowMajor(rank);
      if (order)
        agreed = std::move(order);
    }
    return agreed;
  }

  std::optional<Order> findInCallee(func::CallOp call, unsigned result,
                                    int64_t rank) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || !callee.getBody().hasOneBlock())
      return getRowMajor(rank);
    Orders inside(symbols, depth);
    for (auto [argument, operand] :
         llvm::zip(callee.getArguments(), call.getOperands()))
      inside.set(argument, find(operand));
    return inside.find(
        callee.getBody().front().getTerminator()->getOperand(result));
  }

  std::optional<Order> findInCustomCall(stablehlo::CustomCallOp call,
                                        Value value, int64_t rank) {
    StringRef target = call.getCallTargetName();
    if (target == "Sharding" || target == "annotate_device_placement")
      return findAgreed(call, rank);
    auto layouts = call.getResultLayoutsAttr();
    if (target != "LayoutConstraint" || !layouts || layouts.size() != 1)
      return getRowMajor(rank);
    auto list = dyn_cast<DenseIntElementsAttr>(layouts[0]);
    if (!list || list.size() != rank)
      return getRowMajor(rank);
    Order order;
    for (const APInt &dim : list.getValues<APInt>())
      order.push_back(dim.getSExtValue());
    std::reverse(order.begin(), order.end());
    return order;
  }

  SymbolTable &symbols;
  unsigned depth;
  llvm::DenseMap<Value, std::optional<Order>> known;
};

/// Reads the modes of arguments or of results.
FailureOr<SmallVector<LayoutMode>>
readModes(func::FuncOp main, StringRef what, TypeRange types,
          llvm::function_ref<Attribute(unsigned)> getAttribute) {
  SmallVector<LayoutMode> modes;
  for (auto [i, type] : llvm::enumerate(types)) {
    std::string error;
    auto mode = readLayoutMode(getAttribute(i), type, error);
    if (failed(mode))
      return main.emitError()
             << "'func.func': " << what << " #" << i << ": the layout "
             << getAttribute(i) << " of " << type << " " << error;
    modes.push_back(std::move(*mode));
  }
  return modes;
}

struct ResolveLayouts
    : alula::partition::impl::ResolveLayoutsBase<ResolveLayouts> {
  void runOnOperation() override {
    if (failed(resolveLayouts(getOperation())))
      signalPassFailure();
  }
};
} // namespace

LogicalResult alula::partition::resolveLayouts(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return success();
  auto arguments =
      readModes(main, "argument", main.getArgumentTypes(),
                [&](unsigned i) { return main.getArgAttr(i, layoutModeName); });
  auto results =
      readModes(main, "result", main.getResultTypes(), [&](unsigned i) {
        return main.getResultAttr(i, layoutModeName);
      });
  if (failed(arguments) || failed(results))
    return failure();
  auto id = StringAttr::get(module.getContext(), layoutModeName);
  auto print = [&](ArrayRef<int64_t> order) {
    return StringAttr::get(module.getContext(), printOrder(order));
  };
  SymbolTable symbols(module);
  Orders orders(symbols, 0);
  for (auto [i, mode] : llvm::enumerate(*arguments)) {
    if (mode.isAuto || isRowMajor(mode.order)) {
      main.removeArgAttr(i, id);
      continue;
    }
    orders.set(main.getArgument(i), mode.order);
    main.setArgAttr(i, id, print(mode.order));
  }
  Operation *end = main.getBody().hasOneBlock()
                       ? main.getBody().front().getTerminator()
                       : nullptr;
  for (auto [i, mode] : llvm::enumerate(*results)) {
    if (mode.isAuto && end)
      mode.order = orders.find(end->getOperand(i)).value_or(Order());
    if (isRowMajor(mode.order))
      main.removeResultAttr(i, id);
    else
      main.setResultAttr(i, id, print(mode.order));
  }
  return success();
}
