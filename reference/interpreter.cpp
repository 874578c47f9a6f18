#include "reference/interpreter.h"

#include "reference/op_table.h"
#include "reference/probe.h"
#include "reference/process.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

#include <cstring>

using namespace mlir;

namespace alula::reference {
namespace {

Program makeProgram(const EvalOptions &options) {
  auto budget = std::make_shared<MemoryBudget>();
  budget->limit = options.maxBytes;
  return Program(options, std::move(budget), OpTable::get(),
                 std::make_shared<ProbeState>());
}

void addSymbols(Program &program, Operation *inside) {
  auto module = inside->getParentOfType<ModuleOp>();
  if (!module)
    return;
  for (Operation &op : *module.getBody())
    if (auto name = op.getAttrOfType<StringAttr>(
            SymbolTable::getSymbolAttrName()))
      program.symbols[name.getValue()] = &op;
}

bool agree(Type type, const Value &value) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    if (!value.isTuple() || value.getElements().size() != tuple.size())
      return false;
    for (auto [element, part] :
         llvm::zip(tuple.getTypes(), value.getElements()))
      if (!agree(element, part))
        return false;
    return true;
  }
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped)
    return value.isToken();
  if (!value.isTensor())
    return false;
  const Tensor &tensor = value.getTensor();
  if (getKind(shaped.getElementType()) != tensor.getKind() ||
      shaped.getRank() != tensor.getRank())
    return false;
  for (int64_t d = 0; d < tensor.getRank(); ++d)
    if (!shaped.isDynamicDim(unsigned(d)) &&
        shaped.getDimSize(unsigned(d)) != tensor.getDim(size_t(d)))
      return false;
  return true;
}

/// Inputs must be what the function takes; open dimensions take anything.
LogicalResult checkInputs(func::FuncOp function,
                          llvm::ArrayRef<Value> inputs) {
  if (function.isExternal())
    return function.emitOpError() << "has no body to run";
  if (inputs.size() != function.getNumArguments())
    return function.emitOpError() << "takes " << function.getNumArguments()
                                  << " inputs, got " << inputs.size();
  for (auto [k, input] : llvm::enumerate(inputs)) {
    Type type = function.getArgumentTypes()[k];
    if (agree(type, input))
      continue;
    auto error = function.emitOpError();
    error << "input " << k << " must be " << type << ", it is ";
    if (input.isTensor())
      error << RankedTensorType::get(input.getTensor().getDims(),
                                     input.getTensor().getElementType());
    else
      error << "no tensor";
    return error;
  }
  return success();
}

} // namespace

FailureOr<std::vector<std::vector<Value>>>
evalOnGrid(func::FuncOp function, llvm::ArrayRef<std::vector<Value>> inputs,
           const EvalOptions &options) {
  size_t count = size_t(options.numReplicas) * options.numPartitions;
  if (count == 0 || count > 1024)
    return function.emitOpError()
           << "a grid has 1 to 1024 processes, this has " << count;
  if (inputs.size() != count)
    return function.emitOpError() << "needs inputs for " << count
                                  << " processes, got " << inputs.size();
  for (const std::vector<Value> &values : inputs)
    if (failed(checkInputs(function, values)))
      return failure();
  Program program = makeProgram(options);
  addSymbols(program, function);
  Grid grid(options.numReplicas, options.numPartitions);
  std::vector<std::vector<Value>> results(count);
  auto runOne = [&](Process &process) {
    size_t index =
        size_t(process.id.replica) * grid.partitions + process.id.partition;
    Evaluator evaluator(program, &process);
    return succeeded(evaluator.callFunction(function, function, inputs[index],
                                            results[index]));
  };
  if (count == 1) {
    // No thread for the usual case.
    Process process(grid, {});
    if (!runOne(process))
      return failure();
    return results;
  }
  if (!grid.run(runOne))
    return failure();
  return results;
}

FailureOr<std::vector<Value>> evalFunction(func::FuncOp function,
                                           llvm::ArrayRef<Value> inputs,
                                           const EvalOptions &options) {
  if (options.numReplicas != 1 || options.numPartitions != 1)
    return function.emitOpError() << "a grid of processes has more than one "
                                     "list of results: use evalOnGrid";
  FailureOr<std::vector<std::vector<Value>>> results =
      evalOnGrid(function, {inputs.vec()}, options);
  if (failed(results))
    return failure();
  return std::move(results->front());
}

std::optional<std::vector<ElementsAttr>>
foldOp(Operation *op, llvm::ArrayRef<ElementsAttr> operands,
       const EvalOptions &options) {
  const OpEntry *entry = OpTable::get().find(op->getName().getStringRef());
  if (!entry || !entry->pure || op->hasTrait<OpTrait::IsTerminator>())
    return std::nullopt;
  WalkResult regions = op->walk([&](Operation *nested) {
    if (nested == op || nested->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    const OpEntry *known =
        OpTable::get().find(nested->getName().getStringRef());
    return known && known->pure ? WalkResult::advance()
                                : WalkResult::interrupt();
  });
  if (regions.wasInterrupted())
    return std::nullopt;
  Program program = makeProgram(options);
  addSymbols(program, op);
  Grid grid(1, 1);
  Process process(grid, {});
  Evaluator evaluator(program, &process);
  // A folder that cannot fold says nothing.
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  std::vector<Value> inputs, results;
  for (auto [operand, attribute] :
       llvm::zip_equal(op->getOperands(), operands)) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    std::optional<Tensor> tensor =
        type ? tensorFromAttribute(attribute, type.getElementType(),
                                   program.budget)
             : std::nullopt;
    if (!tensor)
      return std::nullopt;
    inputs.emplace_back(std::move(*tensor));
  }
  Scope scope;
  if (failed(evaluator.runOp(op, inputs, scope, results)))
    return std::nullopt;
  std::vector<ElementsAttr> attributes;
  for (const Value &result : results) {
    ElementsAttr attribute =
        result.isTensor() ? attributeFromTensor(result.getTensor()) : nullptr;
    if (!attribute)
      return std::nullopt;
    attributes.push_back(attribute);
  }
  return attributes;
}

std::optional<Tensor> makeTensor(Type elementType,
                                 llvm::ArrayRef<int64_t> dims,
                                 llvm::ArrayRef<uint8_t> bytes) {
  std::optional<Tensor> tensor = Tensor::create(
      elementType, dims, std::make_shared<MemoryBudget>());
  if (!tensor || tensor->getByteSize() != bytes.size())
    return std::nullopt;
  std::memcpy(tensor->getMutableData(), bytes.data(), bytes.size());
  return tensor;
}

} // namespace alula::reference
