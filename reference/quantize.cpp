// Quantized element types: their numbers, uniform_quantize and
// uniform_dequantize.
#include "reference/op_table.h"

#include "dialect/newer/types.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

#include <cmath>

using namespace mlir;

namespace alula::reference {
namespace {

/// Scales and zero points of a quantized type, and which pair an element uses.
struct Parameters {
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  double min = 0, max = 0;
  Type expressed;
  /// Contribution of index d / blocks[d] to the number of the pair.
  Dims blocks, strides;

  size_t getPair(llvm::ArrayRef<int64_t> index) const {
    int64_t pair = 0;
    for (size_t d = 0; d < strides.size(); ++d)
      pair += strides[d] == 0 ? 0 : index[d] / blocks[d] * strides[d];
    return size_t(pair);
  }
};

std::vector<double> readReals(DenseElementsAttr attribute) {
  std::vector<double> values;
  for (const llvm::APFloat &value : attribute.getValues<llvm::APFloat>()) {
    llvm::APFloat copy = value;
    bool exact;
    copy.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &exact);
    values.push_back(copy.convertToDouble());
  }
  return values;
}

FailureOr<Parameters> getParameters(const OpCall &call, Type type,
                                    llvm::ArrayRef<int64_t> dims) {
  Parameters facts;
  facts.blocks.assign(dims.size(), 1);
  facts.strides.assign(dims.size(), 0);
  if (auto sub = dyn_cast<newer::SubChannelQuantizedType>(type)) {
    const newer::SubChannelQuantization &q = sub.getQuantization();
    facts.scales = readReals(q.scales);
    for (const llvm::APInt &zero : q.zeroPoints.getValues<llvm::APInt>())
      facts.zeroPoints.push_back(q.isSigned ? zero.getSExtValue()
                                            : int64_t(zero.getZExtValue()));
    facts.min = double(q.storageMin);
    facts.max = double(q.storageMax);
    facts.expressed = q.expressedType;
    Dims grid = getStrides(q.scales.getType().getShape());
    if (grid.size() != dims.size())
      return call.error() << "scales of rank " << grid.size()
                          << " do not fit a tensor of rank " << dims.size();
    for (size_t d = 0; d < dims.size(); ++d)
      facts.strides[d] = q.scales.getType().getDimSize(unsigned(d)) == 1
                             ? 0
                             : grid[d];
    for (auto [d, block] : llvm::zip(q.quantizedDimensions, q.blockSizes))
      if (d >= 0 && size_t(d) < dims.size())
        facts.blocks[size_t(d)] = std::max<int64_t>(block, 1);
    for (size_t d = 0; d < dims.size(); ++d)
      if (facts.strides[d] != 0 &&
          (dims[d] + facts.blocks[d] - 1) / facts.blocks[d] >
              q.scales.getType().getDimSize(unsigned(d)))
        return call.error() << "blocks do not cover dimension " << d;
    return facts;
  }
  auto quantized = cast<quant::QuantizedType>(type);
  facts.min = double(quantized.getStorageTypeMin());
  facts.max = double(quantized.getStorageTypeMax());
  facts.expressed = quantized.getExpressedType();
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type)) {
    facts.scales = {uniform.getScale()};
    facts.zeroPoints = {uniform.getZeroPoint()};
    return facts;
  }
  auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  if (!axis)
    return call.error() << "the reference has no numbers for " << type;
  facts.scales.assign(axis.getScales().begin(), axis.getScales().end());
  facts.zeroPoints.assign(axis.getZeroPoints().begin(),
                          axis.getZeroPoints().end());
  int64_t d = axis.getQuantizedDimension();
  if (d < 0 || d >= int64_t(dims.size()) ||
      dims[size_t(d)] != int64_t(facts.scales.size()))
    return call.error() << "the quantized dimension " << d << " with "
                        << facts.scales.size() << " scales does not fit "
                        << printDims(dims);
  facts.strides[size_t(d)] = 1;
  return facts;
}

} // namespace

bool isQuantized(Type type) {
  return isa<quant::QuantizedType, newer::SubChannelQuantizedType>(type);
}

