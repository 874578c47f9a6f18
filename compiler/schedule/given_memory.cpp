// Whose memory a result is given.

#include "compiler/schedule/given_memory.h"

#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::schedule;
using alula::dispatch::LaunchOp;

FlatSymbolRefAttr
alula::schedule::getGlobalOfArgument(func::FuncOp function, unsigned argument) {
  if (!function.isPublic())
    return {};
  return function.getArgAttrOfType<FlatSymbolRefAttr>(argument, "alula.global");
}

FlatSymbolRefAttr
alula::schedule::getGlobalOfResult(func::FuncOp function, unsigned result) {
  if (!function.isPublic())
    return {};
  return function.getResultAttrOfType<FlatSymbolRefAttr>(result,
                                                         "alula.global");
}

SmallVector<std::optional<unsigned>>
alula::schedule::getAliasedArguments(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  SmallVector<std::optional<unsigned>> taken(type.getNumResults());
  // Only callers outside of the program can donate memory.
  if (!function.isPublic())
    return taken;
  auto getNamed = [&](unsigned argument) -> std::optional<unsigned> {
    auto named =
        function.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output");
    if (!named || named.getInt() < 0 || named.getInt() >= type.getNumResults())
      return std::nullopt;
    auto result = static_cast<unsigned>(named.getInt());
    auto tensor = dyn_cast<RankedTensorType>(type.getResult(result));
    bool isFit = tensor && type.getInput(argument) == tensor &&
                 tensor.hasStaticShape() &&
                 !getGlobalOfResult(function, result);
    return isFit ? std::optional(result) : std::nullopt;
  };
  // What a global becomes takes the place of what it was.
  llvm::DenseMap<Attribute, unsigned> globals;
  for (unsigned argument = 0; argument < type.getNumInputs(); ++argument) {
    if (FlatSymbolRefAttr global = getGlobalOfArgument(function, argument))
      globals.try_emplace(global, argument);
    if (auto named = getNamed(argument); named && !taken[*named])
      taken[*named] = argument;
  }
  // Results that may take any memory of their type, the first one last.
  llvm::DenseMap<Type, SmallVector<unsigned>> open;
  for (unsigned result = type.getNumResults(); result-- > 0;) {
    if (FlatSymbolRefAttr global = getGlobalOfResult(function, result)) {
      if (auto found = globals.find(global); found != globals.end())
        taken[result] = found->second;
      continue;
    }
    auto tensor = dyn_cast<RankedTensorType>(type.getResult(result));
    if (tensor && tensor.hasStaticShape() && !taken[result])
      open[tensor].push_back(result);
  }
  // A donated argument goes to the first result that can use it.
  for (unsigned argument = 0; argument < type.getNumInputs(); ++argument) {
    auto donated =
        function.getArgAttrOfType<BoolAttr>(argument, "jax.buffer_donor");
    if (!donated || !donated.getValue() || getNamed(argument))
      continue;
    auto found = open.find(type.getInput(argument));
    if (found != open.end() && !found->second.empty())
      taken[found->second.pop_back_val()] = argument;
  }
  return taken;
}

std::optional<unsigned> alula::schedule::getInPlaceOperand(OpResult result) {
  Operation *op = result.getOwner();
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getInPlaceInput(result.getResultNumber());
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
    for (auto alias : call.getOutputOperandAliases()
                          .getAsRange<stablehlo::OutputOperandAliasAttr>()) {
      ArrayRef<int64_t> output = alias.getOutputTupleIndices();
      int64_t number = output.empty() ? 0 : output.front();
      if (number == result.getResultNumber() &&
          alias.getOperandTupleIndices().empty())
        return static_cast<unsigned>(alias.getOperandIndex());
    }
    return std::nullopt;
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            op, call.getCalleeAttr()))
      return getAliasedArguments(callee)[result.getResultNumber()];
  return std::nullopt;
}

bool alula::schedule::isInvariant(Operation *whileOp, unsigned number) {
  Block &body = cast<stablehlo::WhileOp>(whileOp).getBody().front();
  Value value = body.getTerminator()->getOperand(number);
  while (auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>())
    value = barrier.getOperand()[cast<OpResult>(value).getResultNumber()];
  return value == body.getArgument(number);
}
