// Checks what a program says about its shapes, and takes the checks away.
//
//   custom_call @shape_assertion(%true, …)   →  nothing
//   custom_call @shape_assertion(%false, …)  →  an error with its message
//
// Relies on input-refine-shapes, which makes the operands constants.

#include "compiler/input/integer_evaluator.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DECL_INPUTCHECKSHAPEASSERTIONS
#define GEN_PASS_DEF_INPUTCHECKSHAPEASSERTIONS
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-check-shape-assertions"

namespace {
/// The number of a constant scalar.
std::optional<int64_t> getNumber(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  return getIntegers(elements).front();
}

/// `{0}` and `{1}` become numbers, `{{` and `}}` braces.
std::string formatMessage(StringRef format, ArrayRef<int64_t> numbers) {
  std::string text;
  for (size_t at = 0; at < format.size(); ++at) {
    char symbol = format[at];
    StringRef rest = format.drop_front(at);
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      text += symbol;
      ++at;
      continue;
    }
    size_t close = symbol == '{' ? rest.find('}') : StringRef::npos;
    size_t index = 0;
    if (close == StringRef::npos ||
        rest.slice(1, close).getAsInteger(10, index) ||
        index >= numbers.size()) {
      text += symbol;
      continue;
    }
    text += std::to_string(numbers[index]);
    at += close;
  }
  return text;
}

LogicalResult checkAssertion(stablehlo::CustomCallOp op) {
  auto message = op->getAttrOfType<StringAttr>("error_message");
  if (!message || op->getNumOperands() == 0 || op->getNumResults() != 0)
    return stablehlo::opError(op)
           << "shape assertion must have operands, no results and an "
              "error_message: has "
           << op->getNumOperands() << " operands, " << op->getNumResults()
           << " results";
  SmallVector<int64_t> numbers;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto number = getNumber(operand);
    if (!number)
      return stablehlo::opError(op)
             << "operands of a shape assertion must be constant: operand "
             << index << " is not";
    numbers.push_back(*number);
  }
  if (numbers.front())
    return success();
  return op.emitError() << "shape assertion failed: "
                        << formatMessage(message.getValue(),
                                         ArrayRef(numbers).drop_front());
}

struct CheckShapeAssertions
    : alula::input::impl::InputCheckShapeAssertionsBase<
          CheckShapeAssertions> {
  using InputCheckShapeAssertionsBase::InputCheckShapeAssertionsBase;

  void runOnOperation() override {
    getOperation().walk([&](stablehlo::CustomCallOp op) {
      if (op.getCallTargetName() != "shape_assertion")
        return;
      if (keepUnknown && llvm::any_of(op->getOperands(), [](Value operand) {
            return !getNumber(operand);
          }))
        return;
      if (failed(checkAssertion(op)))
        return signalPassFailure();
      op.erase();
    });
  }
};
} // namespace
