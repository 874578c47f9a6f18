#include "reference/scalar_body.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace alula::reference {
namespace {

/// The kind of a value that is one element; none for everything else.
std::optional<Kind> getScalarKind(mlir::Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || isQuantized(type.getElementType()))
    return std::nullopt;
  for (int64_t dim : type.getShape())
    if (dim != 1)
      return std::nullopt;
  return getKind(type.getElementType());
}

} // namespace

unsigned ScalarBody::addRegister(Kind kind) {
  registerKinds.push_back(kind);
  cells.resize(registerKinds.size() * laneCount);
  return unsigned(registerKinds.size() - 1);
}

unsigned ScalarBody::addConstant(Kind kind, const Cell &cell) {
  unsigned at = addRegister(kind);
  std::fill_n(cells.begin() + at * laneCount, laneCount, cell);
  return at;
}

bool ScalarBody::compileOp(Operation &op,
                           llvm::DenseMap<mlir::Value, unsigned> &registers,
                           const Scope *outer, unsigned nesting) {
  llvm::SmallVector<unsigned, 4> operands;
  llvm::SmallVector<Kind, 4> kinds;
  for (mlir::Value operand : op.getOperands()) {
    auto it = registers.find(operand);
    if (it == registers.end()) {
      // Captured from around the region: a constant as far as it can see.
      const Value *value = outer ? outer->find(operand) : nullptr;
      if (!value || !value->isTensor() || value->getTensor().getSize() != 1 ||
          !getScalarKind(operand))
        return false;
      unsigned at = addConstant(value->getTensor().getKind(),
                                value->getTensor().getCell(0));
      it = registers.try_emplace(operand, at).first;
    }
    operands.push_back(it->second);
    kinds.push_back(registerKinds[it->second]);
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto symbol = evaluator->program.symbols.find(call.getCallee());
    if (symbol == evaluator->program.symbols.end() || nesting > 8)
      return false;
    auto callee = dyn_cast<func::FuncOp>(symbol->second);
    if (!callee || !callee.getBody().hasOneBlock())
      return false;
    llvm::SmallVector<unsigned> results;
    if (!compile(callee.getBody().front(), operands, nullptr, results,
                 nesting + 1) ||
        results.size() != op.getNumResults())
      return false;
    for (auto [result, at] : llvm::zip(op.getResults(), results))
      registers[result] = at;
    return true;
  }
  if (op.getName().getDialectNamespace() != "stablehlo" ||
      op.getNumRegions() != 0)
    return false;
  llvm::StringRef name = op.getName().stripDialect();
  if (name == "optimization_barrier") {
    for (auto [result, at] : llvm::zip(op.getResults(), operands))
      registers[result] = at;
    return true;
  }
  if (op.getNumResults() != 1)
    return false;
  std::optional<Kind> kind = getScalarKind(op.getResult(0));
  if (!kind)
    return false;
  if (name == "constant") {
    auto value = op.getAttrOfType<ElementsAttr>("value");
    if (!value)
      return false;
    FailureOr<Tensor> tensor = evaluator->getConstant(
        &op, value,
        cast<ShapedType>(op.getResult(0).getType()).getElementType());
    if (failed(tensor))
      return false;
    registers[op.getResult(0)] = addConstant(*kind, tensor->getCell(0));
    return true;
  }
  if (name == "reshape" || name == "broadcast_in_dim" || name == "transpose") {
    registers[op.getResult(0)] = operands[0];
    return true;
  }
  if (operands.empty() || operands.size() > 3)
    return false;
  std::optional<LaneStep> lane = findLaneStep(&op, kinds, *kind);
  if (!lane)
    return false;
  Step step{*lane, {0, 0, 0}, addRegister(*kind), *kind};
  std::copy(operands.begin(), operands.end(), step.operands);
  steps.push_back(step);
  registers[op.getResult(0)] = step.result;
  return true;
}

bool ScalarBody::compile(Block &block, llvm::ArrayRef<unsigned> arguments,
                         const Scope *outer,
                         llvm::SmallVectorImpl<unsigned> &results,
                         unsigned nesting) {
  if (block.getNumArguments() != arguments.size())
    return false;
  llvm::DenseMap<mlir::Value, unsigned> registers;
  for (auto [argument, at] : llvm::zip(block.getArguments(), arguments))
    registers[argument] = at;
  for (Operation &op : block) {
    if (!op.hasTrait<OpTrait::IsTerminator>()) {
      if (!compileOp(op, registers, outer, nesting))
        return false;
      continue;
    }
    for (mlir::Value operand : op.getOperands()) {
      auto it = registers.find(operand);
      if (it != registers.end()) {
        results.push_back(it->second);
        continue;
      }
      const Value *value = outer ? outer->find(operand) : nullptr;
      if (!value || !value->isTensor() || value->getTensor().getSize() != 1)
        return false;
      results.push_back(addConstant(value->getTensor().getKind(),
                                    value->getTensor().getCell(0)));
    }
    return true;
  }
  return false;
}

