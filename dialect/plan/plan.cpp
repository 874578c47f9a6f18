// The plan dialect: text of its attributes, and what holds for each by itself.

#include "dialect/plan/plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::plan;

#include "dialect/plan/dialect.cpp.inc"
#include "dialect/plan/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/plan/attributes.cpp.inc"

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/plan/attributes.cpp.inc"
      >();
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto fail = [&](const Twine &must) {
    return op->emitError() << "'" << op->getName().getStringRef()
                           << "': " << name << " must be " << must << ": is "
                           << attribute.getValue();
  };
  if (name == stageName)
    return isa<StageAttr>(attribute.getValue()) ? success()
                                                : fail("a #plan.stage");
  if (name == gridName)
    return isa<GridAttr>(attribute.getValue()) && isa<FunctionOpInterface>(op)
               ? success()
               : fail("a #plan.grid of a kernel");
  return fail("'plan.stage' or 'plan.grid'");
}

// ---- Text ----

static void printSizes(AsmPrinter &printer, StringRef name,
                       ArrayRef<int64_t> sizes) {
  if (sizes.empty())
    return;
  printer << ", " << name << " = [";
  llvm::interleaveComma(sizes, printer, [&](int64_t size) {
    ShapedType::isDynamic(size) ? printer << "?" : printer << size;
  });
  printer << "]";
}

void StageAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyKind(getKind());
  if (getNumber() >= 0)
    printer << " " << getNumber();
  printSizes(printer, "space", getSpace());
  printSizes(printer, "tile", getTile());
  if (getMemory() != Memory::Unsaid)
    printer << ", memory = " << stringifyMemory(getMemory());
  if (getParts())
    printer << ", parts = " << getParts();
  if (getTerms())
    printer << ", terms = " << getTerms();
  if (getFused())
    printer << ", fused";
  if (getWay() != Way::Unsaid)
    printer << ", way = " << stringifyWay(getWay());
  printer << ">";
}

static ParseResult parseSizes(AsmParser &parser,
                              SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        int64_t size = ShapedType::kDynamic;
        if (succeeded(parser.parseOptionalQuestion())) {
          sizes.push_back(size);
          return success();
        }
        if (parser.parseInteger(size))
          return failure();
        sizes.push_back(size);
        return success();
      });
}

Attribute StageAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<Kind> kind = symbolizeKind(word);
  if (!kind) {
    parser.emitError(location, "there is no stage '") << word << "'";
    return {};
  }
  int64_t number = -1, parts = 0, terms = 0;
  OptionalParseResult numbered = parser.parseOptionalInteger(number);
  if (numbered.has_value() && failed(*numbered))
    return {};
  SmallVector<int64_t> space, tile;
  Memory memory = Memory::Unsaid;
  bool fused = false;
  Way way = Way::Unsaid;
  llvm::SmallDenseSet<StringRef> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    if (!seen.insert(word).second) {
      parser.emitError(at, "'") << word << "' is said twice";
      return {};
    }
    if (word == "fused") {
      fused = true;
      continue;
    }
    if (parser.parseEqual())
      return {};
    ParseResult result = success();
    if (word == "space") {
      result = parseSizes(parser, space);
    } else if (word == "tile") {
      result = parseSizes(parser, tile);
    } else if (word == "parts") {
      result = parser.parseInteger(parts);
    } else if (word == "terms") {
      result = parser.parseInteger(terms);
    } else if (word == "memory") {
      StringRef where;
      if (parser.parseKeyword(&where))
        return {};
      std::optional<Memory> said = symbolizeMemory(where);
      if (!said || *said == Memory::Unsaid) {
        parser.emitError(at, "there is no memory '") << where << "'";
        return {};
      }
      memory = *said;
    } else if (word == "way") {
      StringRef which;
      if (parser.parseKeyword(&which))
        return {};
      std::optional<Way> said = symbolizeWay(which);
      if (!said || *said == Way::Unsaid) {
        parser.emitError(at, "there is no way '") << which << "'";
        return {};
      }
      way = *said;
    } else {
      parser.emitError(at, "a stage has no '") << word << "'";
      return {};
    }
    if (failed(result))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<StageAttr>(location, parser.getContext(), *kind,
                                      number, space, tile, memory, parts, terms,
                                      fused, way);
}

bool alula::plan::isOrderOfMap(Way way) {
  return way == Way::Elements || way == Way::Tiles || way == Way::Blocks ||
         way == Way::Strips;
}

/// What has a choice of this way.
static bool hasWay(Kind kind, Way way) {
  switch (way) {
  case Way::Unsaid:
    return true;
  case Way::Ordered:
  case Way::Free:
    return kind == Kind::Scatter;
  case Way::Scan:
  case Way::Memory:
  case Way::Registers:
    return kind == Kind::Window;
  case Way::Insertion:
  case Way::First:
  case Way::Digits:
  case Way::Merge:
    return kind == Kind::Sort;
  case Way::Elements:
  case Way::Tiles:
  case Way::Blocks:
  case Way::Strips:
    return kind == Kind::Map || kind == Kind::Inline;
  }
  llvm_unreachable("all ways are above");
}

LogicalResult StageAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Kind kind, int64_t number, ArrayRef<int64_t>,
                                ArrayRef<int64_t> tile, Memory memory,
                                int64_t parts, int64_t terms, bool fused,
                                Way way) {
  StringRef name = stringifyKind(kind);
  if ((kind == Kind::Inline) != (number < 0))
    return emitError() << "'" << name << "' must have "
                       << (kind == Kind::Inline ? "no number" : "a number");
  bool isInTiles = isOrderOfMap(way) && way != Way::Elements;
  if (!tile.empty() && kind != Kind::Product && kind != Kind::Columns &&
      kind != Kind::Rows && !isOrderOfMap(way))
    return emitError() << "'" << name << "' has no tile"
                       << (kind == Kind::Map || kind == Kind::Inline
                               ? " without a way"
                               : "");
  for (int64_t size : tile)
    if (size < 1)
      return emitError() << "a tile must have sizes of at least 1: has "
                         << size;
  if (parts < 0 || terms < 0)
    return emitError() << "parts and terms must be at least 1";
  if (kind != Kind::Rows &&
      (parts || terms || fused || memory != Memory::Unsaid))
    return emitError() << "'" << name
                       << "' has no memory, parts, terms, and is not fused";
  if (!hasWay(kind, way))
    return emitError() << "'" << name << "' has no way '" << stringifyWay(way)
                       << "'";
  if (isInTiles && tile.empty())
    return emitError() << "way '" << stringifyWay(way) << "' needs a tile";
  return success();
}

LogicalResult GridAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t workgroups, int64_t most,
                               int64_t steps) {
  bool isExact = workgroups >= 1 && most == 0 && steps == 0;
  bool isRule = workgroups == 0 && most >= 1 && steps >= 1;
  if (!isExact && !isRule)
    return emitError() << "a grid must have workgroups, or most and steps, of "
                          "at least 1";
  return success();
}
