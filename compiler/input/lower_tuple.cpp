// Takes tuples apart: values, arguments and results of functions become their
// leaves.
//
//   func @f(%t: tuple<A, B>) -> tuple<B>  →  func @f(%a: A, %b: B) -> B
//
// The results of a custom call become several; a tuple that a custom call or a
// composite takes is an error, since the callee would see other arguments.

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERTUPLE
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

#define DEBUG_TYPE "input-lower-tuple"

namespace {
void flatten(Type type, SmallVectorImpl<Type> &leaves) {
  if (auto tuple = dyn_cast<TupleType>(type))
    tuple.getFlattenedTypes(leaves);
  else
    leaves.push_back(type);
}

SmallVector<Type> flatten(TypeRange types) {
  SmallVector<Type> leaves;
  for (Type type : types)
    flatten(type, leaves);
  return leaves;
}

bool hasTuple(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<TupleType>(type); });
}

class TupleLowering {
public:
  explicit TupleLowering(MLIRContext *context) : rewriter(context) {}

  LogicalResult lower(func::FuncOp function);

private:
  LogicalResult lower(Operation *op);
  /// Builds the op again with other operands and result types.
  void rebuild(Operation *op);

  SmallVector<Value> leavesOf(Value value) {
    if (!isa<TupleType>(value.getType()))
      return {value};
    return leaves.lookup(value);
  }
  SmallVector<Value> leavesOf(ValueRange values) {
    SmallVector<Value> all;
    for (Value value : values)
      llvm::append_range(all, leavesOf(value));
    return all;
  }

  IRRewriter rewriter;
  llvm::DenseMap<Value, SmallVector<Value>> leaves;
  /// Erased once nothing uses their tuples.
  SmallVector<Operation *> dead;
};

/// The attributes of arguments or results, repeated for each leaf of what had
/// one leaf; a tuple's are about the tuple and go.
ArrayAttr flattenAttributes(ArrayAttr attributes, TypeRange types,
                            Builder &builder) {
  if (!attributes)
    return {};
  SmallVector<Attribute> flat;
  for (auto [attribute, type] : llvm::zip_equal(attributes, types)) {
    SmallVector<Type> parts;
    flatten(type, parts);
    Attribute each = isa<TupleType>(type) ? builder.getDictionaryAttr({})
                                          : Attribute(attribute);
    flat.append(parts.size(), each);
  }
  return builder.getArrayAttr(flat);
}

LogicalResult TupleLowering::lower(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  bool isTupleFree = !hasTuple(type.getInputs()) && !hasTuple(type.getResults());
  if (!isTupleFree) {
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
  }
  if (!function.isExternal()) {
    Block &block = function.getBody().front();
    for (unsigned index = 0; index < block.getNumArguments(); ++index) {
      BlockArgument argument = block.getArgument(index);
      if (!isa<TupleType>(argument.getType()))
        continue;
      SmallVector<Value> parts;
      unsigned at = index;
      for (Type leaf : flatten(TypeRange(argument.getType())))
        parts.push_back(block.insertArgument(++at, leaf, argument.getLoc()));
      leaves[argument] = parts;
    }
    WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      return op == function || succeeded(lower(op)) ? WalkResult::advance()
                                                    : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
    for (Operation *op : llvm::reverse(dead))
      rewriter.eraseOp(op);
    dead.clear();
    block.eraseArguments([](BlockArgument argument) {
      return isa<TupleType>(argument.getType());
    });
  }
  function.setType(FunctionType::get(function.getContext(),
                                     flatten(type.getInputs()),
                                     flatten(type.getResults())));
  return success();
}

void TupleLowering::rebuild(Operation *op) {
  rewriter.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(leavesOf(op->getOperands()));
  state.addTypes(flatten(op->getResultTypes()));
  state.addAttributes(op->getAttrs());
  // Layouts and aliases are about the tuple.
  if (hasTuple(op->getResultTypes()))
    for (StringRef name : {"result_layouts", "output_operand_aliases"})
      state.attributes.erase(name);
  Operation *flat = rewriter.create(state);
  ValueRange results = flat->getResults();
  for (Value result : op->getResults()) {
    SmallVector<Type> parts;
    flatten(result.getType(), parts);
    ValueRange own = results.take_front(parts.size());
    results = results.drop_front(parts.size());
    if (isa<TupleType>(result.getType()))
      leaves[result] = SmallVector<Value>(own);
    else
      rewriter.replaceAllUsesWith(result, own.front());
  }
  dead.push_back(op);
}

LogicalResult TupleLowering::lower(Operation *op) {
  if (!hasTuple(op->getOperandTypes()) && !hasTuple(op->getResultTypes()))
    return success();
  if (auto tuple = dyn_cast<stablehlo::TupleOp>(op)) {
    leaves[tuple] = leavesOf(tuple.getVal());
    dead.push_back(op);
    return success();
  }
  if (auto element = dyn_cast<stablehlo::GetTupleElementOp>(op)) {
    auto type = cast<TupleType>(element.getOperand().getType());
    size_t index = element.getIndex();
    size_t start = flatten(TypeRange(type.getTypes().take_front(index))).size();
    size_t count = flatten(TypeRange(type.getType(index))).size();
    SmallVector<Value> all = leavesOf(element.getOperand());
    ArrayRef<Value> own = ArrayRef(all).slice(start, count);
    if (isa<TupleType>(element.getType()))
      leaves[element] = SmallVector<Value>(own);
    else
      rewriter.replaceAllUsesWith(element.getResult(), own.front());
    dead.push_back(op);
    return success();
  }
  if (isa<func::CallOp>(op) || (isa<stablehlo::CustomCallOp>(op) &&
                                !hasTuple(op->getOperandTypes()))) {
    rebuild(op);
    return success();
  }
  if (isa<func::ReturnOp>(op)) {
    rewriter.modifyOpInPlace(
        op, [&] { op->setOperands(leavesOf(op->getOperands())); });
    return success();
  }
  for (Type type : llvm::concat<const Type>(
           SmallVector<Type>(op->getOperandTypes()),
           SmallVector<Type>(op->getResultTypes())))
    if (isa<TupleType>(type))
      return stablehlo::opError(op)
             << "tuples can't be taken apart here: has " << type;
  return success();
}

struct LowerTuple : alula::input::impl::InputLowerTupleBase<LowerTuple> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isExternal() && !function.getBody().hasOneBlock()) {
        stablehlo::opError(function) << "function must have one block: has "
                                     << function.getBody().getBlocks().size();
        return signalPassFailure();
      }
      Builder builder(&getContext());
      FunctionType type = function.getFunctionType();
      ArrayAttr arguments = flattenAttributes(function.getArgAttrsAttr(),
                                              type.getInputs(), builder);
      ArrayAttr results = flattenAttributes(function.getResAttrsAttr(),
                                            type.getResults(), builder);
      if (failed(TupleLowering(&getContext()).lower(function)))
        return signalPassFailure();
      if (arguments)
        function.setArgAttrsAttr(arguments);
      if (results)
        function.setResAttrsAttr(results);
    }
  }
};
} // namespace
