// The dispatch dialect: registration and verifiers.

#include "dialect/dispatch/ops.h"

#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/collectives.h"
#include "dialect/stablehlo/access.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::dispatch;

#include "dialect/dispatch/dialect.cpp.inc"
#include "dialect/dispatch/enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/dispatch/attributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/dispatch/types.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/dispatch/ops.cpp.inc"

namespace {
/// The ops that stand among those of the language.
const stablehlo::AccessInterface::Table &getAccessTable() {
  using stablehlo::Access;
  using stablehlo::AccessTableBuilder;
  static const stablehlo::AccessInterface::Table table = [] {
    AccessTableBuilder builder;
    builder.add<PackOp>({AccessTableBuilder::rest(Access::Sizes)});
    builder.add<FromPanelsOp>({{Access::Moved}});
    return builder.take();
  }();
  return table;
}
} // namespace

void DispatchDialect::initialize() {
  addInterface<stablehlo::AccessInterface>(getAccessTable());
  addOperations<
#define GET_OP_LIST
#include "dialect/dispatch/ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/dispatch/collectives.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/dispatch/attributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/dispatch/types.cpp.inc"
      >();
}

ModuleOp ExecutableOp::getInnerModule() {
  auto modules = getBody().getOps<ModuleOp>();
  return modules.empty() ? ModuleOp() : *modules.begin();
}

StringRef ObjectAttr::getFileName() const {
  StringRef path = getPath() ? getPath().getValue() : "";
  return path.empty() ? "inline" : path.substr(path.rfind('/') + 1);
}

bool ExecutableOp::isExternal() {
  if (!getObjects() || getObjects()->empty())
    return false;
  ModuleOp bodies = getInnerModule();
  return llvm::none_of(getBody().getOps<EntryOp>(), [&](EntryOp entry) {
    return bodies && bodies.lookupSymbol(entry.getSymNameAttr());
  });
}

LogicalResult ExecutableOp::verify() {
  auto modules = getBody().getOps<ModuleOp>();
  auto count = std::distance(modules.begin(), modules.end());
  if (count == 0 && getObjects() && !getObjects()->empty())
    return success();
  if (count != 1)
    return emitError() << "'dispatch.executable': must hold one module: @"
                       << getSymName() << " holds " << count;
  return success();
}

LogicalResult EntryOp::verify() {
  if (getWorkgroups().size() != 3)
    return emitError() << "'dispatch.entry': grid must have three sizes: has "
                       << getWorkgroups().size();
  for (int64_t size : getWorkgroups())
    if (size < 1 || size > UINT32_MAX)
      return emitError() << "'dispatch.entry': grid size must be from 1 to "
                         << UINT32_MAX << ": is " << size;
  if (getScratchBytes() > INT64_MAX)
    return emitError() << "'dispatch.entry': scratch size must not be negative";
  if (getConstantCount() > UINT32_MAX)
    return emitError() << "'dispatch.entry': number of constants must be from "
                          "0 to "
                       << UINT32_MAX << ": is "
                       << static_cast<int64_t>(getConstantCount());
  return success();
}

std::optional<unsigned> LaunchOp::getInPlaceInput(unsigned result) {
  if (!getInPlace() || (*getInPlace())[result] < 0)
    return std::nullopt;
  return static_cast<unsigned>((*getInPlace())[result]);
}

/// One size for each dynamic dimension of `types`.
static LogicalResult verifyDims(Operation *op, TypeRange types, size_t given) {
  int64_t needed = 0;
  for (Type type : types)
    needed += cast<RankedTensorType>(type).getNumDynamicDims();
  if (static_cast<size_t>(needed) != given)
    return op->emitError() << "'" << op->getName().getStringRef()
                           << "': each dynamic dimension of the results needs "
                              "a size: there are "
                           << needed << ", " << given << " are given";
  return success();
}

