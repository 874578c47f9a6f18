// Sizes of results with dynamic dimensions, as code of the kernel.

#include "compiler/kernel/lowering.h"

#include "dialect/stablehlo/result_sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
class KernelSizes : public stablehlo::SizeArithmetic {
public:
  explicit KernelSizes(Lowering &lowering) : lowering(lowering) {}

  Value makeNumber(int64_t value) override { return lowering.index(value); }
  Value getDim(Value tensor, int64_t dim) override {
    return lowering.getDim(tensor, dim);
  }
  Value getElement(Value tensor, ArrayRef<int64_t> position) override {
    SmallVector<Value> indices;
    for (int64_t at : position)
      indices.push_back(lowering.index(at));
    return lowering.getIndexElement(tensor, indices);
  }
  Value add(Value a, Value b) override { return lowering.add(a, b); }
  Value subtract(Value a, Value b) override { return lowering.sub(a, b); }
  Value multiply(Value a, Value b) override { return lowering.mul(a, b); }
  Value getMaximum(Value a, Value b) override {
    return lowering.b.createOrFold<arith::MaxSIOp>(a, b);
  }
  Value divide(Value a, Value b) override { return lowering.div(a, b); }

private:
  Lowering &lowering;
};
} // namespace

SmallVector<Value> alula::kernel::computeResultShape(OpResult result,
                                                     Lowering &lowering) {
  KernelSizes sizes(lowering);
  return stablehlo::computeResultSizes(result, sizes)
      .value_or(SmallVector<Value>());
}
