// Sizes of results with dynamic dimensions, as code of the kernel.

#include "compiler/kernel/element/reader.h"

#include "dialect/stablehlo/result_sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
class KernelSizes : public stablehlo::SizeArithmetic {
public:
  explicit KernelSizes(Reader &reader) : reader(reader) {}

  Value makeNumber(int64_t value) override { return reader.index(value); }
  Value getDim(Value tensor, int64_t dim) override {
    return reader.getDim(tensor, dim);
  }
  Value getElement(Value tensor, ArrayRef<int64_t> position) override {
    SmallVector<Value> indices;
    for (int64_t at : position)
      indices.push_back(reader.index(at));
    return reader.getIndexElement(tensor, indices);
  }
  Value add(Value a, Value b) override { return reader.add(a, b); }
  Value subtract(Value a, Value b) override { return reader.sub(a, b); }
  Value multiply(Value a, Value b) override { return reader.mul(a, b); }
  Value getMaximum(Value a, Value b) override {
    return reader.b.createOrFold<arith::MaxSIOp>(a, b);
  }
  Value divide(Value a, Value b) override { return reader.div(a, b); }

private:
  Reader &reader;
};
} // namespace

SmallVector<Value> Reader::computeShape(OpResult result) {
  KernelSizes sizes(*this);
  return stablehlo::computeResultSizes(result, sizes)
      .value_or(SmallVector<Value>());
}
