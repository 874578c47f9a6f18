#include "compiler/target/cpu/kernel/library_call.h"

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/library/cancel_flag.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

LibraryCall::LibraryCall(Lowering &lowering, StringRef name,
                         Type element)
    : lowering(lowering), name(name) {
  type = getPassedType(element);
  this->name += "_" + getLibraryName(type);
}

int64_t LibraryCall::getElementBytes() const {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().getIntOrFloatBitWidth() / 4;
  return type.getIntOrFloatBitWidth() / 8;
}

Type LibraryCall::getPassedType(Type element) const {
  Type value = getValueType(element);
  if (isa<FloatType>(value) && value.getIntOrFloatBitWidth() < 32)
    return lowering.b.getF32Type();
  return value;
}

void LibraryCall::addInput(Value tensor) {
  Type element = getElementType(tensor), passed = getPassedType(element);
  if (passed == getMemoryType(element)) {
    arguments.push_back(lowering.getPointer(lowering.getBuffer(tensor)));
    return;
  }
  Value copy = lowering.createTemporary(lowering.getShape(tensor), passed);
  lowering.forEach(lowering.getShape(tensor), [&](ValueRange indices) {
    lowering.b.create<memref::StoreOp>(
        widenFloat(lowering, lowering.getElement(tensor, indices)), copy,
        indices);
  });
  arguments.push_back(lowering.getPointer(copy));
}

void LibraryCall::addOutput(OpResult result) {
  Type element = getElementType(result), passed = getPassedType(element);
  bool isDirect = passed == getMemoryType(element);
  Value buffer =
      isDirect ? lowering.createResult(result)
               : lowering.createTemporary(lowering.getShape(result), passed);
  if (!isDirect)
    outputs.emplace_back(result, buffer);
  arguments.push_back(lowering.getPointer(buffer));
}

void LibraryCall::addUnused(ValueRange sizes) {
  arguments.push_back(
      lowering.getPointer(lowering.createTemporary(sizes, type)));
}

void LibraryCall::addMemory(Value buffer) {
  arguments.push_back(lowering.getPointer(buffer));
}

void LibraryCall::addNull() {
  arguments.push_back(lowering.b.create<LLVM::ZeroOp>(
      LLVM::LLVMPointerType::get(lowering.b.getContext())));
}

void LibraryCall::addSize(Value size) {
  arguments.push_back(
      lowering.b.create<arith::IndexCastOp>(lowering.b.getI64Type(), size));
}

void LibraryCall::addFlag(int64_t value) {
  arguments.push_back(
      makeInteger(lowering, lowering.b.getI32Type(), value));
}

void LibraryCall::addCancel() {
  arguments.push_back(lowering.callLibrary(
      ALULA_CANCEL_FLAG, LLVM::LLVMPointerType::get(lowering.b.getContext()),
      {}));
}

void LibraryCall::addScratch(Value bytes) {
  Value scratch = lowering.createTemporary(
      lowering.b.createOrFold<arith::MaxSIOp>(bytes, lowering.index(1)),
      lowering.b.getI8Type());
  arguments.push_back(lowering.getPointer(scratch));
}

void LibraryCall::addBatch(Value tensor, int64_t rank) {
  SmallVector<Value> sizes = lowering.getShape(tensor);
  addSize(lowering.product(
      ValueRange(sizes).drop_back(static_cast<size_t>(rank))));
}

void LibraryCall::run() {
  lowering.callLibrary("alula_" + name, arguments);
  for (auto [result, buffer] : outputs) {
    Type element = getElementType(result);
    Value target = lowering.createResult(result);
    lowering.forEach(lowering.getShape(result), [&](ValueRange indices) {
      Value wide = lowering.b.create<memref::LoadOp>(buffer, indices);
      lowering.store(roundFloat(lowering, wide, element), element, target,
                     indices);
    });
  }
}
