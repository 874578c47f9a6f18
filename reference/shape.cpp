// Ops that make or rearrange elements without computing on them.
#include "reference/op_table.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;

namespace alula::reference {
namespace {

/// The static shape of result 0, or an error if it leaves a dimension open.
FailureOr<Dims> getStaticDims(OpCall &call) {
  ShapedType type = call.getShapedType(0);
  if (!type.hasStaticShape())
    return call.error() << "the result shape must be static here, it is "
                        << type;
  return Dims(type.getShape());
}

LogicalResult evalConstant(OpCall &call) {
  auto value = call.op->getAttrOfType<ElementsAttr>("value");
  if (!value)
    return call.error() << "value must be an elements attribute";
  FailureOr<Tensor> tensor = call.evaluator.getConstant(
      call.op, value, call.getElementType(0));
  if (failed(tensor))
    return failure();
  return call.give(*tensor);
}

LogicalResult makeIota(OpCall &call, llvm::ArrayRef<int64_t> dims) {
  int64_t dimension = call.getInt("iota_dimension");
  if (dimension < 0 || dimension >= int64_t(dims.size()))
    return call.error() << "iota_dimension must be below the rank "
                        << dims.size() << ", it is " << dimension;
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  int64_t inner = 1;
  for (size_t d = size_t(dimension) + 1; d < dims.size(); ++d)
    inner *= dims[d];
  bool real = isFloat(result->getKind()) || isComplex(result->getKind());
  int64_t extent = dims[size_t(dimension)];
  for (int64_t k = 0; k < result->getSize(); ++k) {
    Cell cell{};
    int64_t index = k / inner % extent;
    if (real)
      cell.re = double(index);
    else
      cell.i = index;
    result->setCell(k, cell);
  }
  return call.give(*result);
}

LogicalResult evalIota(OpCall &call) {
  FailureOr<Dims> dims = getStaticDims(call);
  return failed(dims) ? failure() : makeIota(call, *dims);
}

LogicalResult evalDynamicIota(OpCall &call) {
  return makeIota(call, call.tensor(0).getIntegers());
}

LogicalResult reshape(OpCall &call, llvm::ArrayRef<int64_t> dims) {
  const Tensor &operand = call.tensor(0);
  std::optional<int64_t> size = getNumElements(dims);
  if (!size || *size != operand.getSize())
    return call.error() << "cannot reshape " << printDims(operand.getDims())
                        << " to " << printDims(dims)
                        << ": the number of elements must stay";
  return call.give(operand.withDims(dims).withElementType(
      call.getElementType(0)));
}

LogicalResult evalReshape(OpCall &call) {
  Dims dims(call.getShapedType(0).getShape());
  int64_t known = 1, open = -1;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (!ShapedType::isDynamic(dim)) {
      known *= dim;
      continue;
    }
    if (open >= 0)
      return call.error() << "the result shape has more than one open "
                             "dimension: "
                          << call.getShapedType(0);
    open = int64_t(d);
  }
  // One open dimension takes what is left.
  if (open >= 0)
    dims[size_t(open)] = known == 0 ? 0 : call.tensor(0).getSize() / known;
  return reshape(call, dims);
}

LogicalResult evalDynamicReshape(OpCall &call) {
  return reshape(call, call.tensor(1).getIntegers());
}

LogicalResult broadcast(OpCall &call, llvm::ArrayRef<int64_t> dims,
                        llvm::ArrayRef<int64_t> mapping) {
  const Tensor &operand = call.tensor(0);
  if (int64_t(mapping.size()) != operand.getRank())
    return call.error() << "broadcast_dimensions must name "
                        << operand.getRank() << " dimensions, it names "
                        << mapping.size();
  Dims from(dims.size(), 0), own = getStrides(operand.getDims());
  for (auto [d, target] : llvm::enumerate(mapping)) {
    int64_t size = operand.getDim(d);
    if (target < 0 || target >= int64_t(dims.size()) ||
        (size != 1 && size != dims[size_t(target)]))
      return call.error() << "cannot broadcast "
                          << printDims(operand.getDims()) << " to "
                          << printDims(dims) << " along "
                          << printDims(mapping);
    from[size_t(target)] = size == 1 ? 0 : own[d];
  }
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  copyBox(result->getElementBytes(), dims, operand.getData(), from,
          result->getMutableData(), getStrides(dims));
  return call.give(*result);
}

LogicalResult evalBroadcastInDim(OpCall &call) {
  Dims dims(call.getShapedType(0).getShape());
  llvm::SmallVector<int64_t> mapping = call.getInts("broadcast_dimensions");
  // A bounded result takes its open dimensions from the operand.
  for (auto [d, target] : llvm::enumerate(mapping))
    if (target >= 0 && target < int64_t(dims.size()) &&
        d < call.tensor(0).getDims().size() &&
        ShapedType::isDynamic(dims[size_t(target)]))
      dims[size_t(target)] = call.tensor(0).getDim(d);
  return broadcast(call, dims, mapping);
}

LogicalResult evalDynamicBroadcastInDim(OpCall &call) {
  return broadcast(call, call.tensor(1).getIntegers(),
                   call.getInts("broadcast_dimensions"));
}

LogicalResult evalBroadcast(OpCall &call) {
  llvm::SmallVector<int64_t> dims = call.getInts("broadcast_sizes");
  llvm::SmallVector<int64_t> mapping;
  for (int64_t dim : call.tensor(0).getDims()) {
    mapping.push_back(int64_t(dims.size()));
    dims.push_back(dim);
  }
  return broadcast(call, dims, mapping);
}

LogicalResult evalTranspose(OpCall &call) {
  const Tensor &operand = call.tensor(0);
  llvm::SmallVector<int64_t> permutation = call.getInts("permutation");
  Dims dims, from, own = getStrides(operand.getDims());
  llvm::SmallVector<bool> used(own.size(), false);
  for (int64_t d : permutation) {
    if (d < 0 || d >= operand.getRank() || used[size_t(d)])
      return call.error() << "permutation must be one of "
                          << operand.getRank() << " dimensions, it is "
                          << printDims(permutation);
    used[size_t(d)] = true;
    dims.push_back(operand.getDim(size_t(d)));
    from.push_back(own[size_t(d)]);
  }
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  copyBox(result->getElementBytes(), dims, operand.getData(), from,
          result->getMutableData(), getStrides(dims));
  return call.give(*result);
}

LogicalResult evalReverse(OpCall &call) {
  const Tensor &operand = call.tensor(0);
  Dims to = getStrides(operand.getDims()), from = to;
  int64_t start = 0;
  for (int64_t d : call.getInts("dimensions")) {
    if (d < 0 || d >= operand.getRank())
      return call.error() << "dimensions must be below the rank "
                          << operand.getRank() << ", one is " << d;
    start += (operand.getDim(size_t(d)) - 1) * from[size_t(d)];
    from[size_t(d)] = -from[size_t(d)];
  }
  FailureOr<Tensor> result =
      call.newTensor(operand.getElementType(), operand.getDims());
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  if (result->getSize() != 0)
    copyBox(result->getElementBytes(), operand.getDims(), operand.at(start),
            from, result->getMutableData(), to);
  return call.give(*result);
}

LogicalResult evalConcatenate(OpCall &call) {
  int64_t dimension = call.getInt("dimension");
  Dims dims(call.tensor(0).getDims());
  if (dimension < 0 || dimension >= int64_t(dims.size()))
    return call.error() << "dimension must be below the rank " << dims.size()
                        << ", it is " << dimension;
  dims[size_t(dimension)] = 0;
  for (const Value &operand : call.operands) {
    llvm::ArrayRef<int64_t> own = operand.getTensor().getDims();
    for (size_t d = 0; d < dims.size(); ++d)
      if (own.size() != dims.size() ||
          (int64_t(d) != dimension && own[d] != dims[d]))
        return call.error() << "operands must agree but for dimension "
                            << dimension << ", one has shape "
                            << printDims(own);
    dims[size_t(dimension)] += own[size_t(dimension)];
  }
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  Dims to = getStrides(dims);
  int64_t start = 0;
  for (const Value &value : call.operands) {
    const Tensor &operand = value.getTensor();
    if (operand.getSize() != 0)
      copyBox(result->getElementBytes(), operand.getDims(), operand.getData(),
              getStrides(operand.getDims()),
              result->mutableAt(start * to[size_t(dimension)]), to);
    start += operand.getDim(size_t(dimension));
  }
  return call.give(*result);
}

LogicalResult pad(OpCall &call, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high,
                  llvm::ArrayRef<int64_t> interior) {
  const Tensor &operand = call.tensor(0), &padding = call.tensor(1);
  size_t rank = operand.getDims().size();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return call.error() << "paddings must have one number for each of " << rank
                        << " dimensions";
  Dims dims(rank);
  for (size_t d = 0; d < rank; ++d) {
    int64_t size = operand.getDim(d), gaps;
    if (interior[d] < 0)
      return call.error() << "interior padding must not be negative, it is "
                          << printDims(interior);
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior[d], gaps) ||
        llvm::AddOverflow(size, gaps, size) ||
        llvm::AddOverflow(size, low[d], size) ||
        llvm::AddOverflow(size, high[d], size))
      return call.error() << "the padded dimension " << d << " overflows";
    dims[d] = std::max<int64_t>(size, 0);
  }
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  size_t width = result->getElementBytes();
  for (int64_t k = 0; k < result->getSize(); ++k)
    std::memcpy(result->mutableAt(k), padding.getData(), width);
  // What of the operand is not cut off by negative padding.
  Dims box(rank), from = getStrides(operand.getDims()), to = getStrides(dims);
  int64_t source = 0, target = 0;
  for (size_t d = 0; d < rank; ++d) {
    int64_t step = interior[d] + 1;
    int64_t first = low[d] < 0 ? llvm::divideCeil(uint64_t(-low[d]), step) : 0;
    int64_t room = dims[d] - 1 - low[d];
    int64_t last = room < 0 ? -1 : std::min(room / step, operand.getDim(d) - 1);
    box[d] = std::max<int64_t>(last - first + 1, 0);
    source += first * from[d];
    target += (low[d] + first * step) * to[d];
    to[d] *= step;
  }
  if (getNumElements(box).value_or(0) != 0)
    copyBox(width, box, operand.at(source), from, result->mutableAt(target),
            to);
  return call.give(*result);
}

