// Makes a program with `?` dimensions static, as far as its arguments'
// shapes tell.
//
//   main(%n: constant, %x: tensor<?xf32>)  →  the same program on
//   tensor<4xf32>, with one copy of each function for each way it is called
//
// One pass forward from each public function: operands are refined before the
// ops that use them. Integers that are known on the way are remembered, sizes
// among them, so that dynamic ops find their shapes. Relies on verified ops
// and on arguments that input-refine-arguments has made static.

#include "compiler/input/integer_evaluator.h"
#include "compiler/input/result_shapes.h"
#include "compiler/input/static_forms.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/SaveAndRestore.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTREFINESHAPES
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-refine-shapes"

namespace {
constexpr StringLiteral wrapperTarget =
    "stablehlo.shape_refinement_operand_wrapper";
/// A program with more copies than this calls itself in ever new shapes.
constexpr unsigned maxSpecializations = 10000;
/// Blocks inside each other, those of called functions included, take room on
/// the machine's stack.
constexpr unsigned maxNesting = 1000;

/// How a function is called.
struct CallContext {
  SmallVector<Type> types;
  /// The constant for each argument that has one, null for others.
  SmallVector<DenseElementsAttr> constants;
};

/// A copy of a function for one context.
struct Specialization {
  func::FuncOp function;
  CallContext context;
  /// Results that don't depend on how the copy is run.
  SmallVector<DenseElementsAttr> results;
  bool isRefining = true;
};

class Refiner {
public:
  explicit Refiner(ModuleOp moduleOp)
      : module(moduleOp), symbols(moduleOp), rewriter(moduleOp.getContext()) {}

  LogicalResult run();

private:
  LogicalResult refineFunction(func::FuncOp function,
                               SmallVectorImpl<DenseElementsAttr> *results);
  LogicalResult refineBlock(Block &block);
  LogicalResult refineOp(Operation *op);
  LogicalResult refineCall(func::CallOp call);
  LogicalResult refineComposite(stablehlo::CompositeOp composite);
  LogicalResult refineWhile(stablehlo::WhileOp loop);
  LogicalResult refineBranches(Operation *op);
  /// Null after a diagnostic.
  Specialization *specialize(Operation *caller, func::FuncOp callee,
                             CallContext context);

  LogicalResult refineType(Operation *op, Value value, Type type);
  /// True if the function has anything to refine; a copy of one that has not
  /// would be the same again.
  bool needsRefining(func::FuncOp function);
  DenseElementsAttr known(Value value) const { return constants.lookup(value); }
  bool evaluate(Operation *op);
  /// Originals that only their copies replaced.
  void eraseUnused();
  /// Gives first copies the names of originals that are gone.
  void renameCopies();
  CallContext getContext(OperandRange operands);

  ModuleOp module;
  SymbolTable symbols;
  IRRewriter rewriter;
  llvm::DenseMap<Value, DenseElementsAttr> constants;
  llvm::DenseMap<func::FuncOp, SmallVector<std::unique_ptr<Specialization>>>
      specializations;
  /// The first copy of each function, and the function's name.
  SmallVector<std::pair<func::FuncOp, StringAttr>> firstCopies;
  unsigned numSpecializations = 0;
  /// The blocks that are being refined.
  unsigned nesting = 0;
  llvm::DenseMap<Operation *, bool> needs;
};

bool isDynamic(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getTypes(), isDynamic);
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && !shaped.hasStaticShape();
}

bool isEntry(func::FuncOp function) {
  return function.isPublic() && !function.isExternal();
}

