// Says what programs compute on their sizes with arith, tensor, shape and cf in
// stablehlo, as torch-mlir and TensorFlow's converter write it.
//
//   shape.shape_of, tensor.dim       →  get_dimension_size, as i64
//   tensor<2xindex>, index           →  tensor<2xi64>, tensor<i64>
//   arith.muli                       →  multiply
//   shape.cstr_broadcastable,
//   cf.assert                        →  custom_call @shape_assertion
//   shape.assuming                   →  what it holds
//
// Sizes of index are i64 as get_dimension_size alone is i32, and their products
// need not fit in that. Assertions hold or not where they stand, so that
// nothing waits for a witness.

#include "compiler/input/lower_shape.h"

#include "compiler/input/integer_evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERSHAPE
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-lower-shape"

namespace {
bool isForeign(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, cf::ControlFlowDialect,
                         shape::ShapeDialect, tensor::TensorDialect>(
      op->getDialect());
}

/// Sizes are of these types; so are they of nothing else that a program has.
bool isOfSizes(Type type) {
  return getElementTypeOrSelf(type).isIndex() ||
         isa<shape::ShapeDialect>(type.getDialect());
}

bool isNeeded(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        bool found =
            isForeign(op) || llvm::any_of(op->getResultTypes(), isOfSizes);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            found |= llvm::any_of(block.getArgumentTypes(), isOfSizes);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if an operand has to have the very type that another function or block
/// says.
bool isTyped(Operation *op) {
  return op->getNumRegions() || op->hasTrait<mlir::OpTrait::IsTerminator>() ||
         isa<func::CallOp, stablehlo::CompositeOp>(op);
}

SmallVector<Type> getPlainTypes(TypeRange types) {
  return llvm::map_to_vector(types,
                             [](Type type) { return getPlainType(type); });
}
} // namespace

Type alula::input::getPlainType(Type type) {
  auto i64 = IntegerType::get(type.getContext(), 64);
  if (isa<IndexType, shape::SizeType>(type))
    return RankedTensorType::get({}, i64);
  if (isa<IntegerType, FloatType, ComplexType>(type))
    return RankedTensorType::get({}, type);
  if (isa<shape::ShapeType>(type))
    return RankedTensorType::get({ShapedType::kDynamic}, i64);
  auto tensor = dyn_cast<TensorType>(type);
  if (tensor && tensor.getElementType().isIndex())
    return tensor.clone(i64);
  return type;
}

ElementsAttr alula::input::getPlainElements(ElementsAttr elements) {
  auto type = cast<ShapedType>(getPlainType(elements.getType()));
  if (type == elements.getType())
    return elements;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.bitcast(type.getElementType());
  return {};
}

// ---- Sizes ----

InFlightDiagnostic ShapeLowering::refuse(Operation *op) {
  return stablehlo::opError(op) << "no native code: ";
}

std::optional<int64_t> ShapeLowering::getKnown(Value scalar) {
  auto constant = scalar.getDefiningOp<stablehlo::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                           : DenseIntElementsAttr();
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  return getIntegers(elements).front();
}

Value ShapeLowering::getNumber(Operation *op, OpFoldResult number) {
  if (auto value = dyn_cast<Value>(number))
    return value;
  return math(op).make(
      cast<IntegerAttr>(cast<Attribute>(number)).getValue().getSExtValue());
}

ShapeLowering::Values
ShapeLowering::getNumbers(Operation *op, ArrayRef<OpFoldResult> numbers) {
  return llvm::map_to_vector<6>(
      numbers, [&](OpFoldResult number) { return getNumber(op, number); });
}

FailureOr<ShapeLowering::Values> ShapeLowering::getSizes(Operation *op,
                                                         Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return refuse(op) << "rank of the operand must be known: is "
                      << tensor.getType();
  auto [found, isNew] = sizes.try_emplace(tensor);
  if (isNew) {
    // Beside the tensor, so that whoever sees it sees them.
    builder.setInsertionPointAfterValue(tensor);
    ListArithmetic here(builder, tensor.getLoc());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      found->second.push_back(here.getDim(tensor, dim));
  }
  return found->second;
}

FailureOr<ShapeLowering::Values> ShapeLowering::getElements(Operation *op,
                                                            Value list) {
  if (auto found = lists.find(list); found != lists.end())
    return found->second;
  auto type = dyn_cast<RankedTensorType>(list.getType());
  if (!type || type.getRank() != 1 || !type.hasStaticShape() ||
      type.getDimSize(0) > maxEvaluatedElements)
    return refuse(op) << "rank of a shape must be known: its list is "
                      << list.getType();
  ListArithmetic here = math(op);
  Values elements;
  DenseElementsAttr constant;
  if (auto op = list.getDefiningOp<stablehlo::ConstantOp>())
    constant = dyn_cast<DenseElementsAttr>(op.getValue());
  if (constant)
    for (int64_t number : getIntegers(constant))
      elements.push_back(here.make(number));
  else
    for (int64_t at = 0; at < type.getDimSize(0); ++at)
      elements.push_back(here.getElement(list, {at}));
  return elements;
}

Value ShapeLowering::makeList(Operation *op, ValueRange numbers) {
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                    builder.getI64Type());
  SmallVector<int64_t> known;
  for (Value number : numbers)
    if (auto value = getKnown(number))
      known.push_back(*value);
  ListArithmetic here = math(op);
  Value list =
      known.size() == numbers.size()
          ? builder.create<stablehlo::ConstantOp>(
                op->getLoc(), DenseElementsAttr::get(type, ArrayRef(known)))
          : here.makeList(numbers);
  lists[list] = llvm::to_vector<6>(numbers);
  return list;
}

