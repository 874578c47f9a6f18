// Batch normalisation, computed in double and rounded once at the end.
#include "reference/op_table.h"

#include <cmath>

using namespace mlir;

namespace alula::reference {
namespace {

/// The operand seen as [outer, feature, inner].
struct Layout {
  int64_t features = 0, inner = 1, size = 0;
  int64_t getFeature(int64_t k) const { return k / inner % features; }
  double getCount() const { return double(size / std::max<int64_t>(features, 1)); }
};

FailureOr<Layout> getLayout(OpCall &call) {
  const Tensor &operand = call.tensor(0);
  int64_t index = call.getInt("feature_index");
  if (index < 0 || index >= operand.getRank())
    return call.error() << "feature_index must be below the rank "
                        << operand.getRank() << ", it is " << index;
  Layout layout;
  layout.features = operand.getDim(size_t(index));
  layout.size = operand.getSize();
  for (int64_t d = index + 1; d < operand.getRank(); ++d)
    layout.inner *= operand.getDim(size_t(d));
  for (size_t k = 1; k < call.operands.size(); ++k)
    if (call.tensor(k).getRank() == 1 &&
        call.tensor(k).getSize() != layout.features)
      return call.error() << "operand " << k << " must have "
                          << layout.features << " elements, it has "
                          << call.tensor(k).getSize();
  if (failed(call.charge(layout.size)))
    return failure();
  return layout;
}

std::vector<double> read(const Tensor &tensor) {
  std::vector<Cell> cells(size_t(tensor.getSize()));
  load(tensor.getKind(), tensor.getData(), cells.data(), cells.size());
  std::vector<double> values;
  values.reserve(cells.size());
  for (const Cell &cell : cells)
    values.push_back(cell.re);
  return values;
}

LogicalResult give(OpCall &call, size_t k, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<double> values) {
  FailureOr<Tensor> result = call.newTensor(call.getElementType(k), dims);
  if (failed(result))
    return failure();
  for (size_t at = 0; at < values.size(); ++at) {
    Cell cell{};
    cell.re = values[at];
    result->setCell(int64_t(at), cell);
  }
  return call.give(*result);
}

double getEpsilon(OpCall &call) {
  auto attribute = call.op->getAttrOfType<FloatAttr>("epsilon");
  return attribute ? attribute.getValueAsDouble() : 0;
}

LogicalResult evalInference(OpCall &call) {
  FailureOr<Layout> layout = getLayout(call);
  if (failed(layout))
    return failure();
  std::vector<double> x = read(call.tensor(0)), scale = read(call.tensor(1)),
                      offset = read(call.tensor(2)),
                      mean = read(call.tensor(3)),
                      variance = read(call.tensor(4));
  double epsilon = getEpsilon(call);
  for (size_t k = 0; k < x.size(); ++k) {
    size_t f = size_t(layout->getFeature(int64_t(k)));
    x[k] = scale[f] * (x[k] - mean[f]) / std::sqrt(variance[f] + epsilon) +
           offset[f];
  }
  return give(call, 0, call.tensor(0).getDims(), x);
}

LogicalResult evalTraining(OpCall &call) {
  FailureOr<Layout> layout = getLayout(call);
  if (failed(layout))
    return failure();
  std::vector<double> x = read(call.tensor(0)), scale = read(call.tensor(1)),
                      offset = read(call.tensor(2));
  size_t features = size_t(layout->features);
  std::vector<double> mean(features, 0), variance(features, 0);
  double count = layout->getCount(), epsilon = getEpsilon(call);
  for (size_t k = 0; k < x.size(); ++k)
    mean[size_t(layout->getFeature(int64_t(k)))] += x[k];
  for (double &value : mean)
    value /= count;
  for (size_t k = 0; k < x.size(); ++k) {
    size_t f = size_t(layout->getFeature(int64_t(k)));
    variance[f] += (x[k] - mean[f]) * (x[k] - mean[f]);
  }
  for (double &value : variance)
    value /= count;
  for (size_t k = 0; k < x.size(); ++k) {
    size_t f = size_t(layout->getFeature(int64_t(k)));
    x[k] = scale[f] * (x[k] - mean[f]) / std::sqrt(variance[f] + epsilon) +
           offset[f];
  }
  int64_t dims[] = {layout->features};
  if (failed(give(call, 0, call.tensor(0).getDims(), x)) ||
      failed(give(call, 1, dims, mean)))
    return failure();
  return give(call, 2, dims, variance);
}

LogicalResult evalGrad(OpCall &call) {
  FailureOr<Layout> layout = getLayout(call);
  if (failed(layout))
    return failure();
  std::vector<double> x = read(call.tensor(0)), scale = read(call.tensor(1)),
                      mean = read(call.tensor(2)),
                      variance = read(call.tensor(3)),
                      grad = read(call.tensor(4));
  if (grad.size() != x.size())
    return call.error() << "grad_output must have the operand's shape";
  size_t features = size_t(layout->features);
  double count = layout->getCount(), epsilon = getEpsilon(call);
  // With c = x - mean and s = sqrt(variance + epsilon):
  //   grad_offset = sum(grad), grad_scale = sum(grad * c) / s,
  //   grad_x = scale / (n s) * (n grad - sum(grad) - c sum(grad c) / s^2).
  std::vector<double> sum(features, 0), dot(features, 0);
  for (size_t k = 0; k < x.size(); ++k) {
    size_t f = size_t(layout->getFeature(int64_t(k)));
    sum[f] += grad[k];
    dot[f] += grad[k] * (x[k] - mean[f]);
  }
  std::vector<double> gradScale(features);
  for (size_t f = 0; f < features; ++f)
    gradScale[f] = dot[f] / std::sqrt(variance[f] + epsilon);
  for (size_t k = 0; k < x.size(); ++k) {
    size_t f = size_t(layout->getFeature(int64_t(k)));
    double square = variance[f] + epsilon;
    double inner =
        count * grad[k] - sum[f] - (x[k] - mean[f]) * dot[f] / square;
    x[k] = scale[f] / std::sqrt(square) / count * inner;
  }
  int64_t dims[] = {layout->features};
  if (failed(give(call, 0, call.tensor(0).getDims(), x)) ||
      failed(give(call, 1, dims, gradScale)))
    return failure();
  return give(call, 2, dims, sum);
}

} // namespace

void addBatchNormOps(OpTable &table) {
  table.add("stablehlo.batch_norm_inference", evalInference,
            Quantized::Dequantized);
  table.add("stablehlo.batch_norm_training", evalTraining,
            Quantized::Dequantized);
  table.add("stablehlo.batch_norm_grad", evalGrad, Quantized::Dequantized);
}

} // namespace alula::reference
