// Products with matrices whose elements are listed: calls of the kernel
// library, several at once.
//   alula.sparse_product: parts of the list, if it is in order of rows, which
//       is found out first; else strips of columns, or sums of parts
//   alula.sparse_rows_product: rows with as many elements
//   alula.sparse_sampled: parts of the list

#include "compiler/target/cpu/kernel/families.h"

#include "compiler/kernel/library/sparse.h"
#include "compiler/kernel/lowering.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// A size that is only known at run time.
constexpr int64_t guessedCount = 1 << 16;
/// Steps of a scalar loop that a part takes, at least.
constexpr int64_t leastSteps = 1 << 13;
/// What copies of a result may take, all of them.
constexpr int64_t mostCopiedBytes = 8 << 20;

class SparseEmitter {
public:
  SparseEmitter(stablehlo::CustomCallOp op, Lowering &lowering)
      : op(op), lowering(lowering), b(lowering.b),
        element(getElementType(op->getResult(0))),
        sizes(lowering.getShape(op->getResult(0))) {}

  void product() {
    Value c = lowering.createResult(op->getResult(0));
    takeResult(/*rank=*/2);
    count = last(operand(0), 1);
    Value rows = last(op->getResult(0), 2), columns = last(op->getResult(0), 1);
    SmallVector<Value> list{pass(rows),
                            pass(columns),
                            operandPointer(0),
                            operandPointer(1),
                            pass(count),
                            operandPointer(2),
                            pass(last(operand(2), 2)),
                            getFlag("transposed")};
    // A step of a loop of scalars is one of a whole vector here.
    int64_t width = ALULA_SPARSE_STRIP_BYTES / elementBytes();
    int64_t steps = stepsOfAll(getConstantIntValue(columns).value_or(width));
    // Threads of a GPU, and bodies of loops, know no steps.
    if (lowering.machine.blockThreads > 1 ||
        !isa<func::FuncOp>(b.getInsertionBlock()->getParentOp())) {
      Value parts = lowering.ceilDiv(columns, lowering.index(width));
      forEachPart(parts, steps, std::nullopt, [&](ValueRange part) {
        SmallVector<Value> arguments{lowering.getPointer(c)};
        llvm::append_range(arguments, list);
        arguments.append({getNull(), getNull()});
        call("sparse_product_" + getLibraryName(element), arguments, part);
      });
      return;
    }
    int64_t parts = chooseParts(steps);
    Value each = lowering.index(parts), all = lowering.mul(matrices, each);
    Value order = lowering.createTemporary({all}, b.getI32Type());
    Value copies = createCopies(rows, columns, parts);
    forEachPart(each, stepsOfAll(1) / 8, 0, [&](ValueRange part) {
      call("sparse_order",
           {lowering.getPointer(order), pass(rows), operandPointer(1),
            pass(count), getFlag("transposed")},
           part);
    });
    forEachPart(each, steps, 1, [&](ValueRange part) {
      SmallVector<Value> arguments{lowering.getPointer(c)};
      llvm::append_range(arguments, list);
      arguments.append({lowering.getPointer(order),
                        copies ? lowering.getPointer(copies) : getNull()});
      call("sparse_product_" + getLibraryName(element), arguments, part);
    });
    if (!copies)
      return;
    forEachPart(
        each, *getConstantIntValue(rows) * parts, 2, [&](ValueRange part) {
          call("sparse_join_" + getLibraryName(element),
               {lowering.getPointer(c), pass(rows), pass(columns),
                lowering.getPointer(order), lowering.getPointer(copies)},
               part);
        });
  }

  void rowsProduct() {
    Value c = lowering.createResult(op->getResult(0));
    takeResult(/*rank=*/2);
    count = last(operand(0), 1);
    Value rows = last(op->getResult(0), 2), columns = last(op->getResult(0), 1);
    int64_t steps = stepsOfAll(getConstantIntValue(columns).value_or(16));
    forEachPart(lowering.index(chooseParts(steps)), steps, std::nullopt,
                [&](ValueRange part) {
                  call("sparse_rows_product_" + getLibraryName(element),
                       {lowering.getPointer(c), pass(rows), pass(columns),
                        operandPointer(0), operandPointer(1), operandPointer(2),
                        pass(count), operandPointer(3),
                        pass(last(operand(3), 2))},
                       part);
                });
  }

