// Verifiers and effects of custom_call and composite.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

namespace {
LogicalResult verifyLayout(const RuleSite &site, StringRef what, size_t index,
                           Type type, DenseIntElementsAttr layout) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (isa<TupleType>(type))
    return site.fail("layouts must not be given for tuples: ", what, " ", index,
                     " is ", type);
  if (!shaped) {
    if (layout.empty())
      return success();
    return site.fail("layout of what is no tensor must be empty: ", what, " ",
                     index, " is ", type, ", layout is ", layout);
  }
  if (!shaped.hasRank())
    return success();
  int64_t rank = shaped.getRank();
  if (layout.getNumElements() == rank) {
    SmallVector<int64_t> dims;
    for (const APInt &dim : layout.getValues<APInt>())
      dims.push_back(dim.getSExtValue());
    llvm::sort(dims);
    if (llvm::equal(dims, llvm::seq<int64_t>(0, rank)))
      return success();
  }
  return site.fail("layout must be a permutation of [0, ", rank, "): ", what,
                   " ", index, " is ", type, ", layout is ", layout);
}

LogicalResult verifyLayouts(const RuleSite &site, StringRef what,
                            TypeRange types, ArrayAttr layouts) {
  if (types.size() != layouts.size())
    return site.fail("number of ", what, " layouts must be that of ", what,
                     "s: ", types.size(), " ", what, "s, ", layouts.size(),
                     " layouts");
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(types, layouts))) {
    auto [type, layout] = pair;
    if (failed(verifyLayout(site, what, index, type,
                            cast<DenseIntElementsAttr>(layout))))
      return failure();
  }
  return success();
}

/// What results are counted as: a single tuple is its elements.
SmallVector<Type> flattenSingleTuple(TypeRange types) {
  if (types.size() == 1)
    if (auto tuple = dyn_cast<TupleType>(types.front()))
      return SmallVector<Type>(tuple.getTypes());
  return SmallVector<Type>(types);
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

/// A part of a value: the value's number, then indices into nested tuples.
using PartPath = SmallVector<int64_t>;

/// The type of a part, null if the indices lead nowhere.
Type partType(Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size()))
      return {};
    type = tuple.getType(static_cast<size_t>(index));
  }
  return type;
}

/// The part of the results that an alias names. Several results are indexed
/// like the elements of a tuple.
Type outputPartType(TypeRange results, ArrayRef<int64_t> indices) {
  if (results.size() == 1)
    return partType(results.front(), indices);
  if (indices.empty() || indices.front() < 0 ||
      indices.front() >= static_cast<int64_t>(results.size()))
    return {};
  return partType(results[static_cast<size_t>(indices.front())],
                  indices.drop_front());
}

/// Calls `visit` with the path of each buffer in `type`.
void forEachBuffer(Type type, PartPath &path,
                   function_ref<void(const PartPath &)> visit) {
  if (isa<MemRefType>(type))
    return visit(path);
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple)
    return;
  for (auto [index, element] : llvm::enumerate(tuple.getTypes())) {
    path.push_back(static_cast<int64_t>(index));
    forEachBuffer(element, path, visit);
    path.pop_back();
  }
}

