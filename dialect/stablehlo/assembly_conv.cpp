// The syntax of convolutions: [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] and
// {stride = [1, 1], pad = [[0, 0], [0, 0]]}.

#include "dialect/stablehlo/assembly.h"
#include "dialect/stablehlo/struct_syntax.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// The roles of the dimensions of one of the three tensors.
struct Roles {
  /// The two letters of the dimensions that are not spatial, as in "bf".
  StringRef letters;
  int64_t first = 0, second = 0;
  SmallVector<int64_t> spatial = {};
};

ParseResult parseRoles(AsmParser &parser, Roles &roles) {
  constexpr int64_t unset = -1;
  roles.first = roles.second = unset;
  // Dimension by spatial number. A dense map would not take every key.
  std::map<int64_t, int64_t> dimensionOf;
  int64_t index = 0;
  auto parseDimension = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      if (failed(*parsed))
        return failure();
      if (number < 0 || !dimensionOf.try_emplace(number, index).second)
        return parser.emitError(location)
               << "spatial dimensions must be unique and not negative: got "
               << number;
      ++index;
      return success();
    }
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    bool isFirst = keyword == roles.letters.take_front();
    if (!isFirst && keyword != roles.letters.drop_front())
      return parser.emitError(location)
             << "expected a number, " << roles.letters.take_front() << " or "
             << roles.letters.drop_front() << ": got " << keyword;
    int64_t &slot = isFirst ? roles.first : roles.second;
    if (slot != unset)
      return parser.emitError(location) << keyword << " is given twice";
    slot = index++;
    return success();
  };
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseDimension))
    return failure();
  if (roles.first == unset || roles.second == unset)
    return parser.emitError(start)
           << (roles.first == unset ? roles.letters.take_front()
                                    : roles.letters.drop_front())
           << " is missing";
  for (int64_t number = 0, end = static_cast<int64_t>(dimensionOf.size());
       number < end; ++number) {
    auto found = dimensionOf.find(number);
    if (found == dimensionOf.end())
      return parser.emitError(start)
             << "spatial dimension " << number << " is missing";
    roles.spatial.push_back(found->second);
  }
  return success();
}

/// The text of each dimension; empty unless the roles are a permutation.
SmallVector<std::string> nameDimensions(const Roles &roles) {
  SmallVector<std::string> names(roles.spatial.size() + 2);
  auto name = [&](int64_t dimension, std::string text) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(names.size()) ||
        !names[dimension].empty())
      return false;
    names[dimension] = std::move(text);
    return true;
  };
  bool isPermutation = name(roles.first, roles.letters.take_front().str()) &&
                       name(roles.second, roles.letters.drop_front().str());
  for (auto [number, dimension] : llvm::enumerate(roles.spatial))
    isPermutation = isPermutation && name(dimension, std::to_string(number));
  if (!isPermutation)
    names.clear();
  return names;
}

ConvDimensionNumbersAttr getNumbers(MLIRContext *context, const Roles &input,
                                    const Roles &kernel, const Roles &output) {
  return ConvDimensionNumbersAttr::get(
      context, input.first, input.second, input.spatial, kernel.first,
      kernel.second, kernel.spatial, output.first, output.second,
      output.spatial);
}

/// The form for numbers that are no permutation, up to the closing `>`.
ParseResult parseRaw(AsmParser &parser, ConvDimensionNumbersAttr &numbers) {
  Roles input, kernel, output;
  if (parseStruct(parser, {{"input_batch_dimension", input.first},
                           {"input_feature_dimension", input.second},
                           {"input_spatial_dimensions", input.spatial},
                           {"kernel_input_feature_dimension", kernel.first},
                           {"kernel_output_feature_dimension", kernel.second},
                           {"kernel_spatial_dimensions", kernel.spatial},
                           {"output_batch_dimension", output.first},
                           {"output_feature_dimension", output.second},
                           {"output_spatial_dimensions", output.spatial}}))
    return failure();
  numbers = getNumbers(parser.getContext(), input, kernel, output);
  return success();
}
} // namespace

ParseResult
stablehlo::parseConvolutionDimensions(AsmParser &parser,
                                      ConvDimensionNumbersAttr &numbers) {
  Roles input{"bf"}, kernel{"io"}, output{"bf"};
  if (parseRoles(parser, input) || parser.parseKeyword("x") ||
      parseRoles(parser, kernel) || parser.parseArrow() ||
      parseRoles(parser, output))
    return failure();
  numbers = getNumbers(parser.getContext(), input, kernel, output);
  return success();
}