// ---- Order ----

void ShapeLowering::replace(Value old, Value by) {
  Type promised = getPlainType(old.getType());
  if (by.getType() != promised) {
    // What is known here is not in what others say of their values.
    UnrealizedConversionCastOp cast;
    for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
      if (isForeign(use.getOwner()) || !isTyped(use.getOwner()))
        continue;
      if (!cast) {
        builder.setInsertionPointAfterValue(by);
        cast = builder.create<UnrealizedConversionCastOp>(old.getLoc(),
                                                          promised, by);
      }
      use.set(cast.getResult(0));
    }
  }
  old.replaceAllUsesWith(by);
}

void ShapeLowering::retype(Operation *op) {
  for (Value result : op->getResults())
    result.setType(getPlainType(result.getType()));
}

LogicalResult ShapeLowering::lower(Block &block) {
  for (BlockArgument argument : block.getArguments()) {
    Type type = getPlainType(argument.getType());
    if (isa<shape::ShapeDialect>(type.getDialect()))
      return refuse(block.getParentOp())
             << "values must be tensors, numbers or shapes: has " << type;
    argument.setType(type);
  }
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult ShapeLowering::lowerAssuming(Operation *op) {
  Block &body = cast<shape::AssumingOp>(op).getDoRegion().front();
  for (Operation &inner :
       llvm::make_early_inc_range(body.without_terminator())) {
    inner.moveBefore(op);
    if (failed(lower(&inner)))
      return failure();
  }
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
    replace(result, value);
  lowered.push_back(op);
  return success();
}

LogicalResult ShapeLowering::lower(Operation *op) {
  if (isa<shape::AssumingOp>(op))
    return lowerAssuming(op);
  if (!isForeign(op)) {
    retype(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(lower(block)))
          return failure();
    return success();
  }
  FailureOr<Values> values = Values();
  if (isa<arith::ArithDialect>(op->getDialect())) {
    builder.setInsertionPoint(op);
    Value value = buildArithmetic(op, builder);
    values = value ? FailureOr<Values>(Values{value}) : FailureOr<Values>();
  } else if (isa<tensor::TensorDialect>(op->getDialect())) {
    FailureOr<Value> value = lowerTensor(op);
    values =
        failed(value) ? FailureOr<Values>() : FailureOr<Values>(Values{*value});
  } else if (auto check = dyn_cast<cf::AssertOp>(op)) {
    requireAsWritten(op, op->getOperand(0), check.getMsg());
  } else if (isa<cf::ControlFlowDialect>(op->getDialect())) {
    return refuse(op) << "functions must have one block";
  } else {
    values = lowerShape(op);
  }
  if (failed(values))
    return failure();
  for (auto [result, value] : llvm::zip(op->getResults(), *values))
    if (value)
      replace(result, value);
  lowered.push_back(op);
  return success();
}

void ShapeLowering::finish() {
  // Who used a value comes after it.
  for (Operation *op : llvm::reverse(lowered))
    op->erase();
}

namespace {
struct LowerShape : alula::input::impl::InputLowerShapeBase<LowerShape> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isNeeded(module))
      return;
    for (auto function : module.getOps<func::FuncOp>()) {
      ShapeLowering lowering(&getContext());
      for (Block &block : function.getBody())
        if (failed(lowering.lower(block)))
          return signalPassFailure();
      lowering.finish();
      FunctionType type = function.getFunctionType();
      function.setFunctionType(
          FunctionType::get(&getContext(), getPlainTypes(type.getInputs()),
                            getPlainTypes(type.getResults())));
    }
  }
};
} // namespace
