// Operands of products that are integers of few bits times scales, in memory.

#include "compiler/target/cpu/kernel/narrow_matrix.h"

#include "compiler/kernel/library/few_bits.h"
#include "compiler/kernel/library/product.h"
#include "dialect/dispatch/panel_layout.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// Rows that lie together in a panel.
int64_t getGroup(const NarrowMatrix &matrix) {
  return matrix.hasFourBits() ? 8 : 4;
}

int64_t countScaleLines(const NarrowMatrix &matrix) {
  return static_cast<int64_t>(
      llvm::divideCeil(static_cast<uint64_t>(matrix.layout.rows),
                       static_cast<uint64_t>(matrix.steps.rows)));
}

/// Whether routines for panels know the scales.
bool knowsScales(const NarrowMatrix &matrix) {
  const stablehlo::MatrixSteps &steps = matrix.steps;
  return (!steps.rowStep || steps.rows % getGroup(matrix) == 0) &&
         (matrix.hasScalePanels || !steps.columnStep ||
          (steps.columns == 1 && steps.columnStep == 1));
}

/// Panels of the library's columns with so many rows in a group; null for
/// others.
Value findPanels(Value tensor, const stablehlo::MatrixLayout &layout,
                 int64_t group, bool isOffset, Lowering &lowering) {
  auto op = tensor.getDefiningOp<alula::dispatch::FromPanelsOp>();
  if (!op || !lowering.isInlined(tensor))
    return {};
  auto dims =
      stablehlo::divideDims(cast<RankedTensorType>(tensor.getType()), layout);
  alula::dispatch::PanelLayout panels = alula::dispatch::getPanelLayout(op);
  if (!dims || op.getRows() != ArrayRef(dims->rows) ||
      op.getColumns() != ArrayRef(dims->columns) || panels.group != group ||
      panels.isOffset != isOffset || panels.width != ALULA_BLOCK_COLUMNS)
    return {};
  return op.getPanels();
}

/// The integers, as they lie or in panels.
bool placeIntegers(NarrowMatrix &matrix, Value integers, Type element,
                   Lowering &lowering) {
  auto type = cast<IntegerType>(getElementType(integers));
  matrix.type = getLibraryName(type);
  bool isSigned = !type.isUnsigned();
  // What scales are for is floats; bytes keep their sign.
  bool fits = element.isF32()
                  ? type.getWidth() == 4 || type.getWidth() == 8
                  : type.getWidth() == 4 &&
                        element.getIntOrFloatBitWidth() == 8 && !matrix.scale &&
                        isa<IntegerType>(element) &&
                        element.isUnsignedInteger() == type.isUnsigned();
  if (!fits)
    return false;
  auto isThere = [&](Value value) {
    return type.getWidth() == 4 ? lowering.hasPacked(value)
                                : lowering.hasBuffer(value);
  };
  if (element.isF32())
    if (Value panels = findPanels(integers, matrix.layout,
                                  alula::dispatch::getPanelGroup(type),
                                  /*isOffset=*/isSigned, lowering);
        panels && isThere(panels)) {
      matrix.isInPanels = true;
      matrix.integers = lowering.getPointer(lowering.getBinding(panels));
      return true;
    }
  if (!isThere(integers))
    return false;
  matrix.integers = lowering.getPointer(lowering.getBinding(integers));
  return true;
}

