#include "dialect/newer/dialect.h"
#include "dialect/newer/attributes.h"
#include "dialect/newer/dense_literal.h"
#include "dialect/newer/sub_channel_syntax.h"
#include "dialect/newer/types.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace alula::newer;

MLIR_DEFINE_EXPLICIT_TYPE_ID(alula::newer::NewerDialect)

NewerDialect::NewerDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<NewerDialect>()) {
  registerTypes();
  registerAttributes();
}

llvm::SMLoc NewerDialect::getSymbolLoc(DialectAsmParser &parser) {
  // Before the body stand a prefix, the one letter and a sign.
  return SMLoc::getFromPointer(parser.getFullSymbolSpec().data() - 3);
}

/// The spellings of `adapt.cpp`, which have the length of the official ones.
static std::optional<FloatFormat> parseShortName(StringRef name) {
  return llvm::StringSwitch<std::optional<FloatFormat>>(name)
      .Case("8e3", FloatFormat::F8E3M4)
      .Case("8E8M0U", FloatFormat::F8E8M0FNU)
      .Case("6E2M3", FloatFormat::F6E2M3FN)
      .Case("6E3M2", FloatFormat::F6E3M2FN)
      .Case("4E2M1", FloatFormat::F4E2M1FN)
      .Default(parseFloatFormat(name));
}

Type NewerDialect::parseType(DialectAsmParser &parser) const {
  StringRef spec = parser.getFullSymbolSpec();
  if (std::optional<FloatFormat> format = parseShortName(spec))
    return BridgedFloatType::get(getContext(), *format);
  if (spec.starts_with("qsubchannel<") || spec.starts_with("uniform<"))
    return parseSubChannel(parser);
  parser.emitError(getSymbolLoc(parser), "unknown type: !f.") << spec;
  return {};
}

void NewerDialect::printType(Type type, DialectAsmPrinter &printer) const {
  if (auto bridged = dyn_cast<BridgedFloatType>(type))
    printer << bridged.getName();
  else
    printSubChannel(cast<SubChannelQuantizedType>(type), printer);
}

Attribute NewerDialect::parseAttribute(DialectAsmParser &parser,
                                       Type type) const {
  StringRef spec = parser.getFullSymbolSpec();
  if (spec.starts_with("dn<") || spec.starts_with("dense<"))
    return parseDenseLiteral(parser, type);
  // `8e3<1.0>` from `1.0 : f8E3M4`, or `number<1.0>` with its type behind.
  StringRef name = spec.take_until([](char c) { return c == '<'; });
  if (std::optional<FloatFormat> format = parseShortName(name))
    return parseNumber(parser, BridgedFloatType::get(getContext(), *format));
  if (name == "number")
    return parseNumber(parser, dyn_cast_or_null<BridgedFloatType>(type));
  parser.emitError(getSymbolLoc(parser), "unknown attribute: #f.")
      << spec.take_front(32);
  return {};
}

void NewerDialect::printAttribute(Attribute attribute,
                                  DialectAsmPrinter &printer) const {
  if (auto number = dyn_cast<BridgedFloatAttr>(attribute))
    printNumber(number, printer);
  else
    printDenseLiteral(cast<DenseBridgedAttr>(attribute), printer);
}
