#include "dialect/dispatch/byte_size.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

std::optional<int64_t> alula::dispatch::getByteSize(ShapedType type) {
  Type element = type.getElementType();
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  if (!type.hasStaticShape() || !element.isIntOrFloat())
    return std::nullopt;
  int64_t bytes =
      parts * static_cast<int64_t>(
                  llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}