bool placeScale(NarrowMatrix &matrix, const stablehlo::ScaledIntegers &found,
                Type element, Lowering &lowering) {
  const stablehlo::MatrixSteps &steps = found.steps;
  if (lowering.hasBuffer(found.scale)) {
    matrix.scale = lowering.getBuffer(found.scale);
    return true;
  }
  if (matrix.isInPanels && steps.rowStep && steps.columnStep) {
    Value panels = findPanels(found.scale,
                              {countScaleLines(matrix), matrix.layout.columns,
                               steps.rowStep, steps.columnStep},
                              /*group=*/1, /*isOffset=*/false, lowering);
    if (panels && lowering.hasBuffer(panels)) {
      matrix.hasScalePanels = true;
      matrix.scale = lowering.getBuffer(panels);
      return true;
    }
  }
  if (steps.rowStep || steps.columnStep)
    return false;
  // One number.
  Value one =
      lowering.createTemporary({lowering.index(1)}, getMemoryType(element));
  Value number = found.broadcast->getOperand(0);
  SmallVector<Value> indices(
      static_cast<size_t>(cast<RankedTensorType>(number.getType()).getRank()),
      lowering.index(0));
  lowering.b.create<memref::StoreOp>(lowering.getElement(number, indices), one,
                                     ValueRange{lowering.index(0)});
  matrix.scale = one;
  return true;
}

/// Zero points are known to routines for panels, where they lie as scales do:
/// floats, or bytes that become floats.
bool placeZero(NarrowMatrix &matrix, const stablehlo::ScaledIntegers &found,
               Lowering &lowering) {
  if (!matrix.hasScalePanels || found.zeroSteps != found.steps)
    return false;
  Value numbers = found.zero;
  if (auto convert = numbers.getDefiningOp<stablehlo::ConvertOp>();
      convert && lowering.isInlined(numbers))
    numbers = convert.getOperand();
  Type type = getElementType(numbers);
  if (!type.isF32() && !type.isInteger(8))
    return false;
  matrix.zeroKind = type.isF32()               ? ALULA_ZERO_FLOATS
                    : type.isUnsignedInteger() ? ALULA_ZERO_UNSIGNED
                                               : ALULA_ZERO_SIGNED;
  Value panels = findPanels(numbers,
                            {countScaleLines(matrix), matrix.layout.columns,
                             found.steps.rowStep, found.steps.columnStep},
                            /*group=*/1, /*isOffset=*/false, lowering);
  if (!panels || !lowering.hasBuffer(panels))
    return false;
  matrix.zero = lowering.getBuffer(panels);
  return true;
}
} // namespace

std::optional<NarrowMatrix>
alula::cpu::findNarrowMatrix(Value operand, ArrayRef<int64_t> batch,
                             ArrayRef<int64_t> rows, ArrayRef<int64_t> columns,
                             Type element, Lowering &lowering) {
  auto found = stablehlo::findScaledIntegers(
      operand, batch, rows, columns, element, [&](Operation *op) {
        return op->getNumResults() == 1 && lowering.isInlined(op->getResult(0));
      });
  if (!found)
    return std::nullopt;
  NarrowMatrix matrix;
  matrix.layout = found->layout;
  matrix.steps = found->steps;
  matrix.batch = found->batch;
  matrix.scale = found->scale;
  if (!placeIntegers(matrix, found->integers, element, lowering) ||
      (found->scale && !placeScale(matrix, *found, element, lowering)) ||
      (found->zero && !placeZero(matrix, *found, lowering)) ||
      (matrix.isInPanels && !knowsScales(matrix)))
    return std::nullopt;
  // Matrices begin with a byte.
  if (matrix.hasFourBits() &&
      llvm::any_of(matrix.batch, [](const stablehlo::BatchStep &step) {
        return step.integers % 2 != 0;
      }))
    return std::nullopt;
  return matrix;
}

NarrowMatrix alula::cpu::getMatrix(Lowering &lowering,
                                   const NarrowMatrix &first,
                                   ValueRange batch) {
  NarrowMatrix matrix = first;
  if (batch.empty())
    return matrix;
  ImplicitLocOpBuilder &b = lowering.b;
  Value bytes = lowering.index(0), scale = lowering.index(0);
  for (auto [step, index] : llvm::zip_equal(first.batch, batch)) {
    int64_t apart = first.hasFourBits() ? step.integers / 2 : step.integers;
    bytes = lowering.add(bytes, lowering.mul(index, lowering.index(apart)));
    scale =
        lowering.add(scale, lowering.mul(index, lowering.index(step.scale)));
  }
  Value offset = b.create<arith::IndexCastOp>(b.getI64Type(), bytes);
  matrix.integers =
      b.create<LLVM::GEPOp>(first.integers.getType(), b.getI8Type(),
                            first.integers, LLVM::GEPArg(offset));
  matrix.firstScale = scale;
  return matrix;
}