/// True if leaving out a call of the function changes nothing.
bool isPure(func::FuncOp function) {
  return !function
              .walk([&](Operation *op) {
                bool isHarmless = op == function ||
                                  op->hasTrait<mlir::OpTrait::IsTerminator>() ||
                                  isMemoryEffectFree(op);
                return isHarmless ? WalkResult::advance()
                                  : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool Refiner::needsRefining(func::FuncOp function) {
  auto [entry, isNew] = needs.try_emplace(function, false);
  if (!isNew)
    return entry->second;
  WalkResult result = function.walk([&](Operation *op) {
    bool found = llvm::any_of(op->getResultTypes(), isDynamic);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), isDynamic);
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
      found |= call.getCallTargetName() == "shape_assertion" ||
               call.getCallTargetName() == wrapperTarget;
    FlatSymbolRefAttr callee;
    if (auto call = dyn_cast<func::CallOp>(op))
      callee = call.getCalleeAttr();
    if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
      callee = composite.getDecompositionAttr();
    if (callee)
      if (auto target = symbols.lookup<func::FuncOp>(callee.getAttr()))
        found |= needsRefining(target);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return needs[function] = result.wasInterrupted();
}

LogicalResult Refiner::run() {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (isEntry(function) && needsRefining(function) &&
        failed(refineFunction(function, nullptr)))
      return failure();
  eraseUnused();
  renameCopies();
  return success();
}

void Refiner::eraseUnused() {
  SmallVector<Operation *> used;
  llvm::DenseSet<Operation *> seen;
  for (Operation &op : *module.getBody())
    if (auto function = dyn_cast<func::FuncOp>(op);
        !function || !function.isPrivate()) {
      used.push_back(&op);
      seen.insert(&op);
    }
  while (!used.empty()) {
    auto uses = SymbolTable::getSymbolUses(used.pop_back_val());
    if (!uses)
      return;
    for (SymbolTable::SymbolUse use : *uses)
      if (Operation *callee =
              symbols.lookup(use.getSymbolRef().getRootReference());
          callee && seen.insert(callee).second)
        used.push_back(callee);
  }
  for (func::FuncOp function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (seen.contains(function))
      continue;
    llvm::erase_if(firstCopies,
                   [&](auto &copy) { return copy.first == function; });
    symbols.erase(function);
  }
}

void Refiner::renameCopies() {
  llvm::DenseMap<StringAttr, FlatSymbolRefAttr> names;
  for (auto &[copy, name] : firstCopies) {
    if (symbols.lookup(name))
      continue;
    names[copy.getSymNameAttr()] = FlatSymbolRefAttr::get(name);
    copy.setSymNameAttr(name);
  }
  module.walk([&](Operation *op) {
    auto rename = [&](auto user, FlatSymbolRefAttr callee, auto set) {
      if (auto name = names.lookup(callee.getAttr()))
        set(user, name);
    };
    if (auto call = dyn_cast<func::CallOp>(op))
      rename(call, call.getCalleeAttr(),
             [](auto user, auto name) { user.setCalleeAttr(name); });
    if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
      rename(composite, composite.getDecompositionAttr(),
             [](auto user, auto name) { user.setDecompositionAttr(name); });
  });
}

LogicalResult
Refiner::refineFunction(func::FuncOp function,
                        SmallVectorImpl<DenseElementsAttr> *results) {
  if (!function.getBody().hasOneBlock())
    return stablehlo::opError(function)
           << "function must have one block: has "
           << function.getBody().getBlocks().size();
  Block &block = function.getBody().front();
  if (failed(refineBlock(block)))
    return failure();
  Operation *terminator = block.getTerminator();
  function.setType(FunctionType::get(function.getContext(),
                                     block.getArgumentTypes(),
                                     terminator->getOperandTypes()));
  if (results)
    for (Value value : terminator->getOperands())
      results->push_back(known(value));
  return success();
}

LogicalResult Refiner::refineBlock(Block &block) {
  if (nesting == maxNesting)
    return stablehlo::opError(block.getParentOp())
           << "blocks must nest at most " << maxNesting
           << " deep, those of called functions included: block is deeper";
  llvm::SaveAndRestore<unsigned> deeper(nesting, nesting + 1);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(refineOp(&op)))
      return failure();
  // Arithmetic on shapes has done its part.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isOpTriviallyDead(&op))
      continue;
    // The next op may get this one's memory.
    for (Value result : op.getResults())
      constants.erase(result);
    rewriter.eraseOp(&op);
  }
  return success();
}

LogicalResult Refiner::refineType(Operation *op, Value value, Type type) {
  if (value.getType() == type)
    return success();
  // Knowledge is about shapes; elements stay what the program says.
  auto current = dyn_cast<ShapedType>(value.getType());
  auto next = dyn_cast<RankedTensorType>(type);
  if (!current || !next)
    return success();
  if (!current.hasRank()) {
    value.setType(next);
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return success();
  Type merged = stablehlo::mergeTypes(
      tensor, stablehlo::getTensorType(next.getShape(), tensor.getElementType(),
                                       stablehlo::getBounds(next)));
  if (!merged)
    return stablehlo::opError(op)
           << "inferred type contradicts the written one: " << type << " and "
           << value.getType();
  value.setType(merged);
  return success();
}

/// True if the op was a known integer; it is replaced by the constant then.
bool Refiner::evaluate(Operation *op) {
  if (op->getNumResults() != 1 ||
      (op->getNumRegions() != 0 && !isa<stablehlo::ReduceOp>(op)))
    return false;
  SmallVector<DenseElementsAttr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(known(operand));
  DenseElementsAttr value = evaluateIntegers(op, operands);
  if (!value)
    return false;
  if (isa<stablehlo::ConstantOp>(op)) {
    constants[op->getResult(0)] = value;
    return true;
  }
  rewriter.setInsertionPoint(op);
  auto constant = rewriter.create<stablehlo::ConstantOp>(
      op->getLoc(), value.getType(), value);
  constants[constant] = value;
  rewriter.replaceOp(op, constant);
  return true;
}

LogicalResult Refiner::refineOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return refineCall(call);
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return refineComposite(composite);
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return refineWhile(loop);
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return refineBranches(op);
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      call && call.getCallTargetName() == wrapperTarget) {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1)
      return stablehlo::opError(op)
             << "wrapper must have an operand and one result: has "
             << op->getNumOperands() << " and " << op->getNumResults();
    rewriter.replaceAllUsesWith(op->getResult(0), op->getOperand(0));
    rewriter.eraseOp(op);
    return success();
  }
  if (isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 1 &&
      op->getNumResults() == 1 &&
      stablehlo::areCompatibleTypes(op->getOperand(0).getType(),
                                    op->getResult(0).getType())) {
    rewriter.replaceOp(op, op->getOperands());
    return success();
  }
  if (evaluate(op))
    return success();
  auto knownValue = [&](Value value) { return known(value); };
  FailureOr<SmallVector<Type>> types = inferResultTypes(op, knownValue);
  if (failed(types))
    return failure();
  for (auto [value, type] : llvm::zip(op->getResults(), *types))
    if (failed(refineType(op, value, type)))
      return failure();
  // A type may have been all that was missing.
  if (!types->empty() && evaluate(op))
    return success();
  replaceByStaticForm(op, knownValue, rewriter);
  return success();
}

