// Makes arguments and results of "main" arrays as they lie in memory.
//
//   main(%x: tensor<8x4xf32> {mhlo.layout_mode = "{0,1}"})
//     →  main(%m: tensor<4x8xf32>)  %x = transpose %m, [1, 0]
//
// Whoever launches kernels reads %m through the transpose: nothing is copied.

#include "compiler/partition/layout_mode.h"
#include "compiler/partition/passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace alula::partition {
#define GEN_PASS_DEF_LOWERLAYOUTS
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {
/// The order that an argument or a result has in memory.
Order readOrder(Attribute mode, Type type) {
  std::string error;
  auto read = readLayoutMode(mode, type, error);
  auto array = dyn_cast<RankedTensorType>(type);
  if (failed(read) || read->isAuto)
    return getRowMajor(array ? array.getRank() : 0);
  return read->order;
}

class Lowering {
public:
  explicit Lowering(func::FuncOp main) : main(main) {
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      arguments.push_back(readOrder(main.getArgAttr(i, layoutModeName),
                                    main.getArgumentTypes()[i]));
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      results.push_back(readOrder(main.getResultAttr(i, layoutModeName),
                                  main.getResultTypes()[i]));
  }

  LogicalResult run() {
    bool isNeeded = !llvm::all_of(arguments, isRowMajor) ||
                    !llvm::all_of(results, isRowMajor);
    if (!isNeeded)
      return success();
    if (!main.getBody().hasOneBlock())
      return main.emitError("'func.func': 'main' asks for layouts and has "
                            "more than one block");
    if (!SymbolTable::symbolKnownUseEmpty(main, main->getParentOp()))
      return main.emitError(
          "'func.func': 'main' asks for layouts and is called");
    for (auto [i, order] : llvm::enumerate(arguments))
      if (failed(lowerArgument(i, order)))
        return failure();
    for (auto [i, order] : llvm::enumerate(results))
      if (failed(lowerResult(i, order)))
        return failure();
    Block &body = main.getBody().front();
    main.setFunctionType(FunctionType::get(
        main.getContext(), body.getArgumentTypes(),
        llvm::to_vector(body.getTerminator()->getOperandTypes())));
    dropAliases();
    return success();
  }

  void dropModes() {
    auto id = StringAttr::get(main.getContext(), layoutModeName);
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      main.removeArgAttr(i, id);
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      main.removeResultAttr(i, id);
  }

private:
  FailureOr<RankedTensorType> getTypeInMemory(Type type,
                                              ArrayRef<int64_t> order) {
    auto array = cast<RankedTensorType>(type);
    if (array.getEncoding())
      return main.emitError("'func.func': ")
             << type << " is asked for in the layout " << printOrder(order)
             << ": only arrays without bounds may have layouts";
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(array.getDimSize(dim));
    return RankedTensorType::get(shape, array.getElementType());
  }

  LogicalResult lowerArgument(unsigned number, ArrayRef<int64_t> order) {
    if (isRowMajor(order))
      return success();
    BlockArgument argument = main.getArgument(number);
    Type type = argument.getType();
    auto typeInMemory = getTypeInMemory(type, order);
    if (failed(typeInMemory))
      return failure();
    OpBuilder builder(main.getContext());
    builder.setInsertionPointToStart(&main.getBody().front());
    auto transpose = builder.create<stablehlo::TransposeOp>(
        argument.getLoc(), type, argument,
        builder.getDenseI64ArrayAttr(invert(order)));
    argument.replaceAllUsesExcept(transpose, transpose);
    argument.setType(*typeInMemory);
    return success();
  }

  LogicalResult lowerResult(unsigned number, ArrayRef<int64_t> order) {
    if (isRowMajor(order))
      return success();
    OpOperand &operand =
        main.getBody().front().getTerminator()->getOpOperand(number);
    auto typeInMemory = getTypeInMemory(operand.get().getType(), order);
    if (failed(typeInMemory))
      return failure();
    OpBuilder builder(operand.getOwner());
    operand.set(builder.create<stablehlo::TransposeOp>(
        operand.get().getLoc(), *typeInMemory, operand.get(),
        builder.getDenseI64ArrayAttr(order)));
    return success();
  }

  /// An argument's memory becomes a result where both lie alike.
  void dropAliases() {
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      auto alias = main.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
      if (!alias)
        continue;
      auto result = alias.getValue().getZExtValue();
      if (result < results.size() && arguments[i] == results[result])
        continue;
      main.removeArgAttr(i, "tf.aliasing_output");
      main.setArgAttr(i, "jax.buffer_donor",
                      BoolAttr::get(main.getContext(), true));
    }
  }

  func::FuncOp main;
  SmallVector<Order> arguments, results;
};

struct LowerLayouts : alula::partition::impl::LowerLayoutsBase<LowerLayouts> {
  using LowerLayoutsBase::LowerLayoutsBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    Lowering lowering(main);
    if (physical && failed(lowering.run()))
      return signalPassFailure();
    lowering.dropModes();
  }
};
} // namespace