/// A buffer that goes in is handed on at most once, one that comes out is one
/// that came in.
LogicalResult verifyAliases(const RuleSite &site, TypeRange operands,
                            TypeRange results, ArrayAttr aliases) {
  std::set<PartPath> usedOperands, usedOutputs;
  for (auto alias : aliases.getAsRange<OutputOperandAliasAttr>()) {
    int64_t operandIndex = alias.getOperandIndex();
    if (failed(verifyInRange(site, "operand_index", operandIndex,
                             static_cast<int64_t>(operands.size()))))
      return failure();
    Type output = outputPartType(results, alias.getOutputTupleIndices());
    if (!output)
      return site.fail("output_tuple_indices must name a part of the results: ",
                       alias, " does not");
    Type operand = partType(operands[static_cast<size_t>(operandIndex)],
                            alias.getOperandTupleIndices());
    if (!operand)
      return site.fail("operand_tuple_indices must name a part of the operand: "
                       "",
                       alias, " does not");
    if (!areCompatibleTypes(operand, output))
      return site.fail("aliased parts must have one type: operand part is ",
                       operand, ", output part is ", output);
    if (!isa<MemRefType>(output))
      continue;
    PartPath operandPath = {operandIndex};
    llvm::append_range(operandPath, alias.getOperandTupleIndices());
    if (!usedOperands.insert(operandPath).second)
      return site.fail("buffer operand must be in one alias: operand ",
                       operandIndex, " part ",
                       shapeText(alias.getOperandTupleIndices()),
                       " is in two");
    if (!usedOutputs.insert(PartPath(alias.getOutputTupleIndices())).second)
      return site.fail("buffer output must be in one alias: part ",
                       shapeText(alias.getOutputTupleIndices()), " is in two");
  }

  LogicalResult outcome = success();
  auto visit = [&](const PartPath &path) {
    if (succeeded(outcome) && !usedOutputs.count(path))
      outcome = site.fail("buffer output must be in one alias: part ",
                          shapeText(path), " is in none");
  };
  PartPath path;
  for (auto [index, type] : llvm::enumerate(results)) {
    if (results.size() != 1)
      path.assign(1, static_cast<int64_t>(index));
    forEachBuffer(type, path, visit);
  }
  return outcome;
}

//===----------------------------------------------------------------------===//
// Calls that make and free buffers
//===----------------------------------------------------------------------===//

enum class BufferCall { None, Create, Pin, Unpin };

BufferCall readBufferCall(StringRef target) {
  return llvm::StringSwitch<BufferCall>(target)
      .Case("CreateBuffer", BufferCall::Create)
      .Case("Pin", BufferCall::Pin)
      .Case("Unpin", BufferCall::Unpin)
      .Default(BufferCall::None);
}

bool isSameContent(Type tensor, Type buffer) {
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  auto memref = dyn_cast<MemRefType>(buffer);
  return ranked && memref && ranked.getShape() == memref.getShape() &&
         ranked.getElementType() == memref.getElementType();
}

LogicalResult verifyBufferCall(const RuleSite &site, StringRef target,
                               BufferCall kind, TypeRange operands,
                               TypeRange results) {
  if (results.size() != 1)
    return site.fail(target, " must have one result: has ", results.size());
  if (kind == BufferCall::Create) {
    if (!operands.empty())
      return site.fail(target, " must have no operands: has ", operands.size());
    if (!isa<MemRefType>(results.front()))
      return site.fail(target, " must return a buffer: returns ",
                       results.front());
    return success();
  }
  if (operands.size() != 1)
    return site.fail(target, " must have one operand: has ", operands.size());
  Type tensor = kind == BufferCall::Pin ? operands.front() : results.front();
  Type buffer = kind == BufferCall::Pin ? results.front() : operands.front();
  if (isSameContent(tensor, buffer))
    return success();
  return site.fail(target,
                   kind == BufferCall::Pin
                       ? " must turn a tensor into a buffer of its type: "
                       : " must turn a buffer into a tensor of its type: ",
                   operands.front(), " to ", results.front());
}

bool hasBuffer(TypeRange types) {
  bool found = false;
  PartPath path;
  for (Type type : types)
    forEachBuffer(type, path, [&](const PartPath &) { found = true; });
  return found;
}

/// One list of tiles for each result; each tile has sizes that are positive.
LogicalResult verifyTilings(const RuleSite &site, ArrayAttr tilings,
                            size_t numResults) {
  // An empty list says nothing about any result.
  if (!tilings.empty() && tilings.size() != numResults)
    return site.fail("number of result_tilings must be that of results: ",
                     numResults, " results, ", tilings.size(), " tilings");
  for (auto tiles : tilings.getAsRange<ArrayAttr>())
    for (auto tile : tiles.getAsRange<DenseIntElementsAttr>()) {
      // A splat may stand for more entries than one can count.
      bool positive = tile.isSplat()
                          ? tile.getSplatValue<APInt>().isStrictlyPositive()
                          : llvm::all_of(tile.getValues<APInt>(),
                                         [](const APInt &size) {
                                           return size.isStrictlyPositive();
                                         });
      if (!positive)
        return site.fail("sizes of a tile must be positive: tile is ", tile);
    }
  return success();
}
} // namespace