CallContext Refiner::getContext(OperandRange operands) {
  CallContext context;
  for (Value operand : operands) {
    context.types.push_back(operand.getType());
    context.constants.push_back(known(operand));
  }
  return context;
}

Specialization *Refiner::specialize(Operation *caller, func::FuncOp callee,
                                    CallContext context) {
  assert(context.types.size() == callee.getNumArguments() &&
         "callers are verified against their callees");
  auto &copies = specializations[callee];
  for (auto &copy : copies)
    if (copy->context.types == context.types &&
        copy->context.constants == context.constants) {
      if (!copy->isRefining)
        return copy.get();
      stablehlo::opError(caller)
          << "function must not call itself: " << callee.getSymName();
      return nullptr;
    }
  if (++numSpecializations > maxSpecializations) {
    stablehlo::opError(caller)
        << "functions must need at most " << maxSpecializations
        << " copies: " << callee.getSymName() << " is one more";
    return nullptr;
  }
  auto function = callee.clone();
  function.setPrivate();
  symbols.insert(function, std::next(Block::iterator(callee)));
  copies.push_back(std::make_unique<Specialization>(
      Specialization{function, std::move(context), {}}));
  Specialization *copy = copies.back().get();
  if (copies.size() == 1)
    firstCopies.push_back({function, callee.getSymNameAttr()});

  Block &block = function.getBody().front();
  for (auto [argument, type, value] :
       llvm::zip_equal(block.getArguments(), copy->context.types,
                       copy->context.constants)) {
    if (failed(refineType(caller, argument, type)))
      return nullptr;
    if (!value)
      continue;
    // The argument itself stays; what it says is written inside.
    rewriter.setInsertionPointToStart(&block);
    auto constant = rewriter.create<stablehlo::ConstantOp>(
        argument.getLoc(), value.getType(), value);
    constants[constant] = value;
    rewriter.replaceAllUsesWith(argument, constant);
  }
  if (failed(refineFunction(function, &copy->results)))
    return nullptr;
  copy->isRefining = false;
  return copy;
}

