// MLIR keeps constants in four forms; memory holds plain elements.

#include "dialect/dispatch/constant_bytes.h"

#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/newer/attributes.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace {
/// The bytes that already are what memory holds.
ArrayRef<char> getRaw(ElementsAttr value) {
  if (auto bridged = dyn_cast<alula::newer::DenseBridgedAttr>(value)) {
    ArrayRef<uint8_t> codes = bridged.getRawCodes();
    return {reinterpret_cast<const char *>(codes.data()), codes.size()};
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.getRawData();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData();
  return {};
}

/// Elements of whole bytes, or one of them that stands for all.
bool append(std::string &bytes, ArrayRef<char> raw, size_t elementBytes,
            size_t size) {
  if (size == 0)
    return true;
  if (raw.size() == elementBytes) {
    bytes.reserve(size);
    while (bytes.size() < size)
      bytes.append(raw.begin(), raw.end());
    return true;
  }
  if (raw.size() != size)
    return false;
  bytes.assign(raw.begin(), raw.end());
  return true;
}

/// MLIR packs booleans, and so do some writers of resources.
bool appendBits(std::string &bytes, ArrayRef<char> raw, size_t size) {
  if (raw.size() != (size + 7) / 8)
    return false;
  bytes.reserve(size);
  for (size_t i = 0; i < size; ++i)
    bytes.push_back(static_cast<char>(raw[i / 8] >> (i % 8) & 1));
  return true;
}

/// One form for each value below eight bits, from one element to a byte.
void normalize(std::string &bytes, alula_dtype dtype) {
  unsigned bits = alula_dtype_get_bits(dtype);
  if (bits >= 8)
    return;
  if (alula_dtype_get_packing(dtype) == 1) {
    for (char &byte : bytes)
      byte = static_cast<char>(static_cast<uint8_t>(byte) & ((1u << bits) - 1));
    return;
  }
  std::string packed(
      static_cast<size_t>(alula_dtype_get_packed_bytes(dtype, bytes.size())),
      '\0');
  alula_dtype_pack(dtype, bytes.data(), packed.data(), bytes.size());
  bytes = std::move(packed);
}

/// Element by element, for the rarer attributes (sparse ones).
bool appendValues(std::string &bytes, ElementsAttr value, size_t elementBytes) {
  auto values = value.tryGetValues<Attribute>();
  if (!values)
    return false;
  for (Attribute element : *values) {
    APInt bits;
    if (auto integer = dyn_cast<IntegerAttr>(element))
      bits = integer.getValue();
    else if (auto real = dyn_cast<FloatAttr>(element))
      bits = real.getValue().bitcastToAPInt();
    else
      return false;
    uint64_t word = bits.getZExtValue();
    char raw[sizeof word];
    memcpy(raw, &word, sizeof word);
    bytes.append(raw, elementBytes);
  }
  return true;
}
} // namespace

namespace {
/// The same bytes made anew, for what memory holds in another form.
std::optional<std::string> makeBytes(ElementsAttr value, alula_dtype dtype) {
  size_t elementBytes = alula_dtype_get_bytes(dtype);
  size_t size = static_cast<size_t>(value.getShapedType().getNumElements()) *
                elementBytes;
  bool isBool = dtype == ALULA_DTYPE_I1;
  std::string bytes;
  bool fine = false;
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (isBool && dense && dense.isSplat()) {
    bytes.assign(size, static_cast<char>(dense.getSplatValue<bool>()));
    fine = true;
  } else if (isBool && dense) {
    fine = appendBits(bytes, dense.getRawData(), size);
  } else if (isa<alula::newer::DenseBridgedAttr, DenseElementsAttr,
                 DenseResourceElementsAttr>(value)) {
    ArrayRef<char> raw = getRaw(value);
    fine = append(bytes, raw, elementBytes, size) ||
           (isBool && appendBits(bytes, raw, size));
  } else {
    fine = appendValues(bytes, value, elementBytes);
  }
  if (!fine)
    return std::nullopt;
  if (isBool)
    for (char &byte : bytes)
      byte = byte != 0;
  else
    normalize(bytes, dtype);
  return bytes;
}
} // namespace

std::optional<alula::dispatch::ConstantBytes>
alula::dispatch::getConstantBytes(ElementsAttr value) {
  auto shaped = cast<ShapedType>(value.getType());
  std::optional<alula_dtype> dtype = getDtype(shaped.getElementType());
  std::optional<int64_t> size = getByteSize(shaped);
  if (!dtype || !size)
    return std::nullopt;
  ArrayRef<char> raw = getRaw(value);
  if (alula_dtype_get_bits(*dtype) >= 8 && !raw.empty() &&
      raw.size() == static_cast<size_t>(*size))
    return ConstantBytes{raw, {}};
  auto bytes = makeBytes(value, *dtype);
  if (!bytes)
    return std::nullopt;
  return ConstantBytes{{}, std::move(*bytes)};
}
