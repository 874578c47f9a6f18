// MLIR keeps constants in four forms; files hold plain elements.

#include "compiler/emit/constant_bytes.h"

#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/newer/attributes.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace {
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

/// One form for each value below eight bits.
void extend(std::string &bytes, alula_dtype dtype) {
  unsigned bits = alula_dtype_get_bits(dtype);
  if (bits >= 8)
    return;
  bool isSigned = alula_dtype_get_kind(dtype) == ALULA_KIND_INT;
  unsigned unused = 8 - bits;
  for (char &byte : bytes) {
    auto high = static_cast<uint8_t>(static_cast<uint8_t>(byte) << unused);
    byte = static_cast<char>(isSigned ? static_cast<int8_t>(high) >> unused
                                      : high >> unused);
  }
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

std::optional<std::string> alula::emit::getConstantBytes(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  std::optional<alula_dtype> dtype = dispatch::getDtype(type.getElementType());
  std::optional<int64_t> known = dispatch::getByteSize(type);
  if (!dtype || !known)
    return std::nullopt;
  auto size = static_cast<size_t>(*known);
  size_t elementBytes = alula_dtype_get_bytes(*dtype);
  bool isBool = *dtype == ALULA_DTYPE_I1;
  std::string bytes;
  bool fine = false;
  if (auto bridged = dyn_cast<newer::DenseBridgedAttr>(value)) {
    ArrayRef<uint8_t> codes = bridged.getRawCodes();
    fine = append(bytes,
                  {reinterpret_cast<const char *>(codes.data()), codes.size()},
                  elementBytes, size);
  } else if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (isBool && dense.isSplat()) {
      bytes.assign(size, static_cast<char>(dense.getSplatValue<bool>()));
      fine = true;
    } else if (isBool) {
      fine = appendBits(bytes, dense.getRawData(), size);
    } else {
      fine = append(bytes, dense.getRawData(), elementBytes, size);
    }
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      fine = append(bytes, blob->getData(), elementBytes, size) ||
             (isBool && appendBits(bytes, blob->getData(), size));
  } else {
    fine = appendValues(bytes, value, elementBytes);
  }
  if (!fine)
    return std::nullopt;
  if (isBool)
    for (char &byte : bytes)
      byte = byte != 0;
  else
    extend(bytes, *dtype);
  return bytes;
}