LogicalResult evalPad(OpCall &call) {
  return pad(call, call.getInts("edge_padding_low"),
             call.getInts("edge_padding_high"),
             call.getInts("interior_padding"));
}

LogicalResult evalDynamicPad(OpCall &call) {
  return pad(call, call.tensor(2).getIntegers(), call.tensor(3).getIntegers(),
             call.tensor(4).getIntegers());
}

LogicalResult evalGetDimensionSize(OpCall &call) {
  int64_t dimension = call.getInt("dimension");
  if (dimension < 0 || dimension >= call.tensor(0).getRank())
    return call.error() << "dimension must be below the rank "
                        << call.tensor(0).getRank() << ", it is "
                        << dimension;
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), {});
  if (failed(result))
    return failure();
  Cell cell{};
  cell.i = call.tensor(0).getDim(size_t(dimension));
  result->setCell(0, cell);
  return call.give(*result);
}

/// Keeps the first elements of a dimension.
LogicalResult evalSetDimensionSize(OpCall &call) {
  const Tensor &operand = call.tensor(0);
  int64_t dimension = call.getInt("dimension");
  if (dimension < 0 || dimension >= operand.getRank())
    return call.error() << "dimension must be below the rank "
                        << operand.getRank() << ", it is " << dimension;
  int64_t size = call.tensor(1).getInteger(0);
  if (size < 0 || size > operand.getDim(size_t(dimension)))
    return call.error() << "size must be at most "
                        << operand.getDim(size_t(dimension)) << ", it is "
                        << size;
  Dims dims(operand.getDims());
  dims[size_t(dimension)] = size;
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result))
    return failure();
  copyBox(result->getElementBytes(), dims, operand.getData(),
          getStrides(operand.getDims()), result->getMutableData(),
          getStrides(dims));
  return call.give(*result);
}