LogicalResult LaunchOp::verify() {
  if (!getWorkgroups().empty() && getWorkgroups().size() != 3)
    return emitError() << "'dispatch.launch': grid must have three sizes: has "
                       << getWorkgroups().size();
  if (failed(verifyDims(*this, getResultTypes(), getResultDims().size())))
    return failure();
  if (!getInPlace())
    return success();
  ArrayRef<int64_t> inPlace = *getInPlace();
  if (inPlace.size() != getNumResults())
    return emitError() << "'dispatch.launch': in_place must have a number for "
                          "each result: has "
                       << inPlace.size() << ", there are " << getNumResults();
  llvm::SmallDenseSet<int64_t> taken;
  for (int64_t input : inPlace) {
    if (input < -1 || input >= static_cast<int64_t>(getInputs().size()))
      return emitError() << "'dispatch.launch': in_place must name an input or "
                            "be -1: is "
                         << input << ", there are " << getInputs().size();
    if (input >= 0 && !taken.insert(input).second)
      return emitError() << "'dispatch.launch': one result may take the place "
                            "of an input: two take that of "
                         << input;
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto entry = symbolTable.lookupNearestSymbolFrom<EntryOp>(getOperation(),
                                                            getEntryAttr());
  if (!entry)
    return emitError() << "'dispatch.launch': no such entry: " << getEntry();
  size_t bindings = entry.getBindings().size();
  size_t written = getNumResults();
  for (unsigned result = 0; result < getNumResults(); ++result) {
    std::optional<unsigned> input = getInPlaceInput(result);
    if (!input)
      continue;
    --written;
    if (*input < bindings &&
        cast<AccessAttr>(entry.getBindings()[*input]).getValue() !=
            Access::ReadWrite)
      return emitError() << "'dispatch.launch': result " << result
                         << " takes the place of input " << *input
                         << ": access of binding " << *input << " of "
                         << getEntry() << " must be read_write";
  }
  if (bindings != getInputs().size() + written)
    return emitError() << "'dispatch.launch': inputs and results must be the "
                          "entry's bindings: "
                       << getInputs().size() << " and " << written << ", "
                       << getEntry() << " has " << bindings;
  if (entry.getConstantCount() != getConstants().size())
    return emitError() << "'dispatch.launch': constants must be as many as the "
                          "entry has: "
                       << getConstants().size() << ", " << getEntry() << " has "
                       << entry.getConstantCount();
  return success();
}

LogicalResult ViewOp::verify() {
  if (failed(verifyDims(*this, getResult().getType(), getResultDims().size())))
    return failure();
  std::optional<int64_t> from = getByteSize(getSource().getType());
  std::optional<int64_t> to = getByteSize(getResult().getType());
  if (from && to && *from != *to)
    return emitError() << "'dispatch.view': bytes must stay: " << *from
                       << " become " << *to;
  return success();
}

LogicalResult FromPanelsOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  auto panels = cast<RankedTensorType>(getPanels().getType());
  // Each dimension counts either rows or columns.
  SmallVector<bool> seen(static_cast<size_t>(type.getRank()));
  auto count = [&](ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims) {
      if (dim < 0 || dim >= type.getRank() || seen[static_cast<size_t>(dim)])
        return int64_t(-1);
      seen[static_cast<size_t>(dim)] = true;
      size *= type.getDimSize(static_cast<unsigned>(dim));
    }
    return size;
  };
  int64_t rows = count(getRows()), columns = count(getColumns());
  if (rows < 0 || columns < 0 || llvm::is_contained(seen, false))
    return emitError() << "'dispatch.from_panels': rows and columns must name "
                          "each dimension once: ["
                       << getRows() << "] and [" << getColumns() << "] of "
                       << type;
  ArrayRef<int64_t> shape = panels.getShape();
  int64_t group = shape.size() == 4 ? shape[3] : 1;
  Type element = type.getElementType();
  auto isFewBits = [&](unsigned width) {
    return panels.getElementType().isInteger(width) && element.isInteger(width);
  };
  bool isAlike =
      panels.getElementType() == element || isFewBits(4) || isFewBits(8);
  if (shape.size() < 3 || shape.size() > 4 || shape[2] == 0 || group == 0 ||
      shape[1] != (rows + group - 1) / group ||
      shape[0] != (columns + shape[2] - 1) / shape[2] || !isAlike)
    return emitError() << "'dispatch.from_panels': panels must hold the result's "
                       << rows << " rows of " << columns
                       << " columns: " << panels << " for " << type;
  return success();
}

LogicalResult PackOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (!type.getElementType().isInteger() ||
      type.getNumElements() != static_cast<int64_t>(getNumbers().size()))
    return emitError() << "'dispatch.pack': each integer of the result needs a "
                          "number: "
                       << getNumbers().size() << " for " << type;
  return success();
}