LogicalResult CustomCallOp::verify() {
  RuleSite site(*this);
  TypeRange operands = getOperandTypes(), results = getResultTypes();
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return site.fail("layouts must be given for both operands and results or "
                     "for none: are only for the ",
                     getOperandLayouts() ? "operands" : "results");
  if (getOperandLayouts() &&
      (failed(
           verifyLayouts(site, "operand", operands, *getOperandLayouts())) ||
       failed(verifyLayouts(site, "result", flattenSingleTuple(results),
                            *getResultLayouts()))))
    return failure();
  if (getResultTilings() &&
      failed(verifyTilings(site, *getResultTilings(),
                           flattenSingleTuple(results).size())))
    return failure();

  if (Attribute config = getBackendConfigAttr()) {
    bool isTyped =
        getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI;
    if (isTyped != isa<DictionaryAttr>(config))
      return site.fail("backend_config must be a ",
                       isTyped ? "dictionary" : "string", " for ",
                       stringifyCustomCallApiVersion(getApiVersion()), ": is ",
                       config);
  }

  BufferCall kind = readBufferCall(getCallTargetName());
  if (kind != BufferCall::None &&
      failed(verifyBufferCall(site, getCallTargetName(), kind, operands,
                              results)))
    return failure();
  if (kind != BufferCall::None && getOutputOperandAliases().empty())
    return success();
  return verifyAliases(site, operands, results, getOutputOperandAliases());
}

void CustomCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // A call about buffers is never merged with an equal one nor removed: the
  // buffer is a place, not a value.
  if (!getHasSideEffect() && !hasBuffer(getOperandTypes()) &&
      !hasBuffer(getResultTypes()))
    return;
  effects.emplace_back(MemoryEffects::Allocate::get());
  effects.emplace_back(MemoryEffects::Free::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

//===----------------------------------------------------------------------===//
// composite
//===----------------------------------------------------------------------===//

namespace {
/// `[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+`
bool isNamespacedOpName(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  StringRef first = parts.front();
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (parts.size() < 2 || first.empty() || !llvm::isAlpha(first.front()) ||
      !llvm::all_of(first, isWord))
    return false;
  return llvm::all_of(ArrayRef(parts).drop_front(), [&](StringRef part) {
    return !part.empty() && llvm::all_of(part, [&](char c) {
      return isWord(c) || c == '$';
    });
  });
}

LogicalResult verifyTypes(const RuleSite &site, StringRef what, TypeRange own,
                          TypeRange declared) {
  if (own.size() != declared.size())
    return site.fail("number of ", what, "s must be that of the decomposition: "
                     "",
                     own.size(), " and ", declared.size());
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(own, declared))) {
    auto [type, expected] = pair;
    if (type != expected)
      return site.fail("types of ", what,
                       "s must be those of the decomposition: ", what, " ",
                       index, " is ", type, ", decomposition has ", expected);
  }
  return success();
}
} // namespace

LogicalResult
CompositeOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  RuleSite site(*this);
  if (!isNamespacedOpName(getName()))
    return site.fail("name must be a namespaced op name: is \"", getName(),
                     "\"");
  auto decomposition = symbolTables.lookupNearestSymbolFrom<func::FuncOp>(
      *this, getDecompositionAttr());
  if (!decomposition)
    return site.fail("decomposition must be a function: ",
                     getDecompositionAttr(), " is not");
  FunctionType type = decomposition.getFunctionType();
  if (failed(verifyTypes(site, "operand", getOperandTypes(), type.getInputs())))
    return failure();
  return verifyTypes(site, "result", getResultTypes(), type.getResults());
}
