#include "compiler/target/cpu/kernel/sum_call.h"

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/library/sums.h"
#include "compiler/target/cpu/kernel/narrow_matrix.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

bool alula::cpu::isSumOfLibrary(stablehlo::ReduceOp reduce,
                                Reduction &reduction, Lowering &lowering) {
  // Loops over less have no call to pay for. A row has so many steps, or, where
  // loops would nest, so many.
  constexpr int64_t minRows = 32, longRow = 32, longRowOfSeveral = 8;
  Type type = reduction.getFloatSum();
  if (!type || lowering.machine.lanes < 4)
    return false;
  Value operand = reduce.getInputs()[0];
  if (getElementType(operand) != type ||
      getElementType(reduce.getResults()[0]) != type ||
      !lowering.hasBuffer(operand))
    return false;
  auto shape = cast<RankedTensorType>(operand.getType());
  ArrayRef<int64_t> dims = reduce.getDimensions();
  auto [first, last] = std::minmax_element(dims.begin(), dims.end());
  if (*last - *first + 1 != static_cast<int64_t>(dims.size()))
    return false;
  int64_t terms = 1;
  for (int64_t dim : dims) {
    int64_t size = shape.getDimSize(static_cast<unsigned>(dim));
    if (ShapedType::isDynamic(size))
      return false;
    terms *= size;
  }
  bool areRows = *last + 1 == shape.getRank();
  int64_t least = dims.size() > 1 ? longRowOfSeveral : longRow;
  return terms >= (areRows ? least * lowering.machine.lanes : minRows);
}

static void callSum(Lowering &lowering, StringRef what, const SumCall &call,
                    Value scratch) {
  RoutineArguments arguments(lowering, call.to);
  arguments.add(call.from);
  arguments.addSize(call.row);
  arguments.addSize(call.rows);
  arguments.addSize(call.columns);
  arguments.add(call.initial);
  if (scratch)
    arguments.add(scratch);
  lowering.callLibrary("alula_sum_" + what + "_" +
                           getLibraryName(call.initial.getType()),
                       arguments);
}

void alula::cpu::callRowSums(Lowering &lowering, const SumCall &call) {
  callSum(lowering, "rows", call, {});
}

void alula::cpu::callColumnSums(Lowering &lowering, const SumCall &call,
                                int64_t columnLimit) {
  int64_t room = columnLimit <= ALULA_SUM_NARROW ? ALULA_SUM_NARROW_SCRATCH : 0;
  if (*getConstantIntValue(call.rows) > ALULA_SUM_PART_ROWS)
    room = std::max(room, columnLimit);
  Value scratch =
      room ? lowering.getPointer(lowering.createTemporary(
                 {lowering.index(room)}, call.initial.getType()))
           : lowering.b.create<LLVM::ZeroOp>(
                 LLVM::LLVMPointerType::get(lowering.b.getContext()));
  callSum(lowering, "columns", call, scratch);
}
