// Says globals in values: a function that touches them takes their old values
// as its last arguments and gives new ones as its last results.
//
//   ml_program.global private mutable @"g"(dense<0> : tensor<i32>) :
//   tensor<i32> func @f() { %0 = global_load @"g" … global_store @"g" = %1 } →
//   func @f(%0: tensor<i32> {alula.global = @"g"})
//          -> (tensor<i32> {alula.global = @"g"})
//
// So a load is a snapshot, and what a call stores shows at its end, all at
// once. What is initialised and never changes becomes a constant. Entries keep
// the attribute, by which the schedule room knows whose memory it is.

#include "dialect/stablehlo/device_counts.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERGLOBALS
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using ml_program::GlobalOp;

#define DEBUG_TYPE "input-lower-globals"

namespace {
constexpr StringLiteral attributeName = "alula.global";

/// Globals by name, in the order of the module.
using Names = llvm::SmallSetVector<StringAttr, 4>;
using Values = llvm::DenseMap<StringAttr, Value>;

struct Touched {
  Names read, stored;
  bool isKnown = false;
};

class GlobalLowering {
public:
  explicit GlobalLowering(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult checkGlobal(GlobalOp global);
  LogicalResult checkOps();
  const Touched &find(func::FuncOp function);
  void addTouched(Operation *op, Touched &touched);
  /// What is stored inside an op, calls included.
  Names findStored(Operation *op);
  /// Those of a function that have to be handed over: read or stored.
  SmallVector<StringAttr> getTaken(const Touched &touched);
  SmallVector<StringAttr> getGiven(const Touched &touched) {
    return sort(touched.stored);
  }
  SmallVector<StringAttr> sort(const Names &names);

  LogicalResult lower(func::FuncOp function);
  LogicalResult lower(Block &block, Values &current);
  LogicalResult lower(Operation *op, Values &current);
  void lowerCall(func::CallOp call, func::FuncOp callee, Values &current);
  LogicalResult lowerBranches(Operation *op, ArrayRef<StringAttr> stored,
                              Values &current);
  LogicalResult lowerLoop(Operation *op, ArrayRef<StringAttr> stored,
                          Values &current);
  /// The op again, with more operands and results; its regions move over.
  Operation *rebuild(Operation *op, ArrayRef<StringAttr> stored,
                     ValueRange operands, Values &current);

  func::FuncOp getCallee(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    return call ? symbols.lookup<func::FuncOp>(call.getCallee())
                : func::FuncOp();
  }
  bool isConstant(GlobalOp global) {
    return !global.getIsMutable() &&
           isa_and_nonnull<ElementsAttr>(global.getValue().value_or(nullptr));
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  llvm::MapVector<StringAttr, GlobalOp> globals;
  llvm::DenseMap<StringAttr, size_t> numbers;
  llvm::DenseMap<Operation *, Touched> touchedBy;
};

LogicalResult GlobalLowering::run() {
  for (auto global : module.getOps<GlobalOp>()) {
    if (failed(checkGlobal(global)))
      return failure();
    numbers[global.getSymNameAttr()] = globals.size();
    globals[global.getSymNameAttr()] = global;
    // They are the artifact's, whether a function touches them or not.
    global.setSymVisibilityAttr(nullptr);
  }
  if (failed(checkOps()))
    return failure();
  if (globals.empty())
    return success();
  for (auto [name, count] : {std::pair(stablehlo::partitionCountName,
                                       stablehlo::getPartitionCount(module)),
                             std::pair(stablehlo::replicaCountName,
                                       stablehlo::getReplicaCount(module))})
    if (count > 1)
      return stablehlo::opError(globals.front().second)
             << "programs with globals must run on one device: " << name
             << " is " << count;
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    find(function);
  for (func::FuncOp function : functions)
    if (!function.isExternal() && failed(lower(function)))
      return failure();
  return success();
}

LogicalResult GlobalLowering::checkGlobal(GlobalOp global) {
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!type || !type.hasStaticShape())
    return stablehlo::opError(global)
           << "type must be a tensor of static shape: @" << global.getSymName()
           << " is " << global.getType();
  Attribute value = global.getValue().value_or(nullptr);
  if (!value || isa<ml_program::ExternAttr>(value))
    return success();
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return stablehlo::opError(global)
           << "initial value must have the global's type: @"
           << global.getSymName() << " is " << type;
  return success();
}

// That types fit and stores are to what is mutable, MLIR has verified.
LogicalResult GlobalLowering::checkOps() {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op)
                                                           -> WalkResult {
    if (op->getDialect() !=
        module.getContext()->getLoadedDialect<ml_program::MLProgramDialect>())
      return WalkResult::advance();
    if (isa<GlobalOp>(op) && op->getParentOp() == module)
      return WalkResult::advance();
    SymbolRefAttr name;
    if (isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp,
            ml_program::GlobalStoreOp>(op))
      name = op->getAttrOfType<SymbolRefAttr>("global");
    if (!name || !isa<FlatSymbolRefAttr>(name) ||
        !globals.count(name.getRootReference()) ||
        !op->getParentOfType<func::FuncOp>()) {
      stablehlo::opError(op) << "no native code: of ml_program there are "
                                "globals of the module, their loads and "
                                "stores in functions";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

// ---- What touches what ----

void GlobalLowering::addTouched(Operation *op, Touched &touched) {
  op->walk([&](Operation *inner) {
    if (isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(inner)) {
      StringAttr name =
          inner->getAttrOfType<SymbolRefAttr>("global").getRootReference();
      if (!isConstant(globals.lookup(name)))
        touched.read.insert(name);
    } else if (auto store = dyn_cast<ml_program::GlobalStoreOp>(inner)) {
      touched.stored.insert(store.getGlobal().getRootReference());
    } else if (func::FuncOp callee = getCallee(inner)) {
      // A copy: the table may grow.
      Touched other = find(callee);
      touched.read.insert(other.read.begin(), other.read.end());
      touched.stored.insert(other.stored.begin(), other.stored.end());
    }
  });
}

const Touched &GlobalLowering::find(func::FuncOp function) {
  if (touchedBy[function].isKnown)
    return touchedBy[function];
  // Functions that call themselves are an error later on.
  touchedBy[function].isKnown = true;
  Touched touched;
  touched.isKnown = true;
  addTouched(function, touched);
  return touchedBy[function] = touched;
}

Names GlobalLowering::findStored(Operation *op) {
  Touched touched;
  addTouched(op, touched);
  return touched.stored;
}

SmallVector<StringAttr> GlobalLowering::sort(const Names &names) {
  SmallVector<StringAttr> sorted(names.begin(), names.end());
  llvm::sort(sorted, [&](StringAttr a, StringAttr b) {
    return numbers.lookup(a) < numbers.lookup(b);
  });
  return sorted;
}

SmallVector<StringAttr> GlobalLowering::getTaken(const Touched &touched) {
  Names all = touched.read;
  all.insert(touched.stored.begin(), touched.stored.end());
  return sort(all);
}

// ---- Functions ----

LogicalResult GlobalLowering::lower(func::FuncOp function) {
  const Touched &touched = find(function);
  SmallVector<StringAttr> taken = getTaken(touched);
  SmallVector<StringAttr> given = getGiven(touched);
  if (!function.getBody().hasOneBlock())
    return success();
  // All at once: one after the other, each would make a list of all.
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  auto describe = [&](ArrayRef<StringAttr> names) {
    types.clear();
    attributes.clear();
    for (StringAttr name : names) {
      types.push_back(globals[name].getType());
      locations.push_back(globals[name].getLoc());
      if (function.isPublic())
        attributes.push_back(builder.getDictionaryAttr(
            builder.getNamedAttr(attributeName, FlatSymbolRefAttr::get(name))));
    }
  };
  Values current;
  unsigned number = function.getNumArguments();
  describe(taken);
  function.insertArguments(SmallVector<unsigned>(taken.size(), number), types,
                           attributes, locations);
  for (StringAttr name : taken)
    current[name] = function.getArgument(number++);
  Block &body = function.front();
  if (failed(lower(body, current)))
    return failure();
  Operation *end = body.getTerminator();
  SmallVector<Value> results(end->getOperands());
  describe(given);
  function.insertResults(
      SmallVector<unsigned>(given.size(), function.getNumResults()), types,
      attributes);
  for (StringAttr name : given)
    results.push_back(current[name]);
  end->setOperands(results);
  return success();
}

LogicalResult GlobalLowering::lower(Block &block, Values &current) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(lower(&op, current)))
      return failure();
  return success();
}

LogicalResult GlobalLowering::lower(Operation *op, Values &current) {
  if (isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(op)) {
    StringAttr name =
        op->getAttrOfType<SymbolRefAttr>("global").getRootReference();
    Value value = current.lookup(name);
    if (GlobalOp global = globals[name]; isConstant(global)) {
      builder.setInsertionPoint(op);
      value = builder.create<stablehlo::ConstantOp>(
          op->getLoc(), cast<ElementsAttr>(*global.getValue()));
    }
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  }
  if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op)) {
    current[store.getGlobal().getRootReference()] = store.getValue();
    op->erase();
    return success();
  }
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op)) {
    auto decomposition =
        symbols.lookup<func::FuncOp>(composite.getDecomposition());
    if (decomposition && !getTaken(find(decomposition)).empty())
      return stablehlo::opError(op)
             << "a decomposition must not touch globals: @"
             << decomposition.getSymName() << " does";
    return success();
  }
  if (func::FuncOp callee = getCallee(op)) {
    if (!callee.isExternal())
      lowerCall(cast<func::CallOp>(op), callee, current);
    return success();
  }
  if (op->getNumRegions() == 0)
    return success();
  SmallVector<StringAttr> stored = sort(findStored(op));
  if (!stored.empty()) {
    if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
      return lowerBranches(op, stored, current);
    if (isa<stablehlo::WhileOp>(op))
      return lowerLoop(op, stored, current);
    return stablehlo::opError(op) << "a region must not store globals: stores @"
                                  << stored.front().getValue();
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(lower(block, current)))
        return failure();
  return success();
}

