#include "dialect/newer/sub_channel_syntax.h"
#include "dialect/newer/dialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace alula::newer;

namespace {

/// The blocks as written: nested braces, a scale and a zero point each.
struct Blocks {
  SmallVector<int64_t> shape;
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
};

} // namespace

/// Reads `{…}` at `depth`; every brace of one depth must hold equally many.
static ParseResult parseBlocks(DialectAsmParser &parser, size_t depth,
                               Blocks &blocks) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLBrace())) {
    double scale;
    int64_t zeroPoint = 0;
    if (depth == 0 || (blocks.scales.size() && depth != blocks.shape.size()))
      return parser.emitError(loc, "quantized type: scales must nest evenly");
    if (parser.parseFloat(scale) || (succeeded(parser.parseOptionalColon()) &&
                                     parser.parseInteger(zeroPoint)))
      return failure();
    blocks.scales.push_back(scale);
    blocks.zeroPoints.push_back(zeroPoint);
    return success();
  }
  // The first path down fixes the rank.
  bool isFirst = depth == blocks.shape.size();
  if (isFirst && (!blocks.scales.empty() || depth >= 64))
    return parser.emitError(loc, "quantized type: scales must nest evenly");
  if (isFirst)
    blocks.shape.push_back(-1);
  int64_t count = 0;
  do {
    if (parseBlocks(parser, depth + 1, blocks))
      return failure();
    ++count;
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseRBrace())
    return failure();
  if (blocks.shape[depth] == -1)
    blocks.shape[depth] = count;
  if (blocks.shape[depth] != count)
    return parser.emitError(loc, "quantized type: scales must nest evenly: ")
           << count << " and " << blocks.shape[depth] << " at depth " << depth;
  return success();
}

/// Reads `i8`, `u8` and an optional `<min:max>`.
static ParseResult parseStorage(DialectAsmParser &parser,
                                SubChannelQuantization &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  unsigned width = 0;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    result.isSigned = !keyword.starts_with("u");
    if (keyword.drop_front().getAsInteger(10, width) || width < 1 ||
        width > 32 || !(keyword[0] == 'u' || keyword[0] == 'i'))
      return parser.emitError(loc, "quantized type: storage type must be an "
                                   "integer of 1 to 32 bits: ")
             << keyword;
  } else {
    IntegerType type;
    if (parser.parseType(type))
      return failure();
    result.isSigned = true;
    width = type.getWidth();
    if (!type.isSignless() || width < 1 || width > 32)
      return parser.emitError(loc, "quantized type: storage type must be an "
                                   "integer of 1 to 32 bits: ")
             << type;
  }
  result.storageType = IntegerType::get(parser.getContext(), width);
  result.storageMin = result.isSigned ? -(int64_t(1) << (width - 1)) : 0;
  result.storageMax = result.storageMin + (int64_t(1) << width) - 1;
  if (failed(parser.parseOptionalLess()))
    return success();
  return failure(
      parser.parseInteger(result.storageMin) || parser.parseColon() ||
      parser.parseInteger(result.storageMax) || parser.parseGreater());
}

Type alula::newer::parseSubChannel(DialectAsmParser &parser) {
  SMLoc loc = NewerDialect::getSymbolLoc(parser);
  SubChannelQuantization result;
  FloatType expressed;
  StringRef keyword;
  SmallVector<int32_t> dimensions;
  SmallVector<int64_t> blockSizes;
  auto parseBlockSize = [&]() -> ParseResult {
    return failure(parser.parseInteger(dimensions.emplace_back()) ||
                   parser.parseColon() ||
                   parser.parseInteger(blockSizes.emplace_back()));
  };
  Blocks blocks;
  if (parser.parseKeyword(&keyword) || parser.parseLess() ||
      parseStorage(parser, result) || parser.parseColon() ||
      parser.parseType(expressed) || parser.parseColon() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                     parseBlockSize) ||
      parser.parseComma() || parseBlocks(parser, 0, blocks) ||
      parser.parseGreater())
    return {};

  result.expressedType = expressed;
  result.quantizedDimensions = dimensions;
  result.blockSizes = blockSizes;
  SmallVector<APFloat> scales;
  for (double scale : blocks.scales) {
    APFloat value(scale);
    bool losesInfo;
    value.convert(expressed.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    scales.push_back(value);
  }
  unsigned width = result.storageType.getIntOrFloatBitWidth();
  SmallVector<APInt> zeroPoints;
  for (int64_t zeroPoint : blocks.zeroPoints) {
    if (zeroPoint < result.storageMin || zeroPoint > result.storageMax) {
      parser.emitError(loc, "quantized type: zero point must lie inside the "
                            "storage range ")
          << result.storageMin << ":" << result.storageMax << ": " << zeroPoint;
      return {};
    }
    zeroPoints.push_back(APInt(64, uint64_t(zeroPoint)).trunc(width));
  }
  result.scales = DenseElementsAttr::get(
      RankedTensorType::get(blocks.shape, expressed), scales);
  result.zeroPoints = DenseElementsAttr::get(
      RankedTensorType::get(blocks.shape, result.storageType), zeroPoints);
  return SubChannelQuantizedType::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(), result);
}

/// As few digits as give the same scale when read again.
static void printScale(const APFloat &scale, raw_ostream &os) {
  for (int digits : {6, 9, 17}) {
    SmallString<32> text;
    llvm::raw_svector_ostream(text)
        << llvm::format("%.*e", digits, scale.convertToDouble());
    APFloat again(scale.getSemantics(), text);
    if (digits == 17 || again.bitwiseIsEqual(scale)) {
      os << text;
      return;
    }
  }
}

void alula::newer::printSubChannel(SubChannelQuantizedType type,
                                   DialectAsmPrinter &printer) {
  raw_ostream &os = printer.getStream();
  const SubChannelQuantization &value = type.getQuantization();
  unsigned width = value.storageType.getIntOrFloatBitWidth();
  int64_t lowest = value.isSigned ? -(int64_t(1) << (width - 1)) : 0;
  int64_t highest = lowest + (int64_t(1) << width) - 1;
  os << "uniform<" << (value.isSigned ? 'i' : 'u') << width;
  if (value.storageMin != lowest || value.storageMax != highest)
    os << '<' << value.storageMin << ':' << value.storageMax << '>';
  os << ':' << value.expressedType << ":{";
  llvm::interleaveComma(
      llvm::zip_equal(value.quantizedDimensions, value.blockSizes), os,
      [&](auto pair) { os << std::get<0>(pair) << ':' << std::get<1>(pair); });
  os << "}, ";

  ArrayRef<int64_t> shape = value.scales.getType().getShape();
  auto scales = value.scales.getValues<APFloat>();
  auto zeroPoints = value.zeroPoints.getValues<APInt>();
  size_t index = 0;
  auto printNested = [&](auto &&self, size_t depth) -> void {
    if (depth == shape.size()) {
      printScale(scales[index], os);
      const APInt &zeroPoint = zeroPoints[index++];
      if (!zeroPoint.isZero()) {
        os << ':';
        zeroPoint.print(os, value.isSigned);
      }
      return;
    }
    os << '{';
    for (int64_t i = 0; i < shape[depth]; ++i) {
      if (i)
        os << ", ";
      self(self, depth + 1);
    }
    os << '}';
  };
  printNested(printNested, 0);
  os << '>';
}
