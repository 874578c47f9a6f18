// Text of the attributes whose form is more than a list of parameters.

#include "dialect/sdy/dialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::sdy;

// --- {"a", ?}p1 -------------------------------------------------------------

/// Reads `p12` after a closing brace, if it is there.
static ParseResult parsePriority(AsmParser &parser,
                                 std::optional<int64_t> &priority) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    return success();
  StringRef digits = word.drop_front();
  int64_t value;
  if (word.front() != 'p' || digits.empty() ||
      !llvm::all_of(digits, llvm::isDigit) ||
      (digits.size() > 1 && digits.front() == '0') ||
      digits.getAsInteger(10, value))
    return parser.emitError(loc, "priority must be written p0, p1, ...: ")
           << word;
  priority = value;
  return success();
}

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  std::optional<int64_t> priority;
  if (parser.parseLBrace())
    return {};
  if (failed(parser.parseOptionalRBrace())) {
    do {
      if (succeeded(parser.parseOptionalQuestion())) {
        isClosed = false;
        break;
      }
      auto axis = FieldParser<AxisRefAttr>::parse(parser);
      if (failed(axis))
        return {};
      axes.push_back(*axis);
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRBrace())
      return {};
  }
  if (parsePriority(parser, priority))
    return {};
  return get(parser.getContext(), axes, isClosed, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  printer.printStrippedAttrOrType(getAxes());
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority())
    printer << 'p' << *getPriority();
}

// --- <@mesh, [{"a"}], replicated={"b"}, unreduced={"c"}> --------------------

static ParseResult parseMeshOrRef(AsmParser &parser, Attribute &result) {
  if (succeeded(parser.parseOptionalKeyword(MeshAttr::getMnemonic()))) {
    auto mesh = FieldParser<MeshAttr>::parse(parser);
    if (failed(mesh))
      return failure();
    result = *mesh;
    return success();
  }
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  result = FlatSymbolRefAttr::get(name);
  return success();
}

static ParseResult parseAxisSet(AsmParser &parser,
                                SmallVectorImpl<AxisRefAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        auto axis = FieldParser<AxisRefAttr>::parse(parser);
        if (failed(axis))
          return failure();
        axes.push_back(*axis);
        return success();
      });
}

/// `, replicated={…}` and `, unreduced=max{…}` in either order.
static ParseResult parseAxisSets(AsmParser &parser,
                                 SmallVectorImpl<AxisRefAttr> &replicated,
                                 SmallVectorImpl<AxisRefAttr> &unreduced,
                                 ReductionOp &reduction) {
  bool hasReplicated = false, hasUnreduced = false;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return failure();
    if (word == "replicated" && !hasReplicated) {
      hasReplicated = true;
      if (parseAxisSet(parser, replicated))
        return failure();
      continue;
    }
    if (word != "unreduced" || hasUnreduced)
      return parser.emitError(loc, "expected one replicated={...} or "
                                   "unreduced={...}: ")
             << word;
    hasUnreduced = true;
    SMLoc reductionLoc = parser.getCurrentLocation();
    StringRef reductionWord;
    if (succeeded(parser.parseOptionalKeyword(&reductionWord))) {
      std::optional<ReductionOp> parsed = symbolizeReductionOp(reductionWord);
      if (!parsed)
        return parser.emitError(reductionLoc,
                                "reduction must be sum, max or min: ")
               << reductionWord;
      reduction = *parsed;
    }
    if (parseAxisSet(parser, unreduced))
      return failure();
  }
  return success();
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  Attribute mesh;
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  ReductionOp reduction = ReductionOp::SUM;
  auto parseDim = [&]() -> ParseResult {
    auto dim = FieldParser<DimensionShardingAttr>::parse(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() || parseMeshOrRef(parser, mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parseAxisSets(parser, replicated, unreduced, reduction) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, replicated, unreduced, reduction);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto mesh = llvm::dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << MeshAttr::getMnemonic();
    printer.printStrippedAttrOrType(mesh);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", [";
  printer.printStrippedAttrOrType(getDimShardings());
  printer << ']';
  auto printSet = [&](StringRef word, ArrayRef<AxisRefAttr> axes) {
    if (axes.empty())
      return;
    printer << ", " << word << '{';
    printer.printStrippedAttrOrType(axes);
    printer << '}';
  };
  printSet("replicated=", getReplicatedAxes());
  // A sum is not written: older readers know nothing else.
  std::string unreduced = "unreduced=";
  if (getReductionOp() != ReductionOp::SUM)
    unreduced += stringifyReductionOp(getReductionOp());
  printSet(unreduced, getUnreducedAxes());
  printer << '>';
}

// --- ([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k} --------------

/// Takes the first factor off `text`: a letter, or `z_` and a number.
static ParseResult parseFactor(AsmParser &parser, SMLoc loc, StringRef &text,
                               int64_t &factor) {
  StringRef whole = text;
  if (text.consume_front("z_")) {
    StringRef digits = text.take_while(llvm::isDigit);
    text = text.drop_front(digits.size());
    int64_t number;
    if (digits.empty() || digits.front() == '0' ||
        digits.getAsInteger(10, number) || number > (int64_t(1) << 32))
      return parser.emitError(loc, "factor must be i to z, z_1, z_2, ...: ")
             << whole;
    factor = 'z' - 'i' + number;
    return success();
  }
  char letter = text.front();
  if (letter < 'i' || letter > 'z')
    return parser.emitError(loc, "factor must be i to z, z_1, z_2, ...: ")
           << whole;
  text = text.drop_front();
  factor = letter - 'i';
  return success();
}

/// Reads one factor that stands alone.
static ParseResult parseLoneFactor(AsmParser &parser, int64_t &factor) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word) || parseFactor(parser, loc, word, factor))
    return failure();
  if (!word.empty())
    return parser.emitError(loc, "expected a single factor, then: ") << word;
  return success();
}

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> factors;
  StringRef word;
  if (parser.parseKeyword(&word))
    return {};
  while (!word.empty())
    if (parseFactor(parser, loc, word, factors.emplace_back()))
      return {};
  return get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  for (int64_t factor : getFactorIndices())
    printer << getFactorName(factor);
}

