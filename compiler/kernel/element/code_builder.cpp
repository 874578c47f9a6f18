// Index arithmetic, elements as memory has them, calls of the kernel library,
// errors.

#include "compiler/kernel/element/code_builder.h"

#include "compiler/kernel/element/element_form.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::kernel;

CodeBuilder::CodeBuilder(func::FuncOp function)
    : b(function.getLoc(), OpBuilder::atBlockEnd(&function.front())),
      machine(dispatch::getMachine(function)), function(function) {}

// ---- Index arithmetic ----

Value CodeBuilder::index(int64_t value) {
  using Info = DenseMapInfo<int64_t>;
  // No keys of the map.
  if (value == Info::getEmptyKey() || value == Info::getTombstoneKey())
    return b.create<arith::ConstantIndexOp>(value);
  Value &constant = indexConstants[value];
  if (!constant) {
    // Where every loop sees it.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.front());
    constant = b.create<arith::ConstantIndexOp>(value);
  }
  return constant;
}

Value CodeBuilder::makeTrue() {
  return b.create<arith::ConstantOp>(b.getBoolAttr(true));
}

Value CodeBuilder::add(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(*x + *y);
  if (x == 0)
    return other;
  if (y == 0)
    return a;
  return b.create<arith::AddIOp>(a, other);
}

Value CodeBuilder::sub(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(*x - *y);
  return y == 0 ? a : b.create<arith::SubIOp>(a, other).getResult();
}

Value CodeBuilder::mul(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(*x * *y);
  if (x == 0 || y == 1)
    return a;
  if (y == 0 || x == 1)
    return other;
  return b.create<arith::MulIOp>(a, other);
}

Value CodeBuilder::div(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y && *y)
    return index(*x / *y);
  return y == 1 ? a : b.create<arith::DivUIOp>(a, other).getResult();
}

Value CodeBuilder::ceilDiv(Value a, Value other) {
  return div(add(a, sub(other, index(1))), other);
}

Value CodeBuilder::min(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y)
    return index(std::min(*x, *y));
  return b.create<arith::MinSIOp>(a, other);
}

Value CodeBuilder::rem(Value a, Value other) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(other);
  if (x && y && *y)
    return index(*x % *y);
  return y == 1 ? index(0) : b.create<arith::RemUIOp>(a, other).getResult();
}

Value CodeBuilder::clamp(Value value, Value limit) {
  if (getConstantIntValue(limit) == 0)
    return limit;
  Value low = b.create<arith::MaxSIOp>(value, index(0));
  return b.create<arith::MinSIOp>(low, limit);
}

Value CodeBuilder::compare(arith::CmpIPredicate predicate, Value a,
                           Value other) {
  return b.createOrFold<arith::CmpIOp>(predicate, a, other);
}

Value CodeBuilder::both(Value a, Value other) {
  if (getConstantIntValue(a))
    return *getConstantIntValue(a) ? other : a;
  if (getConstantIntValue(other))
    return *getConstantIntValue(other) ? a : other;
  return b.create<arith::AndIOp>(a, other);
}

Value CodeBuilder::select(Value condition, Value a, Value other) {
  if (auto constant = getConstantIntValue(condition))
    return *constant ? a : other;
  return b.create<arith::SelectOp>(condition, a, other);
}

Value CodeBuilder::product(ValueRange sizes) {
  Value all = index(1);
  for (Value size : sizes)
    all = mul(all, size);
  return all;
}

SmallVector<Value> CodeBuilder::getStrides(ValueRange sizes) {
  SmallVector<Value> strides(sizes.size());
  Value stride = index(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = mul(stride, sizes[i]);
  }
  return strides;
}

Value CodeBuilder::linearize(ValueRange indices, ValueRange sizes) {
  Value number = index(0);
  for (auto [position, size] : llvm::zip_equal(indices, sizes))
    number = add(mul(number, size), position);
  return number;
}

SmallVector<Value> CodeBuilder::delinearize(Value number, ValueRange sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    // The first one needs no remainder, nor do those before it of size 1.
    bool isFirst = llvm::all_of(sizes.take_front(i), [](Value size) {
      return getConstantIntValue(size) == 1;
    });
    indices[i] = isFirst ? number : rem(number, sizes[i]);
    if (getConstantIntValue(sizes[i]) == 1)
      indices[i] = index(0);
    else
      number = isFirst ? index(0) : div(number, sizes[i]);
  }
  return indices;
}

// ---- Elements in memory ----

Value CodeBuilder::decode(Value memory, Type element) {
  Type value = getValueType(element);
  if (memory.getType() == value)
    return memory;
  if (isSmallFloat(element)) {
    Value code = b.create<arith::ExtUIOp>(b.getI32Type(), memory);
    return callLibrary("alula_decode_" + getLibraryName(element), value, code);
  }
  if (value.isInteger(1))
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, memory,
                                   zero(memory.getType()));
  return b.create<arith::TruncIOp>(value, memory);
}

Value CodeBuilder::encode(Value value, Type element) {
  Type memory = getMemoryType(element);
  if (isSmallFloat(element)) {
    Value code = callLibrary("alula_encode_" + getLibraryName(element),
                             b.getI32Type(), value);
    value = b.create<arith::TruncIOp>(memory, code);
  } else if (value.getType() != memory) {
    value = getElementKind(element) == ElementKind::Signed
                ? b.create<arith::ExtSIOp>(memory, value).getResult()
                : b.create<arith::ExtUIOp>(memory, value).getResult();
  }
  return value;
}

// ---- The kernel library and errors ----

Value CodeBuilder::callLibrary(const Twine &name, Type result,
                               ValueRange arguments) {
  auto module = function->getParentOfType<ModuleOp>();
  auto symbol = StringAttr::get(b.getContext(), name);
  auto callee = module.lookupSymbol<func::FuncOp>(symbol);
  if (!callee) {
    auto type = b.getFunctionType(arguments.getTypes(),
                                  result ? TypeRange(result) : TypeRange());
    callee = OpBuilder::atBlockEnd(module.getBody())
                 .create<func::FuncOp>(function.getLoc(), symbol, type);
    callee.setPrivate();
  }
  auto call = b.create<func::CallOp>(callee, arguments);
  return result ? call.getResult(0) : Value();
}

void CodeBuilder::callLibrary(const Twine &name, ValueRange arguments) {
  callLibrary(name, Type(), arguments);
}

Value CodeBuilder::getPointer(Value buffer) {
  Value address = b.create<memref::ExtractAlignedPointerAsIndexOp>(buffer);
  return b.create<LLVM::IntToPtrOp>(
      LLVM::LLVMPointerType::get(b.getContext()),
      b.create<arith::IndexCastOp>(b.getI64Type(), address));
}

Value CodeBuilder::getPartMemory(Type type, unsigned number) {
  Value &memory = partMemory[{type, number}];
  if (!memory) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.front());
    memory = b.create<memref::AllocaOp>(MemRefType::get({}, type));
  }
  return memory;
}

Value CodeBuilder::zero(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Attribute part = b.getZeroAttr(complex.getElementType());
    return b.create<complex::ConstantOp>(type, b.getArrayAttr({part, part}));
  }
  return b.create<arith::ConstantOp>(b.getZeroAttr(type));
}

void CodeBuilder::decline(Operation *op, const Twine &reason) {
  // One reason is enough.
  if (!failed)
    op->emitError() << "'" << op->getName().getStringRef()
                    << "': no native code: " << reason;
  failed = true;
}

Value CodeBuilder::decline(Operation *op, const Twine &reason, Type valueType) {
  decline(op, reason);
  return zero(valueType);
}
