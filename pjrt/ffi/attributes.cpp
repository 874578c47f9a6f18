#include "pjrt/ffi/attributes.h"

#include "alula/artifact.h"
#include "alula/dtype.h"

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

namespace {
constexpr int mostNested = 64;

/// XLA's kinds of attributes.
enum Kind : uint32_t { Array = 1, Dictionary = 2, Scalar = 3, String = 4 };

void *broken() {
  return invalid("alula: the configuration of a custom call is broken");
}

void *unsupported(std::string_view name, const std::string &what) {
  return invalid("the attribute '" + std::string(name) + "' is " + what +
                 ", for which XLA's FFI has no form");
}
} // namespace

uint32_t alula::pjrt::ffi::getDataType(uint32_t dtype) {
  switch (dtype) {
  case ALULA_DTYPE_I1:
    return 1;
  case ALULA_DTYPE_I2:
    return 26;
  case ALULA_DTYPE_I4:
    return 21;
  case ALULA_DTYPE_I8:
    return 2;
  case ALULA_DTYPE_I16:
    return 3;
  case ALULA_DTYPE_I32:
    return 4;
  case ALULA_DTYPE_I64:
    return 5;
  case ALULA_DTYPE_UI2:
    return 27;
  case ALULA_DTYPE_UI4:
    return 22;
  case ALULA_DTYPE_UI8:
    return 6;
  case ALULA_DTYPE_UI16:
    return 7;
  case ALULA_DTYPE_UI32:
    return 8;
  case ALULA_DTYPE_UI64:
    return 9;
  case ALULA_DTYPE_F16:
    return 10;
  case ALULA_DTYPE_F32:
    return 11;
  case ALULA_DTYPE_F64:
    return 12;
  case ALULA_DTYPE_BF16:
    return 16;
  case ALULA_DTYPE_C64:
    return 15;
  case ALULA_DTYPE_C128:
    return 18;
  case ALULA_DTYPE_TOKEN:
    return 17;
  case ALULA_DTYPE_F8E5M2:
    return 19;
  case ALULA_DTYPE_F8E3M4:
    return 29;
  case ALULA_DTYPE_F8E4M3:
    return 28;
  case ALULA_DTYPE_F8E4M3FN:
    return 20;
  case ALULA_DTYPE_F8E4M3B11FNUZ:
    return 23;
  case ALULA_DTYPE_F8E5M2FNUZ:
    return 24;
  case ALULA_DTYPE_F8E4M3FNUZ:
    return 25;
  case ALULA_DTYPE_F4E2M1FN:
    return 32;
  case ALULA_DTYPE_F8E8M0FNU:
    return 33;
  default:
    return 0;
  }
}

std::string_view ConfigReader::readBytes(size_t size) {
  if (static_cast<size_t>(end - next) < size) {
    good = false;
    next = end;
    return {};
  }
  auto *begin = reinterpret_cast<const char *>(next);
  next += size;
  return {begin, size};
}

void *ConfigReader::readValues(std::vector<CallValue> &values) {
  uint32_t count = readCount();
  for (uint32_t i = 0; i < count && good; ++i) {
    uint8_t kind = readByte();
    if (kind > ALULA_CALL_VALUE_SIZES)
      return broken();
    CallValue &value = values.emplace_back();
    value.kind = static_cast<CallValue::Kind>(kind);
    if (value.kind != CallValue::Kind::Array)
      continue;
    std::string_view order = readBytes(readByte());
    value.order.assign(order.begin(), order.end());
    std::vector<bool> seen(order.size());
    for (uint8_t dim : value.order) {
      if (dim >= seen.size() || seen[dim])
        return broken();
      seen[dim] = true;
    }
  }
  return good ? nullptr : broken();
}

void Attributes::add(uint32_t type, void *attribute) {
  types.push_back(type);
  attributes.push_back(attribute);
}

void *Attributes::read(ConfigReader &reader, int depth) {
  if (depth > mostNested)
    return broken();
  uint32_t count = reader.readCount();
  for (uint32_t i = 0; i < count && reader.isGood(); ++i) {
    std::string_view name = reader.readText();
    texts.push_back({const_cast<char *>(name.data()), name.size()});
    names.push_back(&texts.back());
    if (void *error = readAttribute(reader, name, depth))
      return error;
  }
  if (!reader.isGood())
    return broken();
  table.struct_size = sizeof table;
  table.size = static_cast<int64_t>(types.size());
  table.types = types.data();
  table.names = names.data();
  table.attrs = attributes.data();
  return nullptr;
}

void *Attributes::readAttribute(ConfigReader &reader, std::string_view name,
                                int depth) {
  switch (reader.readByte()) {
  case ALULA_CALL_ATTRIBUTE_SCALAR:
    return readElements(reader, name, /*isScalar=*/true);
  case ALULA_CALL_ATTRIBUTE_ARRAY:
    return readElements(reader, name, /*isScalar=*/false);
  case ALULA_CALL_ATTRIBUTE_STRING: {
    std::string_view text = reader.readText();
    texts.push_back({const_cast<char *>(text.data()), text.size()});
    add(String, &texts.back());
    return nullptr;
  }
  case ALULA_CALL_ATTRIBUTE_DICTIONARY: {
    Attributes &dictionary =
        *inner.emplace_back(std::make_unique<Attributes>());
    if (void *error = dictionary.read(reader, depth + 1))
      return error;
    add(Dictionary, &dictionary.table);
    return nullptr;
  }
  case ALULA_CALL_ATTRIBUTE_LIST:
    return unsupported(name, "a list of attributes");
  default:
    return broken();
  }
}

void *Attributes::readElements(ConfigReader &reader, std::string_view name,
                               bool isScalar) {
  auto dtype = static_cast<alula_dtype>(reader.readByte());
  if (!reader.isGood())
    return broken();
  uint32_t type = getDataType(dtype);
  const char *typeName = alula_dtype_get_name(dtype);
  if (!type)
    return unsupported(name, std::string("of type ") +
                                 (typeName ? typeName : "unknown"));
  uint64_t count = isScalar ? 1 : reader.readCount();
  uint64_t size = count * alula_dtype_get_bytes(dtype);
  if (alula_dtype_get_packed_bytes(dtype, size) != size)
    return unsupported(name,
                       std::string("of packed elements of type ") + typeName);
  std::string_view bytes = reader.readBytes(size);
  // Never null, also without elements.
  std::vector<uint64_t> &data = elements.emplace_back(bytes.size() / 8 + 1);
  memcpy(data.data(), bytes.data(), bytes.size());
  if (isScalar) {
    scalars.push_back(
        {static_cast<decltype(XLA_FFI_Scalar::dtype)>(type), data.data()});
    add(Scalar, &scalars.back());
  } else {
    arrays.push_back({static_cast<decltype(XLA_FFI_Array::dtype)>(type), count,
                      data.data()});
    add(Array, &arrays.back());
  }
  return nullptr;
}