Type getExpressedType(Type type) {
  if (auto sub = dyn_cast<newer::SubChannelQuantizedType>(type))
    return sub.getQuantization().expressedType;
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return quantized.getExpressedType();
  return type;
}

FailureOr<Tensor> dequantize(const OpCall &call, const Tensor &tensor) {
  FailureOr<Parameters> facts =
      getParameters(call, tensor.getElementType(), tensor.getDims());
  if (failed(facts))
    return failure();
  FailureOr<Tensor> result =
      call.newTensor(facts->expressed, tensor.getDims());
  if (failed(result) || failed(call.charge(tensor.getSize())))
    return failure();
  int64_t at = 0;
  for (BoxWalk walk(tensor.getDims()); !walk.isDone(); walk.next(), ++at) {
    size_t pair = facts->getPair(walk.getIndex());
    // (stored - zero point) * scale, each step in the expressed type.
    Cell cell{};
    cell.re = double(tensor.getInteger(at) - facts->zeroPoints[pair]);
    Cell scale{};
    scale.re = facts->scales[pair];
    roundTo(result->getKind(), &cell, 1);
    roundTo(result->getKind(), &scale, 1);
    cell.re *= scale.re;
    result->setCell(at, cell);
  }
  return result;
}

FailureOr<Tensor> quantize(const OpCall &call, const Tensor &tensor,
                           Type type) {
  FailureOr<Parameters> facts = getParameters(call, type, tensor.getDims());
  if (failed(facts))
    return failure();
  FailureOr<Tensor> result = call.newTensor(type, tensor.getDims());
  if (failed(result) || failed(call.charge(tensor.getSize())))
    return failure();
  int64_t at = 0;
  for (BoxWalk walk(tensor.getDims()); !walk.isDone(); walk.next(), ++at) {
    size_t pair = facts->getPair(walk.getIndex());
    // x / scale + zero point, each step in the expressed type, then to the
    // nearest integer (ties to even), clamped to the storage range. The range
    // is exact: where the expressed type can't say it, its rounding would lie
    // outside.
    Cell scale{}, zero{};
    scale.re = facts->scales[pair];
    zero.re = double(facts->zeroPoints[pair]);
    roundTo(tensor.getKind(), &scale, 1);
    roundTo(tensor.getKind(), &zero, 1);
    Cell cell = tensor.getCell(at);
    cell.re /= scale.re;
    roundTo(tensor.getKind(), &cell, 1);
    cell.re += zero.re;
    roundTo(tensor.getKind(), &cell, 1);
    double value = std::nearbyint(cell.re);
    // NaN converts to the integer zero, as everywhere.
    if (std::isnan(value))
      value = 0;
    cell.i = int64_t(std::clamp(value, facts->min, facts->max));
    result->setCell(at, cell);
  }
  return result;
}

namespace {

LogicalResult evalQuantize(OpCall &call) {
  Tensor real = call.tensor(0);
  // Requantization goes through real numbers.
  if (isQuantized(real.getElementType())) {
    FailureOr<Tensor> plain = dequantize(call, real);
    if (failed(plain))
      return failure();
    real = *plain;
  }
  Type expressed = getExpressedType(call.getElementType(0));
  if (getKind(expressed) != real.getKind())
    return call.error() << "quantizes " << real.getElementType()
                        << ", the result expresses " << expressed;
  FailureOr<Tensor> result = quantize(call, real, call.getElementType(0));
  return failed(result) ? failure() : call.give(*result);
}

LogicalResult evalDequantize(OpCall &call) {
  if (!isQuantized(call.tensor(0).getElementType()))
    return call.error() << "the operand must be quantized";
  FailureOr<Tensor> result = dequantize(call, call.tensor(0));
  return failed(result) ? failure() : call.give(*result);
}

} // namespace

void addQuantizeOps(OpTable &table) {
  table.add("stablehlo.uniform_quantize", evalQuantize);
  table.add("stablehlo.uniform_dequantize", evalDequantize);
}

} // namespace alula::reference
