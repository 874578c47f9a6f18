#include "dialect/newer/dense_literal.h"
#include "dialect/newer/attributes.h"
#include "dialect/newer/dialect.h"
#include "dialect/newer/limits.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace alula::newer;

namespace {

/// Reads the elements of one literal straight from the source text. The shape
/// is known beforehand, so depth and counts are checked as they come.
class LiteralReader {
public:
  LiteralReader(DialectAsmParser &parser, StringRef text, ShapedType type,
                BridgedFloatType element)
      : parser(parser), rest(text), type(type), element(element) {}

  /// Reads everything up to the closing `>`.
  LogicalResult read(SmallVectorImpl<uint8_t> &codes) {
    skipSpace();
    if (rest.starts_with("\""))
      return readHexString(codes);
    if (!rest.starts_with(">") && failed(readNested(0, codes)))
      return failure();
    skipSpace();
    if (rest != ">")
      return emitError() << "expected '>'";
    int64_t count = type.getNumElements();
    if (codes.size() != 1 && int64_t(codes.size()) != count)
      return emitError() << "holds " << codes.size() << " elements, but "
                         << type << " has " << count;
    return success();
  }

private:
  InFlightDiagnostic emitError() {
    return parser.emitError(SMLoc::getFromPointer(rest.data()),
                            "dense literal: ");
  }

  void skipSpace() {
    while (true) {
      rest = rest.ltrim(" \t\r\n");
      if (!rest.starts_with("//"))
        return;
      rest = rest.drop_until([](char c) { return c == '\n'; });
    }
  }

  LogicalResult readNested(int64_t depth, SmallVectorImpl<uint8_t> &codes) {
    skipSpace();
    if (!rest.starts_with("["))
      return readElement(depth, codes);
    if (depth >= type.getRank())
      return emitError() << "nested deeper than the rank of " << type;
    rest = rest.drop_front();
    int64_t count = 0;
    for (skipSpace(); !rest.consume_front("]"); skipSpace()) {
      if (count && !rest.consume_front(","))
        return emitError() << "expected ',' or ']'";
      if (failed(readNested(depth + 1, codes)))
        return failure();
      ++count;
    }
    if (count != type.getDimSize(depth))
      return emitError() << count << " elements in dimension " << depth
                         << " of " << type;
    return success();
  }

  LogicalResult readElement(int64_t depth, SmallVectorImpl<uint8_t> &codes) {
    // A lone element is a splat.
    if (depth && depth != type.getRank())
      return emitError() << "element at depth " << depth << " of " << type;
    if (!element)
      return emitError() << "expected a string of hex digits for " << type;
    bool isNegative = rest.starts_with("-");
    StringRef number = rest.drop_front(isNegative);
    if (number.starts_with("0x")) {
      StringRef digits = number.drop_front(2).take_while(
          [](char c) { return llvm::isHexDigit(c); });
      uint64_t code;
      if (isNegative)
        return emitError() << "hexadecimal float has a minus sign";
      if (digits.getAsInteger(16, code) || code >> element.getWidth())
        return emitError() << "hexadecimal float out of range for " << element;
      codes.push_back(uint8_t(code));
      rest = number.drop_front(2 + digits.size());
      return success();
    }
    size_t size = getDecimalSize(number);
    double value;
    if (!size || number.take_front(size).getAsDouble(value))
      return emitError() << "expected a float with a decimal point";
    codes.push_back(encode(element.getFormat(), isNegative ? -value : value));
    rest = number.drop_front(size);
    return success();
  }

  /// The length of `digits.digits[e[+-]digits]`, or 0.
  static size_t getDecimalSize(StringRef text) {
    size_t size = text.find_if_not(llvm::isDigit);
    if (size == 0 || size == StringRef::npos || text[size] != '.')
      return 0;
    size = std::min(text.find_if_not(llvm::isDigit, size + 1), text.size());
    if (size < text.size() && (text[size] == 'e' || text[size] == 'E')) {
      size_t digits = size + 1;
      if (digits < text.size() && (text[digits] == '+' || text[digits] == '-'))
        ++digits;
      if (digits < text.size() && llvm::isDigit(text[digits]))
        size = std::min(text.find_if_not(llvm::isDigit, digits), text.size());
    }
    return size;
  }

  LogicalResult readHexString(SmallVectorImpl<uint8_t> &codes) {
    StringRef start = rest;
    size_t end = rest.find('"', 1);
    StringRef hex = rest.slice(1, end);
    if (end == StringRef::npos || !hex.consume_front("0x") || hex.size() % 2 ||
        !llvm::all_of(hex, llvm::isHexDigit))
      return emitError() << "expected a string of hex digits that starts "
                            "with 0x";
    rest = rest.drop_front(end + 1);
    skipSpace();
    if (rest != ">")
      return emitError() << "expected '>'";
    int64_t count = type.getNumElements();
    int64_t bytes = hex.size() / 2;
    rest = start;
    if (bytes != 1 && bytes != count)
      return emitError() << "hex string holds " << bytes << " bytes, but "
                         << type << " has " << count
                         << " elements of one byte each";
    codes.reserve(bytes);
    for (int64_t i = 0; i < bytes; ++i)
      codes.push_back(uint8_t(llvm::hexDigitValue(hex[2 * i]) * 16 +
                              llvm::hexDigitValue(hex[2 * i + 1])));
    return success();
  }

