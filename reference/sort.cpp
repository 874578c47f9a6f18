// sort, always stable.
#include "reference/merge_sort.h"
#include "reference/op_table.h"
#include "reference/scalar_body.h"

#include <cstring>
#include <numeric>

using namespace mlir;

namespace alula::reference {
namespace {

LogicalResult evalSort(OpCall &call) {
  const Tensor &first = call.tensor(0);
  int64_t rank = first.getRank(), dimension = call.getInt("dimension", -1);
  if (dimension < 0)
    dimension += rank;
  if (rank == 0 || dimension < 0 || dimension >= rank)
    return call.error() << "dimension must be below the rank " << rank
                        << ", it is " << dimension;
  FailureOr<ScalarBody> body =
      ScalarBody::prepare(call, call.op->getRegion(0));
  if (failed(body))
    return failure();
  size_t count = call.operands.size();
  if (body->getNumArguments() != 2 * count || body->getNumResults() != 1)
    return call.error() << "the comparator must take " << 2 * count
                        << " values and give 1";
  std::vector<Tensor> results;
  for (size_t k = 0; k < count; ++k) {
    if (call.tensor(k).getDims() != first.getDims())
      return call.error() << "inputs must have one shape, they have "
                          << printDims(first.getDims()) << " and "
                          << printDims(call.tensor(k).getDims());
    FailureOr<Tensor> result =
        call.newTensor(call.tensor(k).getElementType(), first.getDims());
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  if (failed(call.charge(first.getSize(), 16)))
    return failure();
  int64_t extent = first.getDim(size_t(dimension)), stride = 1;
  for (int64_t d = dimension + 1; d < rank; ++d)
    stride *= first.getDim(size_t(d));
  // The whole line as cells, argument by argument.
  std::vector<std::vector<Cell>> lines(
      count, std::vector<Cell>(static_cast<size_t>(extent)));
  llvm::SmallVector<const Cell *> arguments(2 * count);
  Cell answer{};
  std::vector<int64_t> order(static_cast<size_t>(extent));
  for (int64_t line = 0; extent != 0 && line < first.getSize() / extent;
       ++line) {
    int64_t start = line / stride * stride * extent + line % stride;
    for (size_t k = 0; k < count; ++k)
      load(call.tensor(k).getKind(), call.tensor(k).at(start),
           lines[k].data(), size_t(extent), stride);
    std::iota(order.begin(), order.end(), 0);
    auto isLess = [&](int64_t a, int64_t b) -> FailureOr<bool> {
      for (size_t k = 0; k < count; ++k) {
        arguments[2 * k] = &lines[k][size_t(a)];
        arguments[2 * k + 1] = &lines[k][size_t(b)];
      }
      if (failed(body->run(1, arguments, {&answer})))
        return failure();
      return answer.u != 0;
    };
    if (failed(mergeSort(order, isLess)))
      return failure();
    for (size_t k = 0; k < count; ++k)
      for (int64_t at = 0; at < extent; ++at)
        std::memcpy(results[k].mutableAt(start + at * stride),
                    call.tensor(k).at(start + order[size_t(at)] * stride),
                    results[k].getElementBytes());
  }
  for (Tensor &result : results)
    call.results.push_back(std::move(result));
  return success();
}

} // namespace

void addSortOps(OpTable &table) { table.add("stablehlo.sort", evalSort); }

} // namespace alula::reference
