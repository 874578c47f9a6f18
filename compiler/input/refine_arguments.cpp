// Gives the arguments of a function the types that a caller will pass.
//
//   main(%x: tensor<?xf32>), types=tensor<4xf32>  →  main(%x: tensor<4xf32>)
//   whose body sees %x through a wrapper of the old type
//
// The wrapper keeps the body valid until input-refine-shapes takes it away.

#include "dialect/stablehlo/ops.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTREFINEARGUMENTS
#define GEN_PASS_DEF_INPUTREFINEARGUMENTS
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

#define DEBUG_TYPE "input-refine-arguments"

namespace {
/// An error unless a value of type `refined` is one of type `current`.
LogicalResult checkRefinement(func::FuncOp function, size_t index, Type current,
                              Type refined) {
  if (current == refined)
    return success();
  auto fail = [&](StringRef rule) -> LogicalResult {
    return stablehlo::opError(function)
           << rule << ": argument " << index << " is " << current
           << ", asked for " << refined;
  };
  auto from = dyn_cast<ShapedType>(current), to = dyn_cast<ShapedType>(refined);
  if (!from || !to)
    return fail("only tensors can be refined");
  if (from.getElementType() != to.getElementType())
    return fail("element types must be equal");
  if (!to.hasRank())
    return fail("refined type must be ranked");
  if (!from.hasRank())
    return success();
  if (from.getRank() != to.getRank())
    return fail("ranks must be equal");
  if (!stablehlo::areCompatibleShapes(current, refined))
    return fail("static dimensions must be equal");
  for (auto [was, is] : llvm::zip_equal(from.getShape(), to.getShape()))
    if (!ShapedType::isDynamic(was) && ShapedType::isDynamic(is))
      return fail("static dimensions must stay static");
  return success();
}

struct RefineArguments
    : alula::input::impl::InputRefineArgumentsBase<RefineArguments> {
  using InputRefineArgumentsBase::InputRefineArgumentsBase;

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>(functionName);
    if (!function) {
      auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
      if (functions.size() == 1)
        function = functions.front();
    }
    if (!function) {
      getOperation().emitError()
          << "function to refine must exist: no function is named "
          << functionName.getValue();
      return signalPassFailure();
    }
    SmallVector<Type> types;
    for (const std::string &text : typeTexts) {
      Type type = readType(text);
      if (!type) {
        stablehlo::opError(function) << "type to refine to can't be read: "
                                     << text;
        return signalPassFailure();
      }
      types.push_back(type);
    }
    if (failed(refine(function, types)))
      signalPassFailure();
  }

  /// Null if the text is no type. What the parser says about its place is
  /// nothing that the user can see.
  Type readType(StringRef text) {
    ScopedDiagnosticHandler quiet(&getContext(),
                                  [](Diagnostic &) { return success(); });
    return parseType(text, &getContext());
  }

  LogicalResult refine(func::FuncOp function, ArrayRef<Type> types) {
    if (types.size() != function.getNumArguments())
      return stablehlo::opError(function)
             << "needs a type for each argument: " << types.size()
             << " types, " << function.getNumArguments() << " arguments";
    for (auto [index, type] : llvm::enumerate(types))
      if (failed(checkRefinement(function, index,
                                 function.getArgumentTypes()[index], type)))
        return failure();
    if (!function.isExternal()) {
      Block &block = function.getBody().front();
      OpBuilder builder(function.getContext());
      builder.setInsertionPointToStart(&block);
      for (auto [argument, type] : llvm::zip_equal(block.getArguments(), types))
        wrap(argument, type, builder);
    }
    function.setType(FunctionType::get(function.getContext(), types,
                                       function.getResultTypes()));
    return success();
  }

  static void wrap(BlockArgument argument, Type type, OpBuilder &builder) {
    Type old = argument.getType();
    if (old == type)
      return;
    argument.setType(type);
    if (argument.use_empty())
      return;
    auto tensor = cast<RankedTensorType>(type);
    auto sizesType = RankedTensorType::get({tensor.getRank()},
                                           builder.getI64Type());
    Value sizes = builder.create<stablehlo::ConstantOp>(
        argument.getLoc(), sizesType,
        DenseIntElementsAttr::get(sizesType, tensor.getShape()));
    OperationState state(argument.getLoc(),
                         stablehlo::CustomCallOp::getOperationName());
    state.addOperands({argument, sizes});
    state.addTypes(old);
    state.addAttribute(
        "call_target_name",
        builder.getStringAttr("stablehlo.shape_refinement_operand_wrapper"));
    state.addAttribute("indices_of_shape_operands",
                       builder.getI64TensorAttr({1}));
    Operation *wrapper = builder.create(state);
    argument.replaceAllUsesExcept(
        wrapper->getResult(0), llvm::SmallPtrSet<Operation *, 1>{wrapper});
  }
};
} // namespace