void stablehlo::printConvolutionDimensions(AsmPrinter &printer,
                                           ConvDimensionNumbersAttr numbers) {
  Roles input{"bf", numbers.getInputBatchDimension(),
              numbers.getInputFeatureDimension(),
              SmallVector<int64_t>(numbers.getInputSpatialDimensions())};
  Roles kernel{"io", numbers.getKernelInputFeatureDimension(),
               numbers.getKernelOutputFeatureDimension(),
               SmallVector<int64_t>(numbers.getKernelSpatialDimensions())};
  Roles output{"bf", numbers.getOutputBatchDimension(),
               numbers.getOutputFeatureDimension(),
               SmallVector<int64_t>(numbers.getOutputSpatialDimensions())};
  SmallVector<std::string> names[] = {
      nameDimensions(input), nameDimensions(kernel), nameDimensions(output)};
  if (llvm::any_of(names, [](auto &list) { return list.empty(); })) {
    printer << "raw ";
    StructPrinter(printer)
        .print("input_batch_dimension", input.first)
        .print("input_feature_dimension", input.second)
        .print("input_spatial_dimensions", input.spatial)
        .print("kernel_input_feature_dimension", kernel.first)
        .print("kernel_output_feature_dimension", kernel.second)
        .print("kernel_spatial_dimensions", kernel.spatial)
        .print("output_batch_dimension", output.first)
        .print("output_feature_dimension", output.second)
        .print("output_spatial_dimensions", output.spatial);
    return;
  }
  printer << '[' << llvm::join(names[0], ", ") << "]x["
          << llvm::join(names[1], ", ") << "]->[" << llvm::join(names[2], ", ")
          << ']';
}

void stablehlo::printConvolutionDimensions(AsmPrinter &printer, Operation *,
                                           ConvDimensionNumbersAttr numbers) {
  printConvolutionDimensions(printer, numbers);
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr numbers;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("raw"))) {
    if (parseRaw(parser, numbers))
      return {};
    return numbers;
  }
  if (parseConvolutionDimensions(parser, numbers) || parser.parseGreater())
    return {};
  return numbers;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvolutionDimensions(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// `[[0, 1], [2, 3]]` as a tensor<2x2xi64>.
ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  SmallVector<int64_t> values;
  auto parsePair = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    FailureOr<SmallVector<int64_t>> pair = parseBracketedDims(parser);
    if (failed(pair))
      return failure();
    if (pair->size() != 2)
      return parser.emitError(location)
             << "padding needs two numbers for each dimension: got "
             << pair->size();
    llvm::append_range(values, *pair);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
    return failure();
  int64_t numDimensions = values.size() / 2;
  auto type = RankedTensorType::get({numDimensions, 2},
                                    parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}
} // namespace

ParseResult stablehlo::parseWindowAttributes(OpAsmParser &parser,
                                             DenseI64ArrayAttr &strides,
                                             DenseIntElementsAttr &padding,
                                             DenseI64ArrayAttr &lhsDilation,
                                             DenseI64ArrayAttr &rhsDilation,
                                             DenseBoolArrayAttr &reversal) {
  Builder &builder = parser.getBuilder();
  SmallVector<StringRef> seen;
  StringRef keyword;
  do {
    SMLoc location = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&keyword)))
      return success();
    if (llvm::is_contained(seen, keyword))
      return parser.emitError(location) << keyword << " is given twice";
    seen.push_back(keyword);
    if (parser.parseEqual())
      return failure();
    if (keyword == "pad") {
      if (parsePadding(parser, padding))
        return failure();
      continue;
    }
    DenseI64ArrayAttr *slot = llvm::StringSwitch<DenseI64ArrayAttr *>(keyword)
                                  .Case("stride", &strides)
                                  .Case("lhs_dilate", &lhsDilation)
                                  .Case("rhs_dilate", &rhsDilation)
                                  .Default(nullptr);
    if (!slot && keyword != "reverse")
      return parser.emitError(location)
             << "expected one of stride, pad, lhs_dilate, rhs_dilate, reverse: "
                "got "
             << keyword;
    if (slot) {
      FailureOr<SmallVector<int64_t>> values = parseBracketedDims(parser);
      if (failed(values))
        return failure();
      *slot = builder.getDenseI64ArrayAttr(*values);
      continue;
    }
    // parseInteger takes `true` and `false` too.
    SmallVector<bool> flags;
    auto parseFlag = [&]() -> ParseResult {
      int64_t value;
      if (parser.parseInteger(value))
        return failure();
      flags.push_back(value != 0);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFlag))
      return failure();
    reversal = builder.getDenseBoolArrayAttr(flags);
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

void stablehlo::printWindowAttributes(OpAsmPrinter &printer, Operation *,
                                      DenseI64ArrayAttr strides,
                                      DenseIntElementsAttr padding,
                                      DenseI64ArrayAttr lhsDilation,
                                      DenseI64ArrayAttr rhsDilation,
                                      DenseBoolArrayAttr reversal) {
  bool isFirst = true;
  auto printName = [&](StringRef name) {
    if (!std::exchange(isFirst, false))
      printer << ", ";
    printer << name << " = ";
  };
  auto printDims = [&](StringRef name, DenseI64ArrayAttr values) {
    if (!values)
      return;
    printName(name);
    printBracketedDims(printer, values);
  };
  printDims("stride", strides);
  if (padding) {
    printName("pad");
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    printer << '[';
    for (size_t index = 0; index + 1 < values.size(); index += 2) {
      printer << (index == 0 ? "" : ", ");
      printBracketedDims(printer, {values[index], values[index + 1]});
    }
    printer << ']';
  }
  printDims("lhs_dilate", lhsDilation);
  printDims("rhs_dilate", rhsDilation);
  if (!reversal)
    return;
  printName("reverse");
  printer << '[';
  llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool flag) {
    printer << (flag ? "true" : "false");
  });
  printer << ']';
}