static ParseResult parseMappings(AsmParser &parser,
                                 SmallVectorImpl<TensorMappingAttr> &result) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        auto mapping = FieldParser<TensorMappingAttr>::parse(parser);
        if (failed(mapping))
          return failure();
        result.push_back(*mapping);
        return success();
      });
}

/// `{i=8, j=16}`: every factor in order.
static ParseResult parseFactorSizes(AsmParser &parser,
                                    SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        int64_t factor, expected = int64_t(sizes.size());
        if (parseLoneFactor(parser, factor))
          return failure();
        if (factor != expected)
          return parser.emitError(loc, "factors must come in order: ")
                 << getFactorName(factor) << " where "
                 << getFactorName(expected) << " is due";
        return failure(parser.parseEqual() ||
                       parser.parseInteger(sizes.emplace_back()));
      });
}

static ParseResult parseFactorSet(AsmParser &parser, StringRef word,
                                  SmallVectorImpl<int64_t> &factors) {
  if (failed(parser.parseOptionalKeyword(word)))
    return success();
  return failure(parser.parseEqual() ||
                 parser.parseCommaSeparatedList(
                     AsmParser::Delimiter::Braces, [&]() -> ParseResult {
                       return parseLoneFactor(parser, factors.emplace_back());
                     }));
}

Attribute OpShardingRuleAttr::parse(AsmParser &parser, Type) {
  SmallVector<TensorMappingAttr> operands, results;
  SmallVector<int64_t> sizes, reduction, replication, permutation, blocked;
  bool isCustom = false;
  if (parser.parseLess() || parseMappings(parser, operands) ||
      parser.parseArrow() || parseMappings(parser, results) ||
      parseFactorSizes(parser, sizes) ||
      parseFactorSet(parser, "reduction", reduction) ||
      parseFactorSet(parser, "need_replication", replication) ||
      parseFactorSet(parser, "permutation", permutation) ||
      parseFactorSet(parser, "blocked_propagation", blocked))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("custom"))
      return {};
    isCustom = true;
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), sizes, operands, results, reduction,
             replication, permutation, blocked, isCustom);
}

void OpShardingRuleAttr::print(AsmPrinter &printer) const {
  printer << "<(";
  printer.printStrippedAttrOrType(getOperandMappings());
  printer << ")->(";
  printer.printStrippedAttrOrType(getResultMappings());
  printer << ')';
  if (!getFactorSizes().empty()) {
    printer << " {";
    int64_t factor = 0;
    llvm::interleaveComma(getFactorSizes(), printer, [&](int64_t size) {
      printer << getFactorName(factor++) << '=' << size;
    });
    printer << '}';
  }
  auto printSet = [&](StringRef word, ArrayRef<int64_t> factors) {
    if (factors.empty())
      return;
    printer << ' ' << word << "={";
    llvm::interleaveComma(factors, printer, [&](int64_t factor) {
      printer << getFactorName(factor);
    });
    printer << '}';
  };
  printSet("reduction", getReductionFactors());
  printSet("need_replication", getNeedReplicationFactors());
  printSet("permutation", getPermutationFactors());
  printSet("blocked_propagation", getBlockedPropagationFactors());
  printer << (getIsCustomRule() ? ", custom>" : ">");
}

// --- operand-0, {step-2 = […]} ----------------------------------------------

/// Reads `-2` as the number 2: this parser has no sign of its own for the dash.
static ParseResult parseDashedNumber(AsmParser &parser, int64_t &number) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(number))
    return failure();
  if (number > 0 || number == std::numeric_limits<int64_t>::min())
    return parser.emitError(loc, "expected '-' and a number");
  number = -number;
  return success();
}

Attribute EdgeValueRefAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  int64_t index;
  if (parser.parseKeyword(&word))
    return {};
  std::optional<EdgeNodeType> type = symbolizeEdgeNodeType(word);
  if (!type) {
    parser.emitError(loc, "expected operand or result: ") << word;
    return {};
  }
  if (parseDashedNumber(parser, index))
    return {};
  return get(parser.getContext(), *type, index);
}

void EdgeValueRefAttr::print(AsmPrinter &printer) const {
  printer << stringifyEdgeNodeType(getType()) << '-' << getIndex();
}

Attribute PropagationOneStepAttr::parse(AsmParser &parser, Type) {
  int64_t step;
  SmallVector<AxisToPropagationDetailsAttr> entries;
  auto parseEntry = [&]() -> ParseResult {
    auto entry = FieldParser<AxisToPropagationDetailsAttr>::parse(parser);
    if (failed(entry))
      return failure();
    entries.push_back(*entry);
    return success();
  };
  if (parser.parseLBrace() || parser.parseKeyword("step") ||
      parseDashedNumber(parser, step) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseEntry) ||
      parser.parseRBrace())
    return {};
  return get(parser.getContext(), step, entries);
}

void PropagationOneStepAttr::print(AsmPrinter &printer) const {
  printer << "{step-" << getStepIndex() << " = [";
  printer.printStrippedAttrOrType(getAxisEntries());
  printer << "]}";
}
