// Slices with constant and with computed starts.
#include "reference/op_table.h"

#include <cstring>

using namespace mlir;

namespace alula::reference {
namespace {

LogicalResult slice(OpCall &call, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> limits,
                    llvm::ArrayRef<int64_t> strides) {
  const Tensor &operand = call.tensor(0);
  size_t rank = operand.getDims().size();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return call.error() << "starts, limits and strides must have one number "
                           "for each of "
                        << rank << " dimensions";
  Dims dims(rank), from = getStrides(operand.getDims());
  int64_t at = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (starts[d] < 0 || limits[d] < starts[d] ||
        limits[d] > operand.getDim(d) || strides[d] < 1)
      return call.error() << "the range " << starts[d] << ":" << limits[d]
                          << ":" << strides[d]
                          << " does not fit dimension " << d << " of size "
                          << operand.getDim(d);
    dims[d] = (limits[d] - starts[d] + strides[d] - 1) / strides[d];
    at += starts[d] * from[d];
    from[d] *= strides[d];
  }
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  if (result->getSize() != 0)
    copyBox(result->getElementBytes(), dims, operand.at(at), from,
            result->getMutableData(), getStrides(dims));
  return call.give(*result);
}

LogicalResult evalSlice(OpCall &call) {
  return slice(call, call.getInts("start_indices"),
               call.getInts("limit_indices"), call.getInts("strides"));
}

LogicalResult evalRealDynamicSlice(OpCall &call) {
  return slice(call, call.tensor(1).getIntegers(),
               call.tensor(2).getIntegers(), call.tensor(3).getIntegers());
}

/// Start indices from operand `first` on, moved so that a box of `sizes` lies
/// inside `dims`.
FailureOr<int64_t> getClampedStart(OpCall &call, size_t first,
                                   llvm::ArrayRef<int64_t> dims,
                                   llvm::ArrayRef<int64_t> sizes) {
  if (call.operands.size() - first != dims.size() ||
      sizes.size() != dims.size())
    return call.error() << "needs " << dims.size()
                        << " start indices and sizes, got "
                        << call.operands.size() - first << " and "
                        << sizes.size();
  Dims strides = getStrides(dims);
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (sizes[d] < 0 || sizes[d] > dims[d])
      return call.error() << "size " << sizes[d] << " does not fit dimension "
                          << d << " of size " << dims[d];
    int64_t start = call.tensor(first + d).getInteger(0);
    at += std::clamp<int64_t>(start, 0, dims[d] - sizes[d]) * strides[d];
  }
  return at;
}

LogicalResult evalDynamicSlice(OpCall &call) {
  const Tensor &operand = call.tensor(0);
  llvm::SmallVector<int64_t> sizes = call.getInts("slice_sizes");
  FailureOr<int64_t> at =
      getClampedStart(call, 1, operand.getDims(), sizes);
  if (failed(at))
    return failure();
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), sizes);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  if (result->getSize() != 0)
    copyBox(result->getElementBytes(), sizes, operand.at(*at),
            getStrides(operand.getDims()), result->getMutableData(),
            getStrides(sizes));
  return call.give(*result);
}

LogicalResult evalDynamicUpdateSlice(OpCall &call) {
  const Tensor &operand = call.tensor(0), &update = call.tensor(1);
  FailureOr<int64_t> at =
      getClampedStart(call, 2, operand.getDims(), update.getDims());
  if (failed(at))
    return failure();
  FailureOr<Tensor> result =
      call.newTensor(call.getElementType(0), operand.getDims());
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  std::memcpy(result->getMutableData(), operand.getData(),
              operand.getByteSize());
  if (update.getSize() != 0)
    copyBox(result->getElementBytes(), update.getDims(), update.getData(),
            getStrides(update.getDims()), result->mutableAt(*at),
            getStrides(operand.getDims()));
  return call.give(*result);
}

} // namespace

void addSliceOps(OpTable &table) {
  table.add("stablehlo.slice", evalSlice);
  table.add("stablehlo.real_dynamic_slice", evalRealDynamicSlice);
  table.add("stablehlo.dynamic_slice", evalDynamicSlice);
  table.add("stablehlo.dynamic_update_slice", evalDynamicUpdateSlice);
}

} // namespace alula::reference
