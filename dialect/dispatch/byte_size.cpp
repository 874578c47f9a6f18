#include "dialect/dispatch/byte_size.h"

#include "dialect/dispatch/element_type.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

std::optional<int64_t> alula::dispatch::getByteSize(ShapedType type) {
  std::optional<alula_dtype> dtype = getDtype(type.getElementType());
  if (!dtype || !type.hasStaticShape())
    return std::nullopt;
  int64_t bytes = alula_dtype_get_bytes(*dtype);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return static_cast<int64_t>(
      alula_dtype_get_packed_bytes(*dtype, static_cast<uint64_t>(bytes)));
}
