// ApproxTopK and mhlo.topk.
#include "reference/custom_call.h"
#include "reference/merge_sort.h"
#include "reference/scalar_body.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstring>
#include <numeric>

using namespace mlir;

namespace alula::reference {

LogicalResult evalApproxTopK(OpCall &call) {
  auto op = cast<stablehlo::CustomCallOp>(call.op);
  auto config = dyn_cast_or_null<DictionaryAttr>(
      op.getBackendConfig().value_or(nullptr));
  // Where JAX puts it for programs that must stay portable.
  if (!config)
    config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto dimensionAttr =
      config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
  size_t count = call.types.size();
  if (!dimensionAttr || call.operands.size() != 2 * count || count == 0 ||
      op.getCalledComputations().empty())
    return call.error() << "needs inputs, as many initial values, a "
                           "comparator and reduction_dim";
  auto symbol =
      dyn_cast<FlatSymbolRefAttr>(op.getCalledComputations()[0]);
  Operation *callee =
      symbol ? call.evaluator.findFunction(call.op, symbol.getValue())
             : nullptr;
  auto comparator = dyn_cast_or_null<func::FuncOp>(callee);
  if (!comparator)
    return failure();
  FailureOr<ScalarBody> body =
      ScalarBody::prepare(call, comparator.getBody());
  if (failed(body))
    return failure();
  const Tensor &first = call.tensor(0);
  int64_t dimension = dimensionAttr.getInt(), rank = first.getRank();
  bool fits = body->getNumArguments() == 2 * count &&
              body->getNumResults() == 1;
  for (size_t k = 0; k < count; ++k) {
    fits &= call.tensor(count + k).getSize() == 1 &&
            call.tensor(count + k).getKind() == call.tensor(k).getKind();
    fits &= call.getShapedType(k).getRank() == rank &&
            getKind(call.getElementType(k)) == call.tensor(k).getKind();
    for (int64_t d = 0; fits && d < rank; ++d)
      fits &= d == dimension || call.getShapedType(k).getDimSize(unsigned(d)) ==
                                    first.getDim(size_t(d));
  }
  if (dimension < 0 || dimension >= rank || !fits)
    return call.error() << "reduction_dim " << dimension
                        << " or the comparator does not fit";
  std::vector<Tensor> results;
  for (size_t k = 0; k < count; ++k) {
    if (!call.getShapedType(k).hasStaticShape() ||
        call.tensor(k).getDims() != first.getDims())
      return call.error() << "shapes must be static and the same";
    FailureOr<Tensor> result = call.newTensor(
        call.getElementType(k), call.getShapedType(k).getShape());
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  int64_t extent = first.getDim(size_t(dimension)), stride = 1;
  int64_t kept = results[0].getDim(size_t(dimension));
  for (int64_t d = dimension + 1; d < rank; ++d)
    stride *= first.getDim(size_t(d));
  if (failed(call.charge(first.getSize(), 16)))
    return failure();
  llvm::SmallVector<Cell> cells(2 * count);
  llvm::SmallVector<const Cell *> arguments;
  for (const Cell &cell : cells)
    arguments.push_back(&cell);
  Cell answer{};
  std::vector<int64_t> order(static_cast<size_t>(extent));
  for (int64_t line = 0; extent != 0 && line < first.getSize() / extent;
       ++line) {
    int64_t start = line / stride * stride * extent + line % stride;
    int64_t target = line / stride * stride * kept + line % stride;
    std::iota(order.begin(), order.end(), 0);
    auto isLess = [&](int64_t a, int64_t b) -> FailureOr<bool> {
      for (size_t k = 0; k < count; ++k) {
        cells[2 * k] = call.tensor(k).getCell(start + a * stride);
        cells[2 * k + 1] = call.tensor(k).getCell(start + b * stride);
      }
      if (failed(body->run(1, arguments, {&answer})))
        return failure();
      return answer.u != 0;
    };
    if (failed(mergeSort(order, isLess)))
      return failure();
    for (size_t k = 0; k < count; ++k)
      for (int64_t at = 0; at < kept; ++at) {
        const uint8_t *source =
            at < extent
                ? call.tensor(k).at(start + order[size_t(at)] * stride)
                : call.tensor(count + k).getData();
        std::memcpy(results[k].mutableAt(target + at * stride), source,
                    results[k].getElementBytes());
      }
  }
  for (Tensor &result : results)
    call.results.emplace_back(std::move(result));
  return success();
}

LogicalResult evalTopK(OpCall &call) {
  auto attributes = call.op->getAttrOfType<DictionaryAttr>("mhlo.attributes");
  auto largestAttr =
      attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
  bool largest = !largestAttr || largestAttr.getValue();
  const Tensor &operand = call.tensor(0);
  if (operand.getRank() < 1 || call.types.size() != 2 ||
      !call.getShapedType(0).hasStaticShape())
    return call.error() << "needs one operand and two results";
  llvm::ArrayRef<int64_t> dims = call.getShapedType(0).getShape();
  if (int64_t(dims.size()) != operand.getRank() ||
      dims.drop_back() != operand.getDims().drop_back() ||
      getKind(call.getElementType(0)) != operand.getKind())
    return call.error() << "the results do not fit the operand "
                        << printDims(operand.getDims());
  FailureOr<Tensor> values = call.newTensor(call.getElementType(0), dims);
  FailureOr<Tensor> indices = call.newTensor(call.getElementType(1), dims);
  int64_t extent = operand.getDims().back(), kept = dims.back();
  if (failed(values) || failed(indices) ||
      failed(call.charge(operand.getSize(), 16)))
    return failure();
  if (kept > extent)
    return call.error() << "k must be at most " << extent << ", it is "
                        << kept;
  LaneFunction compare =
      findCompare(largest ? Direction::GT : Direction::LT, operand.getKind(),
                  /*totalOrder=*/true);
  LaneInfo info{operand.getKind(), Kind::Bool};
  std::vector<int64_t> order(static_cast<size_t>(extent));
  for (int64_t row = 0; kept != 0 && row < values->getSize() / kept; ++row) {
    std::iota(order.begin(), order.end(), 0);
    auto isLess = [&](int64_t a, int64_t b) -> FailureOr<bool> {
      Cell x = operand.getCell(row * extent + a),
           y = operand.getCell(row * extent + b), answer{};
      const Cell *both[] = {&x, &y};
      compare(both, &answer, 1, info);
      return answer.u != 0;
    };
    if (failed(mergeSort(order, isLess)))
      return failure();
    for (int64_t at = 0; at < kept; ++at) {
      Cell index{};
      index.i = order[size_t(at)];
      std::memcpy(values->mutableAt(row * kept + at),
                  operand.at(row * extent + index.i),
                  values->getElementBytes());
      indices->setCell(row * kept + at, index);
    }
  }
  call.results.emplace_back(std::move(*values));
  return call.give(*indices);
}

} // namespace alula::reference
