// Matrix products.

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/target/cpu/kernel/block_product.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/few_sums.h"

#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
class DotEmitter {
public:
  DotEmitter(stablehlo::DotGeneralOp dot, Lowering &lowering)
      : dot(dot), lowering(lowering), numbers(dot.getDotDimensionNumbers()),
        sumType(getSumType(getElementType(dot.getResult()))),
        lhsFree(collectFreeDims(dot, /*isLhs=*/true)),
        rhsFree(collectFreeDims(dot, /*isLhs=*/false)) {}

  void emit();

private:
  SmallVector<Value> getSizes(Value tensor, ArrayRef<int64_t> dims) {
    SmallVector<Value> sizes;
    for (int64_t dim : dims)
      sizes.push_back(lowering.getDim(tensor, dim));
    return sizes;
  }
  Value getOperand(Value tensor, ArrayRef<int64_t> batchDims,
                   ArrayRef<int64_t> freeDims, ArrayRef<int64_t> contractedDims,
                   ValueRange batch, ValueRange free, ValueRange contracted);
  Value getProductSum(ValueRange batch, ValueRange rows, ValueRange columns,
                      ValueRange contracted, Value sum);

  stablehlo::DotGeneralOp dot;
  Lowering &lowering;
  stablehlo::DotDimensionNumbersAttr numbers;
  Type sumType;
  SmallVector<int64_t> lhsFree, rhsFree;
};

Value DotEmitter::getOperand(Value tensor, ArrayRef<int64_t> batchDims,
                             ArrayRef<int64_t> freeDims,
                             ArrayRef<int64_t> contractedDims, ValueRange batch,
                             ValueRange free, ValueRange contracted) {
  SmallVector<Value> indices(
      static_cast<size_t>(cast<RankedTensorType>(tensor.getType()).getRank()));
  auto place = [&](ArrayRef<int64_t> dims, ValueRange values) {
    for (auto [dim, value] : llvm::zip_equal(dims, values))
      indices[static_cast<size_t>(dim)] = value;
  };
  place(batchDims, batch);
  place(freeDims, free);
  place(contractedDims, contracted);
  return widenForSum(lowering, dot, lowering.getElement(tensor, indices),
                     getElementType(tensor), sumType);
}

Value DotEmitter::getProductSum(ValueRange batch, ValueRange rows,
                                ValueRange columns, ValueRange contracted,
                                Value sum) {
  Value lhs = getOperand(dot.getLhs(), numbers.getLhsBatchingDimensions(),
                         lhsFree, numbers.getLhsContractingDimensions(), batch,
                         rows, contracted);
  Value rhs = getOperand(dot.getRhs(), numbers.getRhsBatchingDimensions(),
                         rhsFree, numbers.getRhsContractingDimensions(), batch,
                         columns, contracted);
  auto count = getConstantIntValue(lowering.product(
      getSizes(dot.getLhs(), numbers.getLhsContractingDimensions())));
  return multiplyAdd(lowering, lhs, rhs, sum, count);
}

void DotEmitter::emit() {
  Value result = dot.getResult();
  Value final = lowering.getFinalResult(dot->getResult(0));
  // Each element is read many times.
  lowering.getBuffer(dot.getLhs());
  lowering.getBuffer(dot.getRhs());
  SmallVector<Value> batchSizes =
      getSizes(dot.getLhs(), numbers.getLhsBatchingDimensions());
  SmallVector<Value> rowSizes = getSizes(dot.getLhs(), lhsFree);
  SmallVector<Value> columnSizes = getSizes(dot.getRhs(), rhsFree);
  SmallVector<Value> sumSizes =
      getSizes(dot.getLhs(), numbers.getLhsContractingDimensions());
  // The result's dimensions: batch, rows, columns.
  SmallVector<Value> outerSizes(batchSizes);
  llvm::append_range(outerSizes, rowSizes);
  Value buffer = lowering.createResult(final);
  Type element = getElementType(result);
  auto storeSum = [&](Value sum, ValueRange indices) {
    lowering.storeFinal(dot->getResult(0), roundSum(lowering, sum, element),
                        buffer, indices);
  };

  auto lastRhs = cast<RankedTensorType>(dot.getRhs().getType()).getRank() - 1;
  // Threads have an element each.
  bool columnsAreNeighbours = llvm::is_contained(rhsFree, lastRhs) &&
                              lowering.machine.blockThreads == 1;
  lowering.forEach(outerSizes, [&](ValueRange outer) {
    ValueRange batch = outer.take_front(batchSizes.size());
    ValueRange rows = outer.drop_front(batchSizes.size());
    auto at = [&](ValueRange columns) {
      SmallVector<Value> indices(outer);
      llvm::append_range(indices, columns);
      return indices;
    };
    if (keepsSumsInRegisters(lowering) && columnSizes.size() == 1) {
      forEachFew(lowering, columnSizes[0], [&](ArrayRef<Value> columns) {
        SmallVector<Value> zeros(columns.size(), lowering.zero(sumType));
        SmallVector<Value> sums = lowering.fold(
            sumSizes, zeros, [&](ValueRange contracted, ValueRange carried) {
              SmallVector<Value> next;
              for (auto [column, sum] : llvm::zip_equal(columns, carried))
                next.push_back(
                    getProductSum(batch, rows, column, contracted, sum));
              return next;
            });
        for (auto [column, sum] : llvm::zip_equal(columns, sums))
          storeSum(sum, at(column));
      });
      return;
    }
    if (!columnsAreNeighbours) {
      lowering.forEach(columnSizes, [&](ValueRange columns) {
        Value sum = lowering.fold(
            sumSizes, lowering.zero(sumType),
            [&](ValueRange contracted, ValueRange carried) {
              return SmallVector<Value>{getProductSum(
                  batch, rows, columns, contracted, carried.front())};
            })[0];
        storeSum(sum, at(columns));
      });
      return;
    }
    // One row of sums; each step adds a row of the right side to it.
    bool sumsInPlace = final == result && getMemoryType(element) == sumType;
    Value sums =
        sumsInPlace ? buffer : lowering.createTemporary(columnSizes, sumType);
    auto sumAt = [&](ValueRange columns) {
      return sumsInPlace ? at(columns) : llvm::to_vector(columns);
    };
    ImplicitLocOpBuilder &b = lowering.b;
    lowering.forEach(columnSizes, [&](ValueRange columns) {
      b.create<memref::StoreOp>(lowering.zero(sumType), sums, sumAt(columns));
    });
    lowering.fold(sumSizes, {},
                  [&](ValueRange contracted, ValueRange) -> SmallVector<Value> {
                    lowering.forEach(columnSizes, [&](ValueRange columns) {
                      SmallVector<Value> where = sumAt(columns);
                      Value sum = b.create<memref::LoadOp>(sums, where);
                      sum =
                          getProductSum(batch, rows, columns, contracted, sum);
                      b.create<memref::StoreOp>(sum, sums, where);
                    });
                    return {};
                  });
    if (!sumsInPlace)
      lowering.forEach(columnSizes, [&](ValueRange columns) {
        storeSum(b.create<memref::LoadOp>(sums, sumAt(columns)), at(columns));
      });
  });
}
} // namespace

void alula::cpu::emitDotGeneral(Operation *op, Lowering &lowering) {
  auto dot = cast<stablehlo::DotGeneralOp>(op);
  if (alula::dispatch::isShortSum(op))
    return lowering.materialize(dot.getResult());
  plan::StageAttr stage = getStage(op);
  if (!stage || stage.getTile().empty() || !emitBlockProduct(dot, lowering))
    DotEmitter(dot, lowering).emit();
}