  DialectAsmParser &parser;
  StringRef rest;
  ShapedType type;
  BridgedFloatType element;
};

} // namespace

Attribute alula::newer::parseDenseLiteral(DialectAsmParser &parser, Type type) {
  SMLoc loc = NewerDialect::getSymbolLoc(parser);
  auto shaped = dyn_cast_or_null<ShapedType>(type);
  if (!shaped) {
    parser.emitError(loc, "dense literal: type must be shaped");
    return {};
  }
  if (!isa<RankedTensorType, VectorType>(type) || !shaped.hasStaticShape()) {
    parser.emitError(loc, "dense literal: shape must be static: ") << type;
    return {};
  }
  auto element = dyn_cast<BridgedFloatType>(shaped.getElementType());
  bool isBool = shaped.getElementType().isInteger(1);
  if (!element && !isBool) {
    parser.emitError(loc, "dense literal: not a bridged element type: ")
        << type;
    return {};
  }
  if (!countElements(shaped.getShape())) {
    parser.emitError(loc, "dense literal: too many elements: ") << type;
    return {};
  }

  StringRef text = parser.getFullSymbolSpec();
  text = text.drop_front(text.find('<') + 1);
  SmallVector<uint8_t> codes;
  if (failed(LiteralReader(parser, text, shaped, element).read(codes)))
    return {};
  if (element)
    return DenseBridgedAttr::get(shaped, ArrayRef<uint8_t>(codes));
  SmallVector<bool> flags(codes.size());
  for (auto [flag, code] : llvm::zip_equal(flags, codes))
    flag = code != 0;
  return DenseElementsAttr::get(shaped, ArrayRef<bool>(flags));
}

static void printElement(FloatFormat format, uint8_t code, raw_ostream &os) {
  double value = decode(format, code);
  // Seven digits tell all values of these types apart; what has no digits is
  // written as its bits.
  if (std::isfinite(value))
    os << llvm::format("%.6e", value);
  else
    os << "0x" << llvm::utohexstr(code, /*LowerCase=*/false, /*Width=*/2);
}

Attribute alula::newer::parseNumber(DialectAsmParser &parser,
                                    BridgedFloatType type) {
  if (!type) {
    parser.emitError(NewerDialect::getSymbolLoc(parser),
                     "number: not a bridged type");
    return {};
  }
  // A number is read as a literal without dimensions.
  StringRef text = parser.getFullSymbolSpec();
  text = text.drop_front(std::min(text.find('<'), text.size() - 1) + 1);
  SmallVector<uint8_t> codes;
  auto scalar = RankedTensorType::get({}, type);
  if (failed(LiteralReader(parser, text, scalar, type).read(codes)))
    return {};
  return BridgedFloatAttr::get(type, codes.front());
}

void alula::newer::printNumber(BridgedFloatAttr attribute,
                               DialectAsmPrinter &printer) {
  raw_ostream &os = printer.getStream();
  os << "number<";
  printElement(attribute.getFloatType().getFormat(), attribute.getCode(), os);
  os << '>';
}

void alula::newer::printDenseLiteral(DenseBridgedAttr attribute,
                                     DialectAsmPrinter &printer) {
  raw_ostream &os = printer.getStream();
  ShapedType type = attribute.getType();
  FloatFormat format = attribute.getFormat();
  ArrayRef<uint8_t> codes = attribute.getRawCodes();
  os << "dense<";
  if (type.getNumElements() == 0) {
    os << '>';
    return;
  }
  if (attribute.isSplat()) {
    printElement(format, codes.front(), os);
    os << '>';
    return;
  }
  // MLIR's own border between a list and a string.
  if (codes.size() > 100) {
    os << "\"0x" << llvm::toHex(codes) << "\">";
    return;
  }
  ArrayRef<int64_t> shape = type.getShape();
  for (size_t i = 0; i < codes.size(); ++i) {
    if (i)
      os << ", ";
    // A bracket opens and closes wherever the index is a multiple of the
    // elements inside it.
    size_t inside = 1;
    SmallVector<size_t> sizes;
    for (int64_t dim : llvm::reverse(shape))
      sizes.push_back(inside *= size_t(dim));
    for (size_t size : sizes)
      if (i % size == 0)
        os << '[';
    printElement(format, codes[i], os);
    for (size_t size : sizes)
      if ((i + 1) % size == 0)
        os << ']';
  }
  os << '>';
}