void GlobalLowering::lowerCall(func::CallOp call, func::FuncOp callee,
                               Values &current) {
  const Touched &touched = find(callee);
  SmallVector<StringAttr> taken = getTaken(touched);
  SmallVector<StringAttr> given = getGiven(touched);
  if (taken.empty())
    return;
  SmallVector<Value> operands(call.getOperands());
  SmallVector<Type> types(call.getResultTypes());
  for (StringAttr name : taken)
    operands.push_back(current[name]);
  for (StringAttr name : given)
    types.push_back(globals[name].getType());
  builder.setInsertionPoint(call);
  auto made = builder.create<func::CallOp>(call.getLoc(), call.getCallee(),
                                           types, operands);
  made->setDiscardableAttrs(call->getDiscardableAttrDictionary());
  unsigned count = call.getNumResults();
  call.replaceAllUsesWith(made.getResults().take_front(count));
  for (auto [i, name] : llvm::enumerate(given))
    current[name] = made.getResult(count + static_cast<unsigned>(i));
  call.erase();
}

// ---- Regions that store ----

Operation *GlobalLowering::rebuild(Operation *op, ArrayRef<StringAttr> stored,
                                   ValueRange operands, Values &current) {
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(op->getResultTypes());
  for (StringAttr name : stored)
    state.addTypes(globals[name].getType());
  state.addAttributes(op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *made = builder.create(state);
  unsigned count = op->getNumResults();
  op->replaceAllUsesWith(made->getResults().take_front(count));
  for (auto [i, name] : llvm::enumerate(stored))
    current[name] = made->getResult(count + static_cast<unsigned>(i));
  op->erase();
  return made;
}

/// A block hands on what the globals are at its end.
void yield(Block &block, ArrayRef<StringAttr> stored, const Values &current) {
  Operation *end = block.getTerminator();
  SmallVector<Value> values(end->getOperands());
  for (StringAttr name : stored)
    values.push_back(current.lookup(name));
  end->setOperands(values);
}

LogicalResult GlobalLowering::lowerBranches(Operation *op,
                                            ArrayRef<StringAttr> stored,
                                            Values &current) {
  for (Region &region : op->getRegions()) {
    Values inner = current;
    if (failed(lower(region.front(), inner)))
      return failure();
    yield(region.front(), stored, inner);
  }
  rebuild(op, stored, op->getOperands(), current);
  return success();
}

LogicalResult GlobalLowering::lowerLoop(Operation *op,
                                        ArrayRef<StringAttr> stored,
                                        Values &current) {
  auto loop = cast<stablehlo::WhileOp>(op);
  Block &condition = loop.getCond().front();
  for (Operation &inner : condition)
    if (Names names = findStored(&inner); !names.empty())
      return stablehlo::opError(op)
             << "a condition must not store globals: stores @"
             << names[0].getValue();
  SmallVector<Value> operands(op->getOperands());
  for (StringAttr name : stored)
    operands.push_back(current[name]);
  for (Region &region : op->getRegions()) {
    Values inner = current;
    for (StringAttr name : stored)
      inner[name] = region.addArgument(globals[name].getType(), op->getLoc());
    if (failed(lower(region.front(), inner)))
      return failure();
    if (&region.front() != &condition)
      yield(region.front(), stored, inner);
  }
  rebuild(op, stored, operands, current);
  return success();
}

struct LowerGlobals : alula::input::impl::InputLowerGlobalsBase<LowerGlobals> {
  void runOnOperation() override {
    if (failed(GlobalLowering(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
