#include "reference/evaluator.h"

#include "reference/op_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace alula::reference {

InFlightDiagnostic reportAt(Operation *op) { return op->emitOpError(); }

const Value *Scope::find(mlir::Value value) const {
  for (const Scope *scope = this; scope; scope = scope->parent) {
    auto it = scope->values.find(value);
    if (it != scope->values.end())
      return &it->second;
  }
  return nullptr;
}

InFlightDiagnostic OpCall::error() const { return reportAt(op); }

bool OpCall::getWide() const {
  return evaluator.program.options.wideSums;
}

LogicalResult OpCall::charge(int64_t a, int64_t b, int64_t c) const {
  int64_t work;
  if (llvm::MulOverflow(a, b, work) || llvm::MulOverflow(work, c, work))
    work = INT64_MAX;
  return evaluator.charge(op, work);
}

FailureOr<Tensor> OpCall::newTensor(Type elementType,
                                    llvm::ArrayRef<int64_t> dims) const {
  std::optional<Tensor> tensor =
      Tensor::create(elementType, dims, evaluator.program.budget);
  if (!tensor) {
    error() << Tensor::describeFailure(elementType, dims,
                                       *evaluator.program.budget);
    return failure();
  }
  return std::move(*tensor);
}

llvm::SmallVector<int64_t> OpCall::getInts(llvm::StringRef name, size_t count,
                                           int64_t missing) const {
  Attribute attribute = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return llvm::to_vector(array.asArrayRef());
  llvm::SmallVector<int64_t> values;
  if (auto array = dyn_cast_or_null<DenseBoolArrayAttr>(attribute)) {
    values.append(array.asArrayRef().begin(), array.asArrayRef().end());
    return values;
  }
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      values.push_back(value.getSExtValue());
    return values;
  }
  values.assign(count, missing);
  return values;
}

int64_t OpCall::getInt(llvm::StringRef name, int64_t missing) const {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getValue().getSExtValue() : missing;
}

bool OpCall::getFlag(llvm::StringRef name) const {
  Attribute attribute = op->getAttr(name);
  if (auto flag = dyn_cast_or_null<BoolAttr>(attribute))
    return flag.getValue();
  return isa_and_nonnull<UnitAttr>(attribute);
}

llvm::SmallVector<std::pair<int64_t, int64_t>>
OpCall::getPairs(llvm::StringRef name, size_t count) const {
  llvm::SmallVector<int64_t> flat = getInts(name, 2 * count, 0);
  llvm::SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (size_t k = 0; k + 1 < flat.size(); k += 2)
    pairs.emplace_back(flat[k], flat[k + 1]);
  return pairs;
}

LogicalResult Evaluator::charge(Operation *op, int64_t work) {
  int64_t limit = program.options.maxSteps;
  int64_t before = program.steps.load(std::memory_order_relaxed);
  int64_t after;
  if (llvm::AddOverflow(before, work, after) || after > limit)
    return reportAt(op) << "the program needs more than " << limit
                        << " steps, the limit";
  program.steps.store(after, std::memory_order_relaxed);
  if (program.options.cancel && program.options.cancel->load())
    return reportAt(op) << "cancelled";
  return success();
}

Operation *Evaluator::findFunction(Operation *user, llvm::StringRef name) {
  auto it = program.symbols.find(name);
  if (it != program.symbols.end())
    return it->second;
  reportAt(user) << "no function @" << name << " in this module";
  return nullptr;
}

LogicalResult Evaluator::callFunction(Operation *caller, Operation *callee,
                                      llvm::ArrayRef<Value> arguments,
                                      std::vector<Value> &results) {
  auto function = dyn_cast<func::FuncOp>(callee);
  if (!function)
    return reportAt(caller) << "calls " << callee->getName()
                            << ", which is no func.func";
  if (function.isExternal())
    return reportAt(caller)
           << "calls @" << function.getName() << ", which has no body";
  return runRegion(caller, function.getBody(), arguments, /*scope=*/nullptr,
                   results);
}

LogicalResult Evaluator::runRegion(Operation *owner, Region &region,
                                   llvm::ArrayRef<Value> arguments,
                                   const Scope *parent,
                                   std::vector<Value> &results) {
  if (!region.hasOneBlock())
    return reportAt(owner) << "a region to run must have one block, it has "
                           << region.getBlocks().size();
  Block &block = region.front();
  if (block.getNumArguments() != arguments.size())
    return reportAt(owner) << "the region takes " << block.getNumArguments()
                           << " arguments, got " << arguments.size();
  if (depth >= program.options.maxDepth)
    return reportAt(owner) << "calls and regions are nested deeper than "
                           << program.options.maxDepth;
  ++depth;
  auto leave = llvm::make_scope_exit([&] { --depth; });
  Scope scope;
  scope.parent = parent;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    scope.values.try_emplace(argument, value);
  llvm::SmallVector<Value, 4> operands;
  std::vector<Value> produced;
  for (Operation &op : block) {
    operands.clear();
    for (mlir::Value operand : op.getOperands()) {
      const Value *value = scope.find(operand);
      if (!value)
        return reportAt(&op) << "uses a value that has not been computed";
      operands.push_back(*value);
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      results.assign(operands.begin(), operands.end());
      return success();
    }
    produced.clear();
    if (failed(runOp(&op, operands, scope, produced)))
      return failure();
    for (auto [result, value] : llvm::zip(op.getResults(), produced))
      scope.values.insert_or_assign(result, std::move(value));
  }
  results.clear();
  return success();
}

