// Attributes of custom calls, for C functions to read.

#include "compiler/emit/json_text.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
namespace json = llvm::json;

namespace {
json::Value toJson(const llvm::APInt &value, bool isUnsigned) {
  if (isUnsigned)
    return json::Value(value.getZExtValue());
  return json::Value(value.getSExtValue());
}

json::Value toJson(const llvm::APFloat &value) {
  double number = FloatAttr::getValueAsDouble(value);
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  return number;
}

std::optional<json::Value> toJson(Attribute attribute);

template <typename Elements>
std::optional<json::Value> toArray(const Elements &elements) {
  json::Array array;
  for (const auto &element : elements) {
    auto value = toJson(element);
    if (!value)
      return std::nullopt;
    array.push_back(std::move(*value));
  }
  return json::Value(std::move(array));
}

/// Dimensions are not kept: elements stand one after the other.
std::optional<json::Value> toJson(DenseElementsAttr dense) {
  json::Array array;
  Type type = dense.getElementType();
  if (type.isIntOrIndex()) {
    bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
    for (const llvm::APInt &value : dense.getValues<llvm::APInt>())
      array.push_back(toJson(value, isUnsigned));
  } else if (isa<FloatType>(type)) {
    for (const llvm::APFloat &value : dense.getValues<llvm::APFloat>())
      array.push_back(toJson(value));
  } else {
    return std::nullopt;
  }
  return json::Value(std::move(array));
}

template <typename Elements> json::Value toNumbers(Elements elements) {
  json::Array array;
  for (auto element : elements.asArrayRef())
    array.push_back(element);
  return json::Value(std::move(array));
}

std::optional<json::Value> toJson(Attribute attribute) {
  if (auto truth = dyn_cast<BoolAttr>(attribute))
    return json::Value(truth.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    if (integer.getValue().getBitWidth() > 64)
      return std::nullopt;
    return toJson(integer.getValue(), integer.getType().isUnsignedInteger());
  }
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return toJson(real.getValue());
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    if (!json::isUTF8(text.getValue()))
      return std::nullopt;
    return json::Value(text.str());
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return toArray(array.getValue());
  if (auto array = dyn_cast<DenseBoolArrayAttr>(attribute))
    return toNumbers(array);
  if (auto array = dyn_cast<DenseI8ArrayAttr>(attribute))
    return toNumbers(array);
  if (auto array = dyn_cast<DenseI16ArrayAttr>(attribute))
    return toNumbers(array);
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attribute))
    return toNumbers(array);
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
    return toNumbers(array);
  if (auto array = dyn_cast<DenseF32ArrayAttr>(attribute))
    return toNumbers(array);
  if (auto array = dyn_cast<DenseF64ArrayAttr>(attribute))
    return toNumbers(array);
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    return toJson(dense);
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  json::Object object;
  for (NamedAttribute entry : dictionary) {
    auto value = toJson(entry.getValue());
    if (!value)
      return std::nullopt;
    object[entry.getName().getValue()] = std::move(*value);
  }
  return json::Value(std::move(object));
}
} // namespace

std::optional<std::string> alula::emit::getJsonText(Attribute attribute) {
  auto value = toJson(attribute);
  if (!value)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << *value;
  return text;
}
