// Which sorts are of numbers that lie in memory.

#include "compiler/target/cpu/kernel/sorted_rows.h"

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/plan/sort_order.h"
#include "compiler/target/cpu/kernel/matrix_operand.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;
using stablehlo::ComparisonDirection;

namespace {
/// How the comparator's number comes from an argument of its block.
struct NumberForm {
  BlockArgument argument;
  std::optional<APInt> zero, nan;
};

std::optional<APFloat> getConstant(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>();
}

/// select(x == 0, 0, …), select(x != x, nan, …), each at most once.
std::optional<NumberForm> findForm(Value number) {
  NumberForm form;
  SmallVector<stablehlo::CompareOp> questions;
  while (auto select = number.getDefiningOp<stablehlo::SelectOp>()) {
    auto question = select.getPred().getDefiningOp<stablehlo::CompareOp>();
    std::optional<APFloat> value = getConstant(select.getOnTrue());
    if (!question || !value ||
        question.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return std::nullopt;
    auto direction = question.getComparisonDirection();
    std::optional<APFloat> other = getConstant(question.getRhs());
    if (direction == ComparisonDirection::EQ && value->isPosZero() && other &&
        other->isZero() && !form.zero)
      form.zero = value->bitcastToAPInt();
    else if (direction == ComparisonDirection::NE && value->isNaN() &&
             question.getLhs() == question.getRhs() && !form.nan)
      form.nan = value->bitcastToAPInt();
    else
      return std::nullopt;
    questions.push_back(question);
    number = select.getOnFalse();
  }
  form.argument = dyn_cast<BlockArgument>(number);
  // The library knows both or none.
  if (!form.argument || form.zero.has_value() != form.nan.has_value() ||
      llvm::any_of(questions, [&](stablehlo::CompareOp question) {
        return question.getLhs() != form.argument;
      }))
    return std::nullopt;
  return form;
}

/// Of an element in memory without gaps; 0 if the library can't move it.
int64_t getBytes(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.getLayout().isIdentity())
    return 0;
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().getIntOrFloatBitWidth() == 32 ? 8 : 0;
  if (!element.isIntOrFloat())
    return 0;
  unsigned bits = element.getIntOrFloatBitWidth();
  return llvm::is_contained({8u, 16u, 32u, 64u}, bits) ? bits / 8 : 0;
}

bool arePlaces(Value input, size_t dim, Lowering &lowering) {
  auto iota = input.getDefiningOp<stablehlo::IotaOp>();
  return iota && lowering.isInlined(input) && iota.getIotaDimension() == dim &&
         isa<IntegerType>(getElementType(input));
}

std::optional<RowsInMemory::Operand>
findOperand(Value input, Value result, size_t dim, Lowering &lowering) {
  RowsInMemory::Operand operand = {{}, result, getBytes(result)};
  if (!operand.bytes)
    return std::nullopt;
  if (arePlaces(input, dim, lowering))
    return operand;
  if (!lowering.hasBuffer(input))
    return std::nullopt;
  operand.buffer = lowering.getBuffer(input);
  if (getBytes(operand.buffer) != operand.bytes)
    return std::nullopt;
  return operand;
}
} // namespace

std::optional<RowsInMemory>
alula::cpu::findRowsInMemory(stablehlo::SortOp sort, Value number,
                             ArrayRef<Value> results, Lowering &lowering) {
  Type element = getElementType(number);
  std::optional<NumberForm> form = findForm(number);
  auto type = cast<RankedTensorType>(sort.getInputs()[0].getType());
  size_t dim = getSortedDim(sort);
  auto inner = type.getShape().drop_front(dim + 1);
  bool hasRoutine = element.isF32() || element.isF64() ||
                    element.isInteger(32) || element.isInteger(64);
  if (!form || !hasRoutine ||
      !llvm::all_of(inner, [](int64_t size) { return size == 1; }))
    return std::nullopt;
  RowsInMemory rows;
  rows.key = form->argument.getArgNumber() / 2;
  rows.hasEquals = form->nan.has_value();
  rows.nan = form->nan ? form->nan->getSExtValue() : 0;
  rows.strides = lowering.getStrides(lowering.getShape(sort.getInputs()[0]));
  for (auto [input, result] : llvm::zip_equal(sort.getInputs(), results)) {
    auto operand = findOperand(input, result, dim, lowering);
    if (!operand)
      return std::nullopt;
    rows.operands.push_back(*operand);
  }
  const RowsInMemory::Operand &key = rows.operands[rows.key];
  if (!key.buffer ||
      8 * key.bytes != static_cast<int64_t>(element.getIntOrFloatBitWidth()))
    return std::nullopt;
  return rows;
}

Value RowsInMemory::getPlace(Lowering &lowering, ValueRange row,
                             Value begin) const {
  Value place = begin;
  for (auto [index, stride] : llvm::zip_equal(row, strides))
    place = lowering.add(place, lowering.mul(index, stride));
  return place;
}

Value RowsInMemory::getKeys(Lowering &lowering, ValueRange row,
                            Value begin) const {
  return getElementPointer(lowering, operands[key].buffer,
                           getPlace(lowering, row, begin));
}

Value RowsInMemory::getRow(Lowering &lowering, size_t operand,
                           ValueRange row) const {
  ImplicitLocOpBuilder &b = lowering.b;
  if (Value buffer = operands[operand].buffer)
    return getElementPointer(lowering, buffer,
                             getPlace(lowering, row, lowering.index(0)));
  return b.create<LLVM::ZeroOp>(LLVM::LLVMPointerType::get(b.getContext()));
}

Value RowsInMemory::getResult(Lowering &lowering, size_t operand,
                              ValueRange row, Value begin) const {
  return getElementPointer(lowering, operands[operand].result,
                           getPlace(lowering, row, begin));
}