void RoutineArguments::addSize(Value size) {
  values.push_back(
      lowering.b.create<arith::IndexCastOp>(lowering.b.getI64Type(), size));
}

Value alula::cpu::getElementPointer(Lowering &lowering, Value buffer,
                                    Value number) {
  ImplicitLocOpBuilder &b = lowering.b;
  Value pointer = lowering.getPointer(buffer);
  if (getConstantIntValue(number) == 0)
    return pointer;
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Value offset = b.create<arith::IndexCastOp>(b.getI64Type(), number);
  return b.create<LLVM::GEPOp>(pointer.getType(), element, pointer,
                               LLVM::GEPArg(offset));
}

bool alula::cpu::beginsPanels(const NarrowMatrix &matrix, Value columnLimit) {
  auto limit = getConstantIntValue(columnLimit);
  return limit &&
         (*limit % ALULA_BLOCK_COLUMNS == 0 || *limit >= matrix.layout.columns);
}

void RoutineArguments::addPanels(const NarrowMatrix &matrix,
                                 Value firstColumn) {
  ImplicitLocOpBuilder &b = lowering.b;
  int64_t bytes = llvm::alignTo(static_cast<uint64_t>(matrix.layout.rows),
                                static_cast<uint64_t>(getGroup(matrix))) /
                  getGroup(matrix) * ALULA_PANEL_BYTES;
  Value panel = lowering.div(firstColumn, lowering.index(ALULA_BLOCK_COLUMNS));
  Value offset = b.create<arith::IndexCastOp>(
      b.getI64Type(), lowering.mul(panel, lowering.index(bytes)));
  values.push_back(b.create<LLVM::GEPOp>(matrix.integers.getType(),
                                         b.getI8Type(), matrix.integers,
                                         LLVM::GEPArg(offset)));
  addSize(bytes);
}

void RoutineArguments::addPanelScales(const NarrowMatrix &matrix,
                                      Value firstColumn) {
  ImplicitLocOpBuilder &b = lowering.b;
  const stablehlo::MatrixSteps &steps = matrix.steps;
  int64_t line =
      matrix.hasScalePanels ? int64_t(ALULA_BLOCK_COLUMNS) : steps.rowStep;
  int64_t step = matrix.hasScalePanels ? 1 : steps.columnStep;
  int64_t panel = matrix.hasScalePanels
                      ? countScaleLines(matrix) * ALULA_BLOCK_COLUMNS
                      : ALULA_BLOCK_COLUMNS * steps.columnStep;
  if (matrix.scale) {
    Value number = lowering.mul(
        lowering.div(firstColumn, lowering.index(ALULA_BLOCK_COLUMNS)),
        lowering.index(panel));
    values.push_back(getElementPointer(lowering, matrix.scale, number));
  } else {
    values.push_back(
        b.create<LLVM::ZeroOp>(LLVM::LLVMPointerType::get(b.getContext())));
  }
  addSize(steps.rows);
  addSize(line);
  addSize(panel);
  addSize(step);
}

void RoutineArguments::addPanelZeros(const NarrowMatrix &matrix,
                                     Value firstColumn) {
  if (matrix.zero) {
    int64_t panel = countScaleLines(matrix) * ALULA_BLOCK_COLUMNS;
    Value number = lowering.mul(
        lowering.div(firstColumn, lowering.index(ALULA_BLOCK_COLUMNS)),
        lowering.index(panel));
    values.push_back(getElementPointer(lowering, matrix.zero, number));
  } else {
    ImplicitLocOpBuilder &b = lowering.b;
    values.push_back(
        b.create<LLVM::ZeroOp>(LLVM::LLVMPointerType::get(b.getContext())));
  }
  addSize(matrix.zeroKind);
}
