#include "reference/fold.h"

using namespace mlir;

namespace alula::reference {

FailureOr<Fold> Fold::prepare(const OpCall &call, Region &region,
                              llvm::ArrayRef<Tensor> initialValues) {
  FailureOr<ScalarBody> body = ScalarBody::prepare(call, region);
  if (failed(body))
    return failure();
  size_t count = initialValues.size();
  if (body->getNumArguments() != 2 * count || body->getNumResults() != count)
    return call.error() << "the region must take " << 2 * count
                        << " values and give " << count << ", it takes "
                        << body->getNumArguments() << " and gives "
                        << body->getNumResults();
  if (call.getWide())
    body->keepWide();
  Fold fold(std::move(*body));
  fold.accumulators.resize(count * laneCount);
  fold.values.resize(count * laneCount);
  for (const Tensor &tensor : initialValues) {
    if (tensor.getSize() != 1)
      return call.error() << "initial values must be scalars";
    fold.initial.push_back(tensor.getCell(0));
  }
  for (size_t k = 0; k < count; ++k) {
    fold.inputs.push_back(fold.accumulators.data() + k * laneCount);
    fold.outputs.push_back(fold.accumulators.data() + k * laneCount);
  }
  for (size_t k = 0; k < count; ++k)
    fold.inputs.push_back(fold.values.data() + k * laneCount);
  return fold;
}

void Fold::start(size_t n) {
  for (size_t k = 0; k < initial.size(); ++k)
    std::fill_n(getAccumulator(k), n, initial[k]);
}

} // namespace alula::reference