  void sampled() {
    Value out = lowering.createResult(op->getResult(0));
    takeResult(/*rank=*/1);
    count = last(op->getResult(0), 1);
    Value terms = last(operand(0), 1);
    int64_t steps = stepsOfAll(getConstantIntValue(terms).value_or(64));
    forEachPart(lowering.index(chooseParts(steps)), steps, std::nullopt,
                [&](ValueRange part) {
                  call("sparse_sampled_" + getLibraryName(element),
                       {lowering.getPointer(out), operandPointer(0),
                        pass(last(operand(0), 2)), operandPointer(1),
                        pass(last(operand(1), 2)), pass(terms),
                        operandPointer(2), pass(count)},
                       part);
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
  Value getNull() {
    return b.create<LLVM::ZeroOp>(LLVM::LLVMPointerType::get(b.getContext()));
  }
  int64_t elementBytes() { return element.getIntOrFloatBitWidth() / 8; }

  /// The size of a dimension, counted from the end.
  Value last(Value tensor, int64_t fromEnd) {
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    if (tensor == op->getResult(0))
      return sizes[size_t(rank - fromEnd)];
    return lowering.getDim(tensor, unsigned(rank - fromEnd));
  }

  /// All but the last `rank` dimensions are matrices of a batch.
  void takeResult(size_t rank) {
    matrices = lowering.product(ArrayRef(sizes).drop_back(rank));
  }

  Value getFlag(StringRef name) {
    auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
    auto flag = config ? config.getAs<BoolAttr>(name) : BoolAttr();
    return b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(flag && flag.getValue()));
  }

  /// Of a matrix each of whose values is multiplied by so many.
  int64_t stepsOfAll(int64_t terms) {
    int64_t lanes = std::max<int64_t>(lowering.machine.lanes, 1);
    return getConstantIntValue(count).value_or(guessedCount) *
           (2 + llvm::divideCeil(terms, lanes));
  }

  /// Parts of one matrix.
  int64_t chooseParts(int64_t steps) {
    if (lowering.machine.blockThreads > 1)
      return llvm::divideCeil(steps, leastSteps);
    int64_t most = lowering.machine.getMaxWorkgroups();
    if (auto known = getConstantIntValue(matrices))
      most = llvm::divideCeil(most, std::max<int64_t>(*known, 1));
    if (getConstantIntValue(count))
      most = std::min<int64_t>(most, llvm::divideCeil(steps, leastSteps));
    return std::max<int64_t>(most, 1);
  }

  /// For lists in no order that are longer than the copies of their result.
  Value createCopies(Value rows, Value columns, int64_t parts) {
    auto m = getConstantIntValue(rows), n = getConstantIntValue(columns);
    auto values = getConstantIntValue(count),
         batch = getConstantIntValue(matrices);
    if (!m || !n || !values || !batch || parts == 1 ||
        *n * elementBytes() > ALULA_SPARSE_STRIP_BYTES)
      return {};
    int64_t all = 0;
    if (llvm::MulOverflow(*m * *n, *batch * parts, all) ||
        all > mostCopiedBytes / elementBytes() || *m * parts * 2 > *values)
      return {};
    return lowering.createTemporary({lowering.index(all)}, element);
  }

  void forEachPart(Value parts, int64_t steps, std::optional<int64_t> step,
                   llvm::function_ref<void(ValueRange part)> body) {
    Value all = lowering.mul(matrices, parts);
    int64_t each = steps / getConstantIntValue(parts).value_or(1);
    lowering.forEachBlock(all, std::max<int64_t>(each, 1), [&](Value number) {
      Operation *loop = b.getInsertionBlock()->getParentOp();
      if (step && !isa<func::FuncOp>(loop))
        loop->setAttr("kernel.step", b.getI64IntegerAttr(*step));
      bool isOne = getConstantIntValue(matrices) == 1;
      body({isOne ? lowering.index(0) : lowering.div(number, parts),
            isOne ? number : lowering.rem(number, parts), parts});
    });
  }

  void call(const Twine &name, ArrayRef<Value> arguments, ValueRange part) {
    SmallVector<Value> all(arguments);
    for (Value number : part)
      all.push_back(pass(number));
    lowering.callLibrary(("alula_" + name).str(), all);
  }

  stablehlo::CustomCallOp op;
  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  Type element;
  SmallVector<Value> sizes;
  Value matrices, count;
};
} // namespace

void alula::cpu::emitSparseProduct(Operation *op, Lowering &lowering) {
  auto call = cast<stablehlo::CustomCallOp>(op);
  SparseEmitter emitter(call, lowering);
  call.getCallTargetName() == "alula.sparse_product" ? emitter.product()
                                                     : emitter.rowsProduct();
}

void alula::cpu::emitSparseSampled(Operation *op, Lowering &lowering) {
  SparseEmitter(cast<stablehlo::CustomCallOp>(op), lowering).sampled();
}
