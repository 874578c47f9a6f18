#include "dialect/vhlo/import_nodes.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;

namespace alula::vhlo {

Attribute NodeImporter::importAttribute(const Node &node) {
  switch (node.family) {
  case Family::Builtin:
    return importBuiltinAttribute(node);
  case Family::Vhlo:
    return importVhloAttribute(node);
  case Family::Sdy:
    return importSdyAttribute(node);
  case Family::Text:
    return importText(node);
  case Family::Stablehlo:
  case Family::Other:
  case Family::Opaque:
    break;
  }
  diagnostics.error(node.offset)
      << "an attribute of dialect '" << artifact.dialects[node.dialect]
      << "' is encoded in a way that is not part of the portable form";
  return {};
}

Attribute NodeImporter::importText(const Node &node) {
  Attribute result;
  bool good =
      parseText(node, "an attribute", [&](StringRef text, size_t &numRead) {
        return bool(result =
                        parseAttribute(text, context, /*type=*/{}, &numRead));
      });
  return good ? result : Attribute();
}

Attribute NodeImporter::importArray(const Node &node) {
  SmallVector<Attribute> elements;
  for (uint64_t index : Fields(artifact, node).takeList())
    elements.push_back(attribute(index));
  return ArrayAttr::get(context, elements);
}

Attribute NodeImporter::importDictionary(const Node &node) {
  Fields fields(artifact, node);
  SmallVector<NamedAttribute> entries;
  for (uint64_t count = fields.take(); count > 0; --count) {
    auto name = expect<StringAttr>(node, fields.take(), "a name");
    if (!name)
      return {};
    if (name.empty()) {
      error(node) << "a name is empty";
      return {};
    }
    entries.emplace_back(name, attribute(fields.take()));
  }
  if (auto twice = DictionaryAttr::findDuplicate(entries, /*isSorted=*/false)) {
    error(node) << "'" << twice->getName().getValue() << "' stands twice";
    return {};
  }
  return DictionaryAttr::get(context, entries);
}

/// The number in a counted list of 64-bit words.
static APInt takeNumber(std::span<const uint64_t> words, unsigned width) {
  return APInt(width, ArrayRef<uint64_t>(words.data(), words.size()));
}

Attribute NodeImporter::importInteger(const Node &node) {
  Fields fields(artifact, node);
  Type ofType = type(fields.take());
  unsigned width = ofType.isIndex() ? IndexType::kInternalStorageBitWidth : 0;
  if (auto integer = dyn_cast<IntegerType>(ofType))
    width = integer.getWidth();
  if (width == 0) {
    error(node) << "expected an integer type, found " << ofType;
    return {};
  }
  std::span<const uint64_t> words = fields.takeList();
  if (words.size() == 1)
    return IntegerAttr::get(ofType, APInt(64, words[0]).sextOrTrunc(width));
  return IntegerAttr::get(ofType, takeNumber(words, width));
}

Attribute NodeImporter::importFloat(const Node &node) {
  Fields fields(artifact, node);
  Type ofType = type(fields.take());
  auto floatType = dyn_cast<FloatType>(ofType);
  if (!floatType) {
    error(node) << "a float attribute of type " << ofType
                << " can't be held here";
    return {};
  }
  APInt bits = takeNumber(fields.takeList(), floatType.getWidth());
  return FloatAttr::get(floatType,
                        APFloat(floatType.getFloatSemantics(), bits));
}

Attribute NodeImporter::importLocation(const Node &node) {
  Fields fields(artifact, node);
  auto position = [&](uint64_t number) {
    return unsigned(std::min<uint64_t>(number, UINT32_MAX));
  };
  switch (builtin::Attr(node.code)) {
  case builtin::Attr::CallSiteLoc: {
    auto callee = expect<LocationAttr>(node, fields.take(), "a location");
    if (!callee)
      return {};
    auto caller = expect<LocationAttr>(node, fields.take(), "a location");
    if (!caller)
      return {};
    return CallSiteLoc::get(callee, caller);
  }
  case builtin::Attr::FileLineColLoc: {
    auto file = expect<StringAttr>(node, fields.take(), "a file name");
    if (!file)
      return {};
    unsigned line = position(fields.take());
    return FileLineColLoc::get(file, line, position(fields.take()));
  }
  case builtin::Attr::FileLineColRange: {
    // MLIR 19 has no ranges: the start stays.
    auto file = expect<StringAttr>(node, fields.take(), "a file name");
    if (!file)
      return {};
    std::span<const uint64_t> numbers = fields.takeList();
    if (numbers.size() > 4) {
      error(node) << "a range has " << numbers.size() << " numbers";
      return {};
    }
    return FileLineColLoc::get(file, numbers.empty() ? 0 : position(numbers[0]),
                               numbers.size() < 2 ? 0 : position(numbers[1]));
  }
  case builtin::Attr::FusedLoc:
  case builtin::Attr::FusedLocWithMetadata: {
    SmallVector<Location> parts;
    for (uint64_t index : fields.takeList()) {
      auto part = expect<LocationAttr>(node, index, "a location");
      if (!part)
        return {};
      parts.push_back(part);
    }
    Attribute metadata;
    if (builtin::Attr(node.code) == builtin::Attr::FusedLocWithMetadata)
      metadata = attribute(fields.take());
    return FusedLoc::get(parts, metadata, context);
  }
  case builtin::Attr::NameLoc: {
    auto name = expect<StringAttr>(node, fields.take(), "a name");
    if (!name)
      return {};
    auto child = expect<LocationAttr>(node, fields.take(), "a location");
    if (!child)
      return {};
    return NameLoc::get(name, child);
  }
  default:
    return UnknownLoc::get(context);
  }
}

Attribute NodeImporter::importBuiltinAttribute(const Node &node) {
  Fields fields(artifact, node);
  switch (builtin::Attr(node.code)) {
  case builtin::Attr::Array:
    return importArray(node);
  case builtin::Attr::Dictionary:
    return importDictionary(node);
  case builtin::Attr::String:
    return StringAttr::get(context, artifact.strings[size_t(fields.take())]);
  case builtin::Attr::TypedString: {
    std::string_view text = artifact.strings[size_t(fields.take())];
    return StringAttr::get(text, type(fields.take()));
  }
  case builtin::Attr::FlatSymbol: {
    auto name = expect<StringAttr>(node, fields.take(), "a name");
    return name ? FlatSymbolRefAttr::get(name) : Attribute();
  }
  case builtin::Attr::Symbol: {
    auto root = expect<StringAttr>(node, fields.take(), "a name");
    if (!root)
      return {};
    SmallVector<FlatSymbolRefAttr> nested;
    for (uint64_t index : fields.takeList()) {
      auto symbol = expect<FlatSymbolRefAttr>(node, index, "a symbol");
      if (!symbol)
        return {};
      nested.push_back(symbol);
    }
    return SymbolRefAttr::get(root, nested);
  }
  case builtin::Attr::Type:
    return TypeAttr::get(type(fields.take()));
  case builtin::Attr::Unit:
    return UnitAttr::get(context);
  case builtin::Attr::Integer:
    return importInteger(node);
  case builtin::Attr::Float:
    return importFloat(node);
  case builtin::Attr::CallSiteLoc:
  case builtin::Attr::FileLineColLoc:
  case builtin::Attr::FusedLoc:
  case builtin::Attr::FusedLocWithMetadata:
  case builtin::Attr::NameLoc:
  case builtin::Attr::UnknownLoc:
  case builtin::Attr::FileLineColRange:
    return importLocation(node);
  case builtin::Attr::DenseArray:
    return importDenseArray(node);
  case builtin::Attr::DenseElements:
    return importElements(node);
  case builtin::Attr::DenseStrings:
    return importDenseStrings(node);
  }
  return {};
}

/// Enumerations have the same numbers in the portable form and in StableHLO.
Attribute NodeImporter::importEnum(const Node &node) {
  uint64_t word = artifact.wordsOf(node)[0];
  uint32_t number = uint32_t(std::min<uint64_t>(word, UINT32_MAX));
  auto make = [&](auto value, auto attrTag) -> Attribute {
    if (value)
      return decltype(attrTag)::get(context, *value);
    error(node) << "unknown value " << word;
    return {};
  };
  namespace shlo = mlir::stablehlo;
  switch (AttrCode(node.code)) {
  case AttrCode::ComparisonDirection:
    return make(shlo::symbolizeComparisonDirection(number),
                shlo::ComparisonDirectionAttr());
  case AttrCode::ComparisonType:
    return make(shlo::symbolizeComparisonType(number),
                shlo::ComparisonTypeAttr());
  case AttrCode::FftType:
    return make(shlo::symbolizeFftType(number), shlo::FftTypeAttr());
  case AttrCode::Precision:
    return make(shlo::symbolizePrecision(number), shlo::PrecisionAttr());
  case AttrCode::RngAlgorithm:
    return make(shlo::symbolizeRngAlgorithm(number), shlo::RngAlgorithmAttr());
  case AttrCode::RngDistribution:
    return make(shlo::symbolizeRngDistribution(number),
                shlo::RngDistributionAttr());
  case AttrCode::Transpose:
    return make(shlo::symbolizeTranspose(number), shlo::TransposeAttr());
  case AttrCode::ResultAccuracyMode:
    return make(shlo::symbolizeResultAccuracyMode(number),
                shlo::ResultAccuracyModeAttr());
  default:
    break;
  }
  // The API version of a custom call is a plain integer.
  if (!shlo::symbolizeCustomCallApiVersion(number)) {
    error(node) << "unknown value " << word;
    return {};
  }
  return IntegerAttr::get(IntegerType::get(context, 32), number);
}

Attribute NodeImporter::importResultAccuracy(const Node &node) {
  Fields fields(artifact, node);
  double atol = llvm::bit_cast<double>(fields.take());
  double rtol = llvm::bit_cast<double>(fields.take());
  int64_t ulps = fields.takeSigned();
  auto mode = expect<stablehlo::ResultAccuracyModeAttr>(
      node, fields.take(), "a result accuracy mode");
  if (!mode)
    return {};
  return stablehlo::ResultAccuracyAttr::getChecked([&] { return error(node); },
                                                   context, APFloat(atol),
                                                   APFloat(rtol), ulps, mode);
}

Attribute NodeImporter::importMeshAttribute(const Node &node) {
  namespace shlo = mlir::stablehlo;
  Fields fields(artifact, node);
  switch (AttrCode(node.code)) {
  case AttrCode::SubAxisInfo: {
    int64_t preSize = fields.takeSigned();
    return shlo::SubAxisInfoAttr::get(context, preSize, fields.takeSigned());
  }
  case AttrCode::AxisRef: {
    auto name = expect<StringAttr>(node, fields.take(), "a name");
    if (!name)
      return {};
    shlo::SubAxisInfoAttr part;
    if (fields.take() && !(part = expect<shlo::SubAxisInfoAttr>(
                               node, fields.take(), "a part of an axis")))
      return {};
    return shlo::AxisRefAttr::get(context, name.getValue(), part);
  }
  case AttrCode::MeshAxis: {
    auto name = expect<StringAttr>(node, fields.take(), "a name");
    if (!name)
      return {};
    return shlo::MeshAxisAttr::get(context, name.getValue(),
                                   fields.takeSigned());
  }
  case AttrCode::Mesh: {
    auto array = expect<ArrayAttr>(node, fields.take(), "an array of axes");
    if (!array)
      return {};
    SmallVector<shlo::MeshAxisAttr> axes;
    for (Attribute element : array) {
      auto axis = dyn_cast<shlo::MeshAxisAttr>(element);
      if (!axis) {
        error(node) << "expected a mesh axis, found " << element;
        return {};
      }
      axes.push_back(axis);
    }
    DenseIntElementsAttr devices;
    if (fields.take() && !(devices = expect<DenseIntElementsAttr>(
                               node, fields.take(), "device numbers")))
      return {};
    return shlo::MeshAttr::get(context, axes, devices);
  }
  default:
    break;
  }
  Attribute mesh = attribute(fields.take());
  if (auto name = dyn_cast<StringAttr>(mesh))
    mesh = FlatSymbolRefAttr::get(name);
  auto axes = expect<ArrayAttr>(node, fields.take(), "an array of axes");
  if (!axes)
    return {};
  return shlo::ReplicaGroupMeshAxesAttr::getChecked([&] { return error(node); },
                                                    context, mesh, axes);
}

Attribute NodeImporter::importVhloAttribute(const Node &node) {
  Fields fields(artifact, node);
  auto numbers = [&] {
    SmallVector<int64_t> result;
    for (uint64_t word : fields.takeList())
      result.push_back(int64_t(word));
    return result;
  };
  switch (AttrCode(node.code)) {
  case AttrCode::Array:
    return importArray(node);
  case AttrCode::Boolean: {
    uint64_t value = fields.take();
    if (value > 1) {
      error(node) << "unknown value " << value;
      return {};
    }
    return BoolAttr::get(context, value != 0);
  }
  case AttrCode::Dictionary:
    return importDictionary(node);
  case AttrCode::Float:
    return importFloat(node);
  case AttrCode::Integer:
    return importInteger(node);
  case AttrCode::OutputOperandAlias: {
    SmallVector<int64_t> outputs = numbers();
    int64_t operand = fields.takeSigned();
    return stablehlo::OutputOperandAliasAttr::get(context, outputs, operand,
                                                  numbers());
  }
  case AttrCode::String:
    return StringAttr::get(context, artifact.strings[size_t(fields.take())]);
  case AttrCode::Tensor:
    return importElements(node);
  case AttrCode::Type:
    return TypeAttr::get(type(fields.take()));
  case AttrCode::TypeExtensions:
    return stablehlo::TypeExtensionsAttr::get(context, numbers());
  case AttrCode::ResultAccuracy:
    return importResultAccuracy(node);
  case AttrCode::SubAxisInfo:
  case AttrCode::AxisRef:
  case AttrCode::ReplicaGroupMeshAxes:
  case AttrCode::MeshAxis:
  case AttrCode::Mesh:
    return importMeshAttribute(node);
  case AttrCode::ComparisonDirection:
  case AttrCode::ComparisonType:
  case AttrCode::CustomCallApiVersion:
  case AttrCode::FftType:
  case AttrCode::Precision:
  case AttrCode::RngAlgorithm:
  case AttrCode::RngDistribution:
  case AttrCode::Transpose:
  case AttrCode::ResultAccuracyMode:
    return importEnum(node);
  }
  return {};
}

} // namespace alula::vhlo
