// Configurations of custom calls, for who passes attributes on with their
// types.

#include "compiler/emit/call_config.h"

#include "alula/artifact.h"
#include "dialect/dispatch/constant_bytes.h"
#include "dialect/dispatch/element_type.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Endian.h"

using namespace mlir;

namespace {
class ConfigWriter {
public:
  std::string take() { return std::move(bytes); }
  void addByte(unsigned value) { bytes.push_back(static_cast<char>(value)); }
  void addCount(size_t value) {
    char written[4];
    llvm::support::endian::write32le(written, static_cast<uint32_t>(value));
    bytes.append(written, sizeof written);
  }

  void addValue(Attribute value) {
    if (isa<UnitAttr>(value))
      return addByte(ALULA_CALL_VALUE_TOKEN);
    if (isa<StringAttr>(value))
      return addByte(ALULA_CALL_VALUE_SIZES);
    auto order = cast<DenseI64ArrayAttr>(value).asArrayRef();
    addByte(ALULA_CALL_VALUE_ARRAY);
    addByte(static_cast<unsigned>(order.size()));
    for (int64_t dim : order)
      addByte(static_cast<unsigned>(dim));
  }

  LogicalResult addDictionary(DictionaryAttr dictionary) {
    addCount(dictionary.size());
    // Sorted by name, as MLIR has it.
    for (NamedAttribute entry : dictionary) {
      addText(entry.getName().getValue());
      if (failed(addAttribute(entry.getValue())))
        return failure();
    }
    return success();
  }

private:
  void addText(StringRef text) {
    addCount(text.size());
    bytes += text;
  }

  LogicalResult addAttribute(Attribute attribute) {
    return llvm::TypeSwitch<Attribute, LogicalResult>(attribute)
        .Case<IntegerAttr, FloatAttr>([&](auto number) {
          auto type = RankedTensorType::get({}, number.getType());
          return addElements(ALULA_CALL_ATTRIBUTE_SCALAR,
                             DenseElementsAttr::get(type, Attribute(number)));
        })
        .Case([&](StringAttr text) {
          addByte(ALULA_CALL_ATTRIBUTE_STRING);
          addText(text.getValue());
          return success();
        })
        .Case([&](DictionaryAttr dictionary) {
          addByte(ALULA_CALL_ATTRIBUTE_DICTIONARY);
          return addDictionary(dictionary);
        })
        .Case([&](ArrayAttr list) {
          addByte(ALULA_CALL_ATTRIBUTE_LIST);
          addCount(list.size());
          return success(llvm::all_of(list, [&](Attribute element) {
            return succeeded(addAttribute(element));
          }));
        })
        .Case([&](DenseArrayAttr array) { return addArray(array); })
        .Case([&](DenseElementsAttr array) {
          return addElements(ALULA_CALL_ATTRIBUTE_ARRAY, array);
        })
        .Default([](Attribute) { return failure(); });
  }

  LogicalResult addArray(DenseArrayAttr array) {
    auto dtype = alula::dispatch::getDtype(array.getElementType());
    if (!dtype)
      return failure();
    addByte(ALULA_CALL_ATTRIBUTE_ARRAY);
    addByte(*dtype);
    addCount(static_cast<size_t>(array.size()));
    ArrayRef<char> raw = array.getRawData();
    bytes.append(raw.begin(), raw.end());
    return success();
  }

  LogicalResult addElements(unsigned kind, DenseElementsAttr elements) {
    auto dtype = alula::dispatch::getDtype(elements.getElementType());
    auto all = alula::dispatch::getConstantBytes(elements);
    if (!dtype || !all)
      return failure();
    addByte(kind);
    addByte(*dtype);
    if (kind == ALULA_CALL_ATTRIBUTE_ARRAY)
      addCount(static_cast<size_t>(elements.getNumElements()));
    bytes += all->get();
    return success();
  }

  std::string bytes;
};
} // namespace

std::optional<std::string>
alula::emit::getCallConfig(uint32_t number, ArrayAttr values,
                           DictionaryAttr attributes) {
  ConfigWriter writer;
  writer.addCount(ALULA_CALL_CONFIG_MAGIC);
  writer.addCount(number);
  for (auto list : values.getAsRange<ArrayAttr>()) {
    writer.addCount(list.size());
    for (Attribute value : list)
      writer.addValue(value);
  }
  if (failed(writer.addDictionary(attributes)))
    return std::nullopt;
  return writer.take();
}
