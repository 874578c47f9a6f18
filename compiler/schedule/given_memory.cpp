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

std::optional<unsigned>
alula::schedule::getAliasedArgument(func::FuncOp function, unsigned result) {
  // Only callers outside of the program can donate memory.
  if (!function.isPublic())
    return std::nullopt;
  FunctionType type = function.getFunctionType();
  // What a global becomes takes the place of what it was.
  if (FlatSymbolRefAttr global = getGlobalOfResult(function, result)) {
    for (unsigned argument = 0; argument < type.getNumInputs(); ++argument)
      if (getGlobalOfArgument(function, argument) == global)
        return argument;
    return std::nullopt;
  }
  auto isFit = [&](unsigned argument, unsigned candidate) {
    auto tensor = dyn_cast<RankedTensorType>(type.getResult(candidate));
    return tensor && type.getInput(argument) == tensor &&
           tensor.hasStaticShape() && !getGlobalOfResult(function, candidate);
  };
  auto getNamed = [&](unsigned argument) -> std::optional<unsigned> {
    auto named =
        function.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output");
    if (!named || named.getInt() < 0 ||
        named.getInt() >= type.getNumResults() ||
        !isFit(argument, static_cast<unsigned>(named.getInt())))
      return std::nullopt;
    return static_cast<unsigned>(named.getInt());
  };
  llvm::SmallDenseMap<unsigned, unsigned> taken;
  for (unsigned argument = 0; argument < type.getNumInputs(); ++argument)
    if (auto named = getNamed(argument))
      taken.try_emplace(*named, argument);
  // A donated argument goes to the first result that can use it.
  for (unsigned argument = 0; argument < type.getNumInputs(); ++argument) {
    auto donated =
        function.getArgAttrOfType<BoolAttr>(argument, "jax.buffer_donor");
    if (!donated || !donated.getValue() || getNamed(argument))
      continue;
    for (unsigned candidate = 0; candidate < type.getNumResults(); ++candidate)
      if (!taken.contains(candidate) && isFit(argument, candidate)) {
        taken[candidate] = argument;
        break;
      }
  }
  auto found = taken.find(result);
  if (found == taken.end())
    return std::nullopt;
  return found->second;
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
      return getAliasedArgument(callee, result.getResultNumber());
  return std::nullopt;
}

bool alula::schedule::isInvariant(Operation *whileOp, unsigned number) {
  Block &body = cast<stablehlo::WhileOp>(whileOp).getBody().front();
  Value value = body.getTerminator()->getOperand(number);
  while (auto barrier = value.getDefiningOp<stablehlo::OptimizationBarrierOp>())
    value = barrier.getOperand()[cast<OpResult>(value).getResultNumber()];
  return value == body.getArgument(number);
}