FailureOr<ScalarBody> ScalarBody::prepare(const OpCall &call,
                                          Region &region) {
  ScalarBody body;
  body.evaluator = &call.evaluator;
  body.owner = call.op;
  body.region = &region;
  body.scope = &call.scope;
  if (!region.hasOneBlock() || region.front().empty())
    return call.error() << "the region must have one block with a terminator";
  Block &block = region.front();
  auto read = [&](mlir::Value value, llvm::SmallVectorImpl<Kind> &kinds,
                  llvm::SmallVectorImpl<Type> &types) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    std::optional<Kind> kind =
        type && type.getRank() == 0 ? getKind(type.getElementType())
                                    : std::nullopt;
    if (!kind)
      return call.error() << "the region must compute on scalars, it has "
                          << value.getType();
    kinds.push_back(*kind);
    types.push_back(type.getElementType());
    return success();
  };
  for (mlir::Value argument : block.getArguments())
    if (failed(read(argument, body.argumentKinds, body.argumentTypes)))
      return failure();
  for (mlir::Value result : block.back().getOperands())
    if (failed(read(result, body.resultKinds, body.resultTypes)))
      return failure();
  llvm::SmallVector<unsigned> arguments;
  bool plain = true;
  for (auto [kind, type] : llvm::zip(body.argumentKinds, body.argumentTypes)) {
    arguments.push_back(body.addRegister(kind));
    plain &= !isQuantized(type);
  }
  body.compiled = plain && body.compile(block, arguments, body.scope,
                                        body.resultRegisters, 0);
  if (!body.compiled) {
    body.steps.clear();
    return body;
  }
  if (body.steps.size() == 1 && body.resultRegisters.size() == 1) {
    const Step &step = body.steps.front();
    bool both = (step.operands[0] == 0 && step.operands[1] == 1) ||
                (step.operands[0] == 1 && step.operands[1] == 0);
    body.floatSum =
        both && body.resultRegisters[0] == step.result &&
        (isFloat(step.kind) || isComplex(step.kind)) &&
        step.lane.function == findLaneFunction("add", step.kind);
  }
  return body;
}

LogicalResult ScalarBody::run(size_t n,
                              llvm::ArrayRef<const Cell *> arguments,
                              llvm::ArrayRef<Cell *> results) {
  if (!compiled)
    return interpret(n, arguments, results);
  for (size_t k = 0; k < arguments.size(); ++k)
    std::copy_n(arguments[k], n, cells.data() + k * laneCount);
  for (const Step &step : steps) {
    const Cell *operands[3] = {cells.data() + step.operands[0] * laneCount,
                               cells.data() + step.operands[1] * laneCount,
                               cells.data() + step.operands[2] * laneCount};
    Cell *result = cells.data() + step.result * laneCount;
    step.lane.function(operands, result, n, step.lane.info);
    if (!wide)
      roundTo(step.kind, result, n);
  }
  for (size_t k = 0; k < results.size(); ++k)
    std::copy_n(cells.data() + resultRegisters[k] * laneCount, n, results[k]);
  return success();
}

LogicalResult ScalarBody::interpret(size_t n,
                                    llvm::ArrayRef<const Cell *> arguments,
                                    llvm::ArrayRef<Cell *> results) {
  for (size_t lane = 0; lane < n; ++lane) {
    std::vector<Value> inputs, outputs;
    for (size_t k = 0; k < arguments.size(); ++k) {
      std::optional<Tensor> tensor = Tensor::create(
          argumentTypes[k], {}, evaluator->program.budget);
      if (!tensor)
        return reportAt(owner) << Tensor::describeFailure(
                   argumentTypes[k], {}, *evaluator->program.budget);
      tensor->setCell(0, arguments[k][lane]);
      inputs.emplace_back(std::move(*tensor));
    }
    if (failed(evaluator->runRegion(owner, *region, inputs, scope, outputs)))
      return failure();
    if (outputs.size() != results.size())
      return reportAt(owner) << "the region must give " << results.size()
                             << " results, it gives " << outputs.size();
    for (size_t k = 0; k < results.size(); ++k)
      results[k][lane] = outputs[k].getTensor().getCell(0);
  }
  return success();
}

} // namespace alula::reference
