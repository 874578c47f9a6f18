// Custom calls with a meaning that everybody knows: checks of test files,
// placement marks, and what JAX leaves to the platform.
#include "reference/check_ops.h"
#include "reference/custom_call.h"
#include "reference/compare_tensors.h"
#include "reference/op_table.h"

#include "dialect/stablehlo/ops.h"

#include <cmath>

using namespace mlir;

namespace alula::reference {
namespace {

using Target = LogicalResult (*)(OpCall &call);

/// Marks that say where or how, not what.
LogicalResult evalIdentity(OpCall &call) {
  if (call.operands.size() < call.types.size())
    return call.error() << "needs as many operands as results";
  call.results.assign(call.operands.begin(),
                      call.operands.begin() + int64_t(call.types.size()));
  return success();
}

/// Partitioned and whole programs see the same value only on one device.
LogicalResult evalShardBorder(OpCall &call) {
  if (call.operands.size() != 1 || call.types.size() != 1)
    return call.error() << "needs one operand and one result";
  return call.give(call.operands[0]);
}

LogicalResult evalCheckEq(OpCall &call) {
  if (call.operands.size() != 2 || !call.operands[0].isTensor() ||
      !call.operands[1].isTensor())
    return call.error() << "needs two tensors";
  if (Difference difference = findUnequal(call.tensor(1), call.tensor(0)))
    return call.error() << "check failed: " << *difference;
  if (call.types.empty())
    return success();
  FailureOr<Tensor> answer = call.newTensor(call.getElementType(0), {});
  if (failed(answer))
    return failure();
  Cell cell{};
  cell.u = 1;
  answer->setCell(0, cell);
  return call.give(*answer);
}

/// An assertion about dynamic shapes, with its message.
LogicalResult evalShapeAssertion(OpCall &call) {
  if (call.operands.empty() || !call.operands[0].isTensor())
    return call.error() << "needs the condition";
  if (call.tensor(0).getSize() == 1 && call.tensor(0).getInteger(0) != 0)
    return success();
  auto message = call.op->getAttrOfType<StringAttr>("error_message");
  std::string text = message ? message.str() : "shape assertion failed";
  for (size_t k = 1; k < call.operands.size(); ++k) {
    if (call.tensor(k).getSize() != 1)
      continue;
    std::string hole = "{" + std::to_string(k - 1) + "}";
    std::string number = std::to_string(call.tensor(k).getInteger(0));
    for (size_t at = text.find(hole); at != std::string::npos;
         at = text.find(hole, at + number.size()))
      text.replace(at, hole.size(), number);
  }
  return call.error() << text;
}

LogicalResult evalErf(OpCall &call) {
  const Tensor &operand = call.tensor(0);
  if (!isFloat(operand.getKind()))
    return call.error() << "needs floats";
  FailureOr<Tensor> result =
      call.newTensor(call.getElementType(0), operand.getDims());
  if (failed(result) || failed(call.charge(operand.getSize())))
    return failure();
  for (int64_t k = 0; k < operand.getSize(); ++k) {
    Cell cell = operand.getCell(k);
    cell.re = double(std::erf((long double)(cell.re)));
    result->setCell(k, cell);
  }
  return call.give(*result);
}

struct TargetRow {
  llvm::StringLiteral name;
  Target target;
};

constexpr TargetRow targets[] = {
    {"check.eq", evalCheckEq},
    {"check.expect_eq", evalExpectEq},
    {"check.expect_almost_eq", evalExpectAlmostEq},
    {"check.expect_close", evalExpectClose},
    {"Sharding", evalIdentity},
    {"LayoutConstraint", evalIdentity},
    {"annotate_device_placement", evalIdentity},
    {"xla.sdy.FuncResultSharding", evalIdentity},
    {"stablehlo.shape_refinement_operand_wrapper", evalIdentity},
    {"SPMDFullToShardShape", evalShardBorder},
    {"SPMDShardToFullShape", evalShardBorder},
    {"shape_assertion", evalShapeAssertion},
    {"mhlo.erf", evalErf},
    {"mhlo.topk", evalTopK},
    {"ApproxTopK", evalApproxTopK},
    {"Qr", evalQr},
    {"ProductOfElementaryHouseholderReflectors", evalHouseholderProduct},
    {"alula.sparse_product", evalSparseProduct},
    {"alula.sparse_rows_product", evalSparseRowsProduct},
    {"alula.sparse_sampled", evalSparseSampled},
};

LogicalResult evalCustomCall(OpCall &call) {
  auto op = cast<stablehlo::CustomCallOp>(call.op);
  llvm::StringRef name = op.getCallTargetName();
  for (const TargetRow &row : targets) {
    if (row.name != name)
      continue;
    if (call.operands.empty())
      return call.error() << "@" << name << " needs operands";
    if (row.target == evalIdentity)
      return evalIdentity(call);
    for (const Value &operand : call.operands)
      if (!operand.isTensor())
        return call.error() << "@" << name << " needs tensors";
    for (Type type : call.types)
      if (!isa<RankedTensorType>(type))
        return call.error() << "@" << name << " gives tensors, not " << type;
    return row.target(call);
  }
  return call.error() << "the reference does not know the target @" << name;
}

} // namespace

void addCustomCallOps(OpTable &table) {
  table.add("stablehlo.custom_call", evalCustomCall, Quantized::Stored,
            /*pure=*/false);
}

} // namespace alula::reference
