// Integer arithmetic as `compute` and `select` commands.

#include "compiler/emit/integer_writer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace alula::emit;
using alula::artifact::Operand;

/// index counts as 64 bits.
static unsigned getWidth(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

Operand IntegerWriter::get(Value value) {
  auto found = operands.find(value);
  if (found != operands.end())
    return found->second;
  // A constant costs nothing where it is used.
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return out.immediate(0);
  return out.immediate(getWidth(value.getType()) == 1
                           ? static_cast<int64_t>(constant.getZExtValue())
                           : constant.getSExtValue());
}

/// Back into the range of the type after an operation that may leave it. 64
/// bits don't wrap: the command fails.
Operand IntegerWriter::wrap(Operand operand, Type type) {
  unsigned width = getWidth(type);
  if (width == 64)
    return operand;
  operand = compute(ALULA_OPERATOR_AND, operand,
                    out.immediate((int64_t(1) << width) - 1));
  return width == 1 ? operand : toSigned(operand, type);
}

/// The low bits of the type, sign-extended.
Operand IntegerWriter::toSigned(Operand operand, Type type) {
  unsigned width = getWidth(type);
  if (width == 64)
    return operand;
  Operand sign = out.immediate(int64_t(1) << (width - 1));
  operand = compute(ALULA_OPERATOR_XOR, operand, sign);
  return compute(ALULA_OPERATOR_SUB, operand, sign);
}

/// As a number that is not negative; 64 bits stay as they are.
Operand IntegerWriter::toUnsigned(Operand operand, Type type) {
  unsigned width = getWidth(type);
  if (width == 64 || width == 1)
    return operand;
  return compute(ALULA_OPERATOR_AND, operand,
                 out.immediate((int64_t(1) << width) - 1));
}

std::optional<Operand> IntegerWriter::writeBinary(Operation &op) {
  Type type = op.getResult(0).getType();
  Operand a = get(op.getOperand(0)), b = get(op.getOperand(1));
  unsigned width = getWidth(type);
  auto both = [&](alula_operator command) { return compute(command, a, b); };
  auto wrapped = [&](alula_operator command) {
    return wrap(compute(command, a, b), type);
  };
  auto unsignedBoth = [&](alula_operator command) {
    Operand x = toUnsigned(a, type), y = toUnsigned(b, type);
    return wrap(compute(command, x, y), type);
  };
  if (isa<arith::AddIOp>(op))
    return wrapped(ALULA_OPERATOR_ADD);
  if (isa<arith::SubIOp>(op))
    return wrapped(ALULA_OPERATOR_SUB);
  if (isa<arith::MulIOp>(op))
    return wrapped(ALULA_OPERATOR_MUL);
  if (isa<arith::AndIOp>(op))
    return both(ALULA_OPERATOR_AND);
  if (isa<arith::OrIOp>(op))
    return both(ALULA_OPERATOR_OR);
  if (isa<arith::XOrIOp>(op))
    return both(ALULA_OPERATOR_XOR);
  // The rest means something else for i1, whose 1 is -1.
  if (width == 1)
    return std::nullopt;
  if (isa<arith::ShLIOp>(op))
    return wrapped(ALULA_OPERATOR_SHL);
  if (isa<arith::ShRSIOp>(op))
    return both(ALULA_OPERATOR_SHR);
  if (isa<arith::FloorDivSIOp>(op))
    return wrapped(ALULA_OPERATOR_DIV);
  if (isa<arith::CeilDivSIOp>(op))
    return wrapped(ALULA_OPERATOR_CEIL_DIV);
  if (isa<arith::MinSIOp>(op))
    return both(ALULA_OPERATOR_MIN);
  if (isa<arith::MaxSIOp>(op))
    return both(ALULA_OPERATOR_MAX);
  if (isa<arith::DivSIOp, arith::RemSIOp>(op)) {
    // Towards zero: up if the signs differ, else down.
    Operand zero = out.immediate(0);
    Operand negativeA = compute(ALULA_OPERATOR_LT, a, zero);
    Operand negativeB = compute(ALULA_OPERATOR_LT, b, zero);
    Operand differ = compute(ALULA_OPERATOR_XOR, negativeA, negativeB);
    Operand up = both(ALULA_OPERATOR_CEIL_DIV);
    Operand down = both(ALULA_OPERATOR_DIV);
    Operand quotient = out.select(differ, up, down);
    if (isa<arith::DivSIOp>(op))
      return wrap(quotient, type);
    return compute(ALULA_OPERATOR_SUB, a,
                   compute(ALULA_OPERATOR_MUL, quotient, b));
  }
  if (isa<arith::MinUIOp, arith::MaxUIOp>(op)) {
    // Unsigned order is signed order with the sign bits turned.
    Operand sign = out.immediate(INT64_MIN);
    Operand x = compute(ALULA_OPERATOR_XOR, a, sign);
    Operand y = compute(ALULA_OPERATOR_XOR, b, sign);
    Operand less = compute(ALULA_OPERATOR_LT, x, y);
    return isa<arith::MinUIOp>(op) ? out.select(less, a, b)
                                   : out.select(less, b, a);
  }
  // Sizes are not negative; a 64-bit number beyond them has no command.
  if (width == 64 && !type.isIndex())
    return std::nullopt;
  if (isa<arith::DivUIOp>(op))
    return unsignedBoth(ALULA_OPERATOR_DIV);
  if (isa<arith::RemUIOp>(op))
    return unsignedBoth(ALULA_OPERATOR_REM);
  if (isa<arith::CeilDivUIOp>(op))
    return unsignedBoth(ALULA_OPERATOR_CEIL_DIV);
  if (isa<arith::ShRUIOp>(op))
    return wrap(compute(ALULA_OPERATOR_SHR, toUnsigned(a, type), b), type);
  return std::nullopt;
}

std::optional<Operand> IntegerWriter::writeCompare(Operation &op) {
  auto compareOp = cast<arith::CmpIOp>(op);
  Type type = compareOp.getLhs().getType();
  if (!type.isIntOrIndex())
    return std::nullopt;
  Operand a = get(compareOp.getLhs()), b = get(compareOp.getRhs());
  bool isWide = getWidth(type) != 1;
  auto ordered = [&](alula_operator command,
                     bool isUnsigned) -> std::optional<Operand> {
    if (isUnsigned == isWide) {
      // Unsigned order is signed order with the sign bits turned; the 1 of i1
      // is its sign.
      Operand sign = out.immediate(isUnsigned ? INT64_MIN : 1);
      a = compute(ALULA_OPERATOR_XOR, a, sign);
      b = compute(ALULA_OPERATOR_XOR, b, sign);
    }
    return compute(command, a, b);
  };
  switch (compareOp.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return compute(ALULA_OPERATOR_EQ, a, b);
  case arith::CmpIPredicate::ne:
    return compute(ALULA_OPERATOR_NE, a, b);
  case arith::CmpIPredicate::slt:
    return ordered(ALULA_OPERATOR_LT, false);
  case arith::CmpIPredicate::sle:
    return ordered(ALULA_OPERATOR_LE, false);
  case arith::CmpIPredicate::sgt:
    return ordered(ALULA_OPERATOR_GT, false);
  case arith::CmpIPredicate::sge:
    return ordered(ALULA_OPERATOR_GE, false);
  case arith::CmpIPredicate::ult:
    return ordered(ALULA_OPERATOR_LT, true);
  case arith::CmpIPredicate::ule:
    return ordered(ALULA_OPERATOR_LE, true);
  case arith::CmpIPredicate::ugt:
    return ordered(ALULA_OPERATOR_GT, true);
  case arith::CmpIPredicate::uge:
    return ordered(ALULA_OPERATOR_GE, true);
  }
  return std::nullopt;
}

std::optional<Operand> IntegerWriter::writeCast(Operation &op) {
  Operand a = get(op.getOperand(0));
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  bool isWider = getWidth(from) < getWidth(to);
  if (isa<UnrealizedConversionCastOp>(op)) {
    // Between signs of one width: from a register as it is loaded.
    if (getWidth(from) != getWidth(to) || to.isUnsignedInteger())
      return std::nullopt;
    return from.isUnsignedInteger() ? wrap(a, to) : a;
  }
  if (isa<arith::TruncIOp>(op) || !isWider)
    return wrap(a, to);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return toUnsigned(a, from);
  if (getWidth(from) == 1)
    return compute(ALULA_OPERATOR_SUB, out.immediate(0), a);
  return a;
}

LogicalResult IntegerWriter::write(Operation &op) {
  auto fail = [&] {
    return op.emitError() << "'" << op.getName().getStringRef()
                          << "': no native code: on the host";
  };
  auto isInteger = [](Type type) {
    return type.isIntOrIndex() && getWidth(type) <= 64;
  };
  if (op.getNumResults() != 1 ||
      !llvm::all_of(op.getOperandTypes(), isInteger) ||
      !llvm::all_of(op.getResultTypes(), isInteger))
    return fail();
  std::optional<Operand> result;
  if (isa<arith::ConstantOp>(op))
    return success();
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Operand condition = get(select.getCondition());
    Operand a = get(select.getTrueValue()), b = get(select.getFalseValue());
    result = out.select(condition, a, b);
  } else if (isa<arith::CmpIOp>(op))
    result = writeCompare(op);
  else if (op.getNumOperands() == 1)
    result = writeCast(op);
  else if (op.getNumOperands() == 2)
    result = writeBinary(op);
  if (!result)
    return fail();
  set(op.getResult(0), *result);
  return success();
}
