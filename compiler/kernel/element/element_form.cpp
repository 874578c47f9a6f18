#include "compiler/kernel/element/element_form.h"

#include "dialect/dispatch/element_type.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// The type without its sign, as arith takes it.
Type signless(Type integer) {
  return IntegerType::get(integer.getContext(),
                          integer.getIntOrFloatBitWidth());
}
} // namespace

ElementKind alula::kernel::getElementKind(Type element) {
  if (element.isInteger(1))
    return ElementKind::Bool;
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.isUnsigned() ? ElementKind::Unsigned : ElementKind::Signed;
  return isa<ComplexType>(element) ? ElementKind::Complex : ElementKind::Float;
}

int64_t alula::kernel::getPacking(Type element) {
  auto dtype = dispatch::getDtype(element);
  return dtype ? alula_dtype_get_packing(*dtype) : 1;
}

bool alula::kernel::isSmallFloat(Type element) {
  if (isa<IntegerType, ComplexType>(element) || element.isF32() ||
      element.isF64() || element.isF16() || element.isBF16())
    return false;
  auto dtype = dispatch::getDtype(element);
  return dtype && alula_dtype_get_kind(*dtype) == ALULA_KIND_FLOAT;
}

Type alula::kernel::getMemoryType(Type element) {
  if (isa<IntegerType>(element)) {
    if (!dispatch::getDtype(element))
      return {};
    if (element.getIntOrFloatBitWidth() < 8)
      return IntegerType::get(element.getContext(), 8);
    return signless(element);
  }
  if (isSmallFloat(element))
    return IntegerType::get(element.getContext(), 8);
  return getValueType(element);
}

Type alula::kernel::getValueType(Type element) {
  if (isa<IntegerType>(element))
    return dispatch::getDtype(element) ? signless(element) : Type();
  if (isSmallFloat(element))
    return Float32Type::get(element.getContext());
  return dispatch::getDtype(element) && !element.isIndex() &&
                 isa<FloatType, ComplexType>(element)
             ? element
             : Type();
}

std::string alula::kernel::getLibraryName(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF32() ? "c64" : "c128";
  auto dtype = dispatch::getDtype(element);
  assert(dtype && "types without native code are declined before");
  return llvm::StringRef(alula_dtype_get_name(*dtype)).lower();
}

MemRefType alula::kernel::getBufferType(RankedTensorType tensor) {
  return MemRefType::get(tensor.getShape(),
                         getMemoryType(tensor.getElementType()));
}