namespace {

bool hasQuantizedType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && isQuantized(shaped.getElementType());
}

/// What came out must be what the op's type promises.
LogicalResult checkResult(Operation *op, unsigned k, const Value &value) {
  Type type = op->getResult(k).getType();
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped) {
    return success();
  }
  if (!value.isTensor())
    return reportAt(op) << "result " << k << " is no tensor, its type is "
                        << type;
  const Tensor &tensor = value.getTensor();
  bool agrees = tensor.getRank() == shaped.getRank() &&
                getKind(shaped.getElementType()) == tensor.getKind();
  for (int64_t d = 0; agrees && d < tensor.getRank(); ++d)
    agrees = shaped.isDynamicDim(unsigned(d)) ||
             shaped.getDimSize(unsigned(d)) == tensor.getDim(size_t(d));
  if (agrees)
    return success();
  return reportAt(op) << "result " << k << " has type " << type
                      << " but the value is "
                      << RankedTensorType::get(tensor.getDims(),
                                               tensor.getElementType());
}

} // namespace

LogicalResult Evaluator::runOp(Operation *op, llvm::ArrayRef<Value> operands,
                               const Scope &scope,
                               std::vector<Value> &results) {
  const OpEntry *&entry =
      program.entries[op->getName().getAsOpaquePointer()];
  if (!entry)
    entry = program.table.find(op->getName().getStringRef());
  if (!entry)
    return reportAt(op) << "the reference does not know this op";
  if (failed(charge(op, 1)))
    return failure();
  llvm::SmallVector<Type, 2> types(op->getResultTypes());
  const OpEntry known = *entry;
  bool wrap =
      known.quantized == Quantized::Dequantized &&
      (llvm::any_of(op->getOperandTypes(), hasQuantizedType) ||
       llvm::any_of(op->getResultTypes(), hasQuantizedType));
  if (!wrap) {
    OpCall call(*this, op, scope, operands, types, results);
    if (failed(known.handler(call)))
      return failure();
  } else {
    llvm::SmallVector<Value, 4> real(operands);
    OpCall call(*this, op, scope, real, types, results);
    for (auto [k, value] : llvm::enumerate(real))
      if (value.isTensor() && isQuantized(value.getTensor().getElementType())) {
        FailureOr<Tensor> plain = dequantize(call, value.getTensor());
        if (failed(plain))
          return failure();
        value = *plain;
      }
    for (Type &type : types)
      if (hasQuantizedType(type)) {
        auto shaped = cast<ShapedType>(type);
        type = RankedTensorType::get(
            shaped.getShape(), getExpressedType(shaped.getElementType()));
      }
    if (failed(known.handler(call)))
      return failure();
    for (auto [k, value] : llvm::enumerate(results))
      if (hasQuantizedType(op->getResult(unsigned(k)).getType())) {
        Type target =
            cast<ShapedType>(op->getResult(unsigned(k)).getType())
                .getElementType();
        FailureOr<Tensor> stored = quantize(call, value.getTensor(), target);
        if (failed(stored))
          return failure();
        value = *stored;
      }
  }
  if (results.size() != op->getNumResults())
    return reportAt(op) << "computed " << results.size() << " results of "
                        << op->getNumResults();
  for (unsigned k = 0; k < results.size(); ++k)
    if (failed(checkResult(op, k, results[k])))
      return failure();
  return success();
}

FailureOr<Tensor> Evaluator::getConstant(Operation *op,
                                         ElementsAttr attribute,
                                         Type elementType) {
  bool same = cast<ShapedType>(attribute.getType()).getElementType() ==
              elementType;
  if (same) {
    auto it = program.constants.find(attribute);
    if (it != program.constants.end())
      return it->second;
  }
  std::optional<Tensor> tensor =
      tensorFromAttribute(attribute, elementType, program.budget);
  if (!tensor) {
    auto type = cast<ShapedType>(attribute.getType());
    std::optional<int64_t> size = getNumElements(type.getShape());
    if (!size || *size > program.budget->limit / 16)
      reportAt(op) << Tensor::describeFailure(elementType, type.getShape(),
                                              *program.budget);
    else
      reportAt(op) << "cannot read the constant as " << elementType;
    return failure();
  }
  if (same)
    program.constants.try_emplace(attribute, *tensor);
  return *tensor;
}

} // namespace alula::reference