/// The elements' bits one after the other, lowest first.
std::vector<uint8_t> packBits(const Tensor &tensor, unsigned bits) {
  std::vector<uint8_t> packed((size_t(tensor.getSize()) * bits + 7) / 8);
  for (size_t k = 0; k < size_t(tensor.getSize()); ++k)
    for (unsigned b = 0; b < bits; ++b)
      if (tensor.getData()[k] >> b & 1)
        packed[(k * bits + b) / 8] |= uint8_t(1 << ((k * bits + b) % 8));
  return packed;
}

LogicalResult evalBitcastConvert(OpCall &call) {
  const Tensor &operand = call.tensor(0);
  Type type = call.getElementType(0);
  std::optional<Kind> kind = getKind(type);
  if (!kind)
    return call.error() << Tensor::describeFailure(
               type, {}, *call.evaluator.program.budget);
  unsigned from = getBitWidth(operand.getKind()), to = getBitWidth(*kind);
  Dims dims(operand.getDims());
  if (to < from) {
    dims.push_back(from / to);
  } else if (to > from) {
    if (dims.empty() || dims.back() != to / from)
      return call.error() << "the last dimension must be " << to / from
                          << " to join " << from << "-bit elements to " << to
                          << "-bit ones, the shape is " << printDims(dims);
    dims.pop_back();
  }
  FailureOr<Tensor> result = call.newTensor(type, dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  std::vector<uint8_t> packed;
  if (from < 8)
    packed = packBits(operand, from);
  else
    packed.assign(operand.getData(),
                  operand.getData() + operand.getByteSize());
  if (to >= 8) {
    std::memcpy(result->getMutableData(), packed.data(),
                std::min(packed.size(), result->getByteSize()));
    return call.give(*result);
  }
  for (size_t k = 0; k < size_t(result->getSize()); ++k) {
    Cell cell{};
    for (unsigned b = 0; b < to; ++b)
      cell.u |= uint64_t(packed[(k * to + b) / 8] >> ((k * to + b) % 8) & 1)
                << b;
    // As bits, whatever the kind means by them.
    uint8_t byte = uint8_t(cell.u);
    if (getDomain(result->getKind()) == Domain::Signed)
      result->setCell(int64_t(k), cell);
    else
      *result->mutableAt(int64_t(k)) = byte;
  }
  return call.give(*result);
}

} // namespace

void addShapeOps(OpTable &table) {
  table.add("stablehlo.constant", evalConstant);
  table.add("stablehlo.iota", evalIota, Quantized::Dequantized);
  table.add("stablehlo.dynamic_iota", evalDynamicIota,
            Quantized::Dequantized);
  table.add("stablehlo.reshape", evalReshape);
  table.add("stablehlo.dynamic_reshape", evalDynamicReshape);
  table.add("stablehlo.broadcast", evalBroadcast);
  table.add("stablehlo.broadcast_in_dim", evalBroadcastInDim);
  table.add("stablehlo.dynamic_broadcast_in_dim", evalDynamicBroadcastInDim);
  table.add("stablehlo.transpose", evalTranspose);
  table.add("stablehlo.reverse", evalReverse);
  table.add("stablehlo.concatenate", evalConcatenate);
  table.add("stablehlo.pad", evalPad);
  table.add("stablehlo.dynamic_pad", evalDynamicPad);
  table.add("stablehlo.get_dimension_size", evalGetDimensionSize);
  table.add("stablehlo.set_dimension_size", evalSetDimensionSize);
  table.add("stablehlo.bitcast_convert", evalBitcastConvert);
}

} // namespace alula::reference
