// Products with matrices whose elements are listed: calls of the kernel
// library, several at once.
//   alula.sparse_product: strips of columns of the result
//   alula.sparse_sampled: pieces of the list

#include "compiler/target/cpu/kernel/families.h"

#include "compiler/kernel/library/sparse.h"
#include "compiler/kernel/lowering.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// Values that are multiplied by one call.
constexpr int64_t sampledAtOnce = 4096;

class SparseEmitter {
public:
  SparseEmitter(stablehlo::CustomCallOp op, Lowering &lowering)
      : op(op), lowering(lowering), b(lowering.b),
        element(getElementType(op->getResult(0))) {}

  void product() {
    Value c = lowering.createResult(op->getResult(0));
    SmallVector<Value> sizes = lowering.getShape(op->getResult(0));
    Value count = lowering.getDim(operand(0), 0);
    SmallVector<Value> before{
        lowering.getPointer(c), pass(sizes[0]),
        pass(sizes[1]),         operandPointer(0),
        operandPointer(1),      pass(count),
        operandPointer(2),      pass(lowering.getDim(operand(2), 0)),
        getFlag("transposed")};
    Value width = lowering.index(ALULA_SPARSE_STRIP_BYTES /
                                 (element.getIntOrFloatBitWidth() / 8));
    // A step of a loop of scalars is one of a whole vector here.
    int64_t steps = 2 * getConstantIntValue(count).value_or(1 << 16);
    lowering.forEachBlock(
        lowering.ceilDiv(sizes[1], width), steps, [&](Value number) {
          Value first = lowering.mul(number, width);
          Value columns = lowering.min(width, lowering.sub(sizes[1], first));
          call("sparse_product", before, {pass(first), pass(columns)});
        });
  }

  void sampled() {
    Value out = lowering.createResult(op->getResult(0));
    Value count = lowering.getDim(operand(2), 0);
    SmallVector<Value> before{lowering.getPointer(out),
                              operandPointer(0),
                              pass(lowering.getDim(operand(0), 0)),
                              operandPointer(1),
                              pass(lowering.getDim(operand(1), 0)),
                              pass(lowering.getDim(operand(0), 1)),
                              operandPointer(2)};
    Value limit = lowering.index(sampledAtOnce);
    int64_t terms =
        getConstantIntValue(lowering.getDim(operand(0), 1)).value_or(64);
    int64_t steps = sampledAtOnce *
                    (1 + terms / std::max<int64_t>(lowering.machine.lanes, 1));
    lowering.forEachBlock(
        lowering.ceilDiv(count, limit), steps, [&](Value number) {
          Value first = lowering.mul(number, limit);
          Value left = lowering.min(limit, lowering.sub(count, first));
          call("sparse_sampled", before, {pass(first), pass(left)});
        });
  }

private:
  Value operand(unsigned index) { return op.getInputs()[index]; }
  Value operandPointer(unsigned index) {
    return lowering.getPointer(lowering.getBuffer(operand(index)));
  }
  Value pass(Value size) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), size);
  }
  Value getFlag(StringRef name) {
    auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
    auto flag = config ? config.getAs<BoolAttr>(name) : BoolAttr();
    return b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(flag && flag.getValue()));
  }
  void call(StringRef name, ArrayRef<Value> before, ArrayRef<Value> after) {
    SmallVector<Value> arguments(before);
    llvm::append_range(arguments, after);
    lowering.callLibrary("alula_" + name + "_" + getLibraryName(element),
                         arguments);
  }

  stablehlo::CustomCallOp op;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  Type element;
};
} // namespace

void alula::cpu::emitSparseProduct(Operation *op, Lowering &lowering) {
  SparseEmitter(cast<stablehlo::CustomCallOp>(op), lowering).product();
}

void alula::cpu::emitSparseSampled(Operation *op, Lowering &lowering) {
  SparseEmitter(cast<stablehlo::CustomCallOp>(op), lowering).sampled();
}