LogicalResult Refiner::refineCall(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  assert(callee && "calls are verified to name a function");
  // A static function is worth a copy where it computes numbers that may be
  // sizes.
  bool isArithmetic = llvm::any_of(call.getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() <= 1 &&
           tensor.getElementType().isIntOrIndex();
  });
  if (callee.isExternal() || (!needsRefining(callee) && !isArithmetic))
    return success();
  Specialization *copy =
      specialize(call, callee, getContext(call.getOperands()));
  if (!copy)
    return failure();
  // Constant arguments are written in the copy already.
  llvm::BitVector dropped(call.getNumOperands());
  for (auto [index, value] : llvm::enumerate(copy->context.constants))
    if (value)
      dropped.set(static_cast<unsigned>(index));
  if (copy->function.getNumArguments() == call.getNumOperands() &&
      dropped.any())
    copy->function.eraseArguments(dropped);
  call->eraseOperands(dropped);
  call.setCallee(copy->function.getSymName());
  rewriter.setInsertionPointAfter(call);
  for (auto [result, type, value] : llvm::zip(
           call.getResults(), copy->function.getResultTypes(), copy->results)) {
    result.setType(type);
    if (!value)
      continue;
    auto constant = rewriter.create<stablehlo::ConstantOp>(
        call.getLoc(), value.getType(), value);
    constants[constant] = value;
    rewriter.replaceAllUsesWith(result, constant);
  }
  if (call.use_empty() && isPure(copy->function))
    rewriter.eraseOp(call);
  return success();
}

LogicalResult Refiner::refineComposite(stablehlo::CompositeOp composite) {
  auto callee = symbols.lookup<func::FuncOp>(composite.getDecomposition());
  if (!callee || callee.isExternal() || !needsRefining(callee))
    return success();
  // The name has a meaning for all of its operands, so none is dropped.
  CallContext context = getContext(composite->getOperands());
  context.constants.assign(context.types.size(), nullptr);
  Specialization *copy = specialize(composite, callee, std::move(context));
  if (!copy)
    return failure();
  composite.setDecomposition(copy->function.getSymName());
  for (auto [result, type] :
       llvm::zip(composite->getResults(), copy->function.getResultTypes()))
    result.setType(type);
  return success();
}

LogicalResult Refiner::refineWhile(stablehlo::WhileOp loop) {
  for (Region *region : {&loop.getCond(), &loop.getBody()}) {
    Block &block = region->front();
    for (auto [argument, operand] :
         llvm::zip_equal(block.getArguments(), loop.getOperand()))
      if (failed(refineType(loop, argument, operand.getType())))
        return failure();
    if (failed(refineBlock(block)))
      return failure();
  }
  Operation *terminator = loop.getBody().front().getTerminator();
  for (auto [index, operand, returned, result] : llvm::enumerate(
           loop.getOperand(), terminator->getOperands(), loop.getResults())) {
    if (!stablehlo::areCompatibleTypes(operand.getType(), returned.getType()))
      return stablehlo::opError(loop)
             << "carried value must keep its type: value " << index << " is "
             << operand.getType() << ", then " << returned.getType();
    if (failed(refineType(loop, result, operand.getType())))
      return failure();
  }
  return success();
}

LogicalResult Refiner::refineBranches(Operation *op) {
  for (Region &region : op->getRegions())
    if (failed(refineBlock(region.front())))
      return failure();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Type merged;
    for (Region &region : op->getRegions()) {
      Type type = region.front().getTerminator()->getOperand(index).getType();
      Type next = merged ? stablehlo::mergeTypes(merged, type) : type;
      if (!next)
        return stablehlo::opError(op)
               << "branches must give compatible types: result " << index
               << " is " << merged << " and " << type;
      merged = next;
    }
    if (merged && failed(refineType(op, result, merged)))
      return failure();
  }
  return success();
}

struct RefineShapes : alula::input::impl::InputRefineShapesBase<RefineShapes> {
  void runOnOperation() override {
    if (failed(Refiner(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
