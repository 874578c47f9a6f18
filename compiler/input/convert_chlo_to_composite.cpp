// Says functions of chlo in composites of their names, which have a portable
// form.
//
//   chlo.f %x  →  composite "chlo.f" %x {decomposition = @chlo.f.impl}
//
// The decomposition is the formula. Who reads the program may know the name:
// `input-raise-functions` gives those back that native code has.

#include "compiler/input/convert_chlo.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTCONVERTCHLOTOCOMPOSITE
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-convert-chlo-to-composite"

namespace {
struct ConvertChloToComposite
    : alula::input::impl::InputConvertChloToCompositeBase<
          ConvertChloToComposite> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<chlo::ChloDialect>(op->getDialect()) &&
          stablehlo::isElementwise(op))
        ops.push_back(op);
    });
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      auto function = getFormula(op, symbols, rewriter);
      if (failed(function))
        return signalPassFailure();
      OperationState state(op->getLoc(),
                           stablehlo::CompositeOp::getOperationName());
      state.addOperands(op->getOperands());
      state.addTypes(op->getResultTypes());
      state.addAttribute("name",
                         rewriter.getStringAttr(op->getName().getStringRef()));
      state.addAttribute("decomposition", FlatSymbolRefAttr::get(*function));
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(op, rewriter.create(state));
    }
  }

private:
  /// The function that computes what `op` does, one for all ops of its name and
  /// types.
  FailureOr<func::FuncOp> getFormula(Operation *op, SymbolTable &symbols,
                                     IRRewriter &rewriter) {
    auto type =
        rewriter.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    func::FuncOp &known = formulas[{op->getName().getIdentifier(), type}];
    if (known)
      return known;
    OpBuilder::InsertionGuard guard(rewriter);
    Location location = rewriter.getUnknownLoc();
    std::string name = op->getName().getStringRef().str() + ".impl";
    known = func::FuncOp::create(location, name, type);
    known.setPrivate();
    symbols.insert(known);
    Block *body = known.addEntryBlock();
    rewriter.setInsertionPointToEnd(body);
    IRMapping mapping;
    mapping.map(op->getOperands(), body->getArguments());
    Operation *copy = rewriter.clone(*op, mapping);
    copy->setLoc(location);
    rewriter.create<func::ReturnOp>(location, copy->getResults());
    rewriter.setInsertionPoint(copy);
    // Its families say which ops are functions of an element.
    Outcome outcome = convertChloElementwise(copy, rewriter);
    if (!outcome || failed(*outcome))
      return failure();
    return known;
  }

  DenseMap<std::pair<StringAttr, Type>, func::FuncOp> formulas;
};
} // namespace
