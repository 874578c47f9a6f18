#include "dialect/vhlo/export_nodes.h"

#include "dialect/newer/attributes.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace alula::vhlo {

static std::string describe(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

uint32_t NodeExporter::portableAttribute(Attribute attribute) {
  auto known = portableAttributes.find(attribute);
  if (known != portableAttributes.end())
    return known->second;
  uint32_t index = makePortableAttribute(attribute);
  portableAttributes[attribute] = index;
  return index;
}

uint32_t NodeExporter::builtinAttribute(Attribute attribute) {
  auto known = builtinAttributes.find(attribute);
  if (known != builtinAttributes.end())
    return known->second;
  uint32_t index = makeBuiltinAttribute(attribute);
  builtinAttributes[attribute] = index;
  return index;
}

uint32_t NodeExporter::apiVersion(Attribute attribute) {
  auto known = apiVersions.find(attribute);
  if (known != apiVersions.end())
    return known->second;
  uint32_t index = addNode(Family::Vhlo, /*isType=*/false,
                           uint16_t(AttrCode::CustomCallApiVersion),
                           {uint64_t(cast<IntegerAttr>(attribute).getInt())});
  apiVersions[attribute] = index;
  return index;
}

uint32_t
NodeExporter::dictionary(ArrayRef<std::pair<StringAttr, uint32_t>> entries) {
  Words words = {entries.size()};
  for (auto [name, value] : entries) {
    words.push_back(builtinAttribute(name));
    words.push_back(value);
  }
  auto [place, isNew] = dictionaries.try_emplace(
      std::vector<uint64_t>(words.begin(), words.end()), none);
  if (isNew)
    place->second = addNode(Family::Builtin, /*isType=*/false,
                            uint16_t(builtin::Attr::Dictionary), words);
  return place->second;
}

uint32_t NodeExporter::makePortableElements(Type type, ArrayRef<char> data) {
  Words words;
  if (!addType(type, words, /*isPortable=*/true) || !addBytes(data, words))
    return none;
  return addNode(Family::Vhlo, /*isType=*/false, uint16_t(AttrCode::Tensor),
                 words);
}

uint32_t NodeExporter::makePortableAttribute(Attribute attribute) {
  constexpr bool portable = true;
  Words words;
  auto add = [&](AttrCode code) {
    return addNode(Family::Vhlo, /*isType=*/false, uint16_t(code), words);
  };
  if (attribute.getDialect().getNamespace() == "stablehlo")
    return makeStablehloAttribute(attribute);
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return addAttributes(array.getValue(), words, portable)
               ? add(AttrCode::Array)
               : none;
  if (auto elements = dyn_cast<DenseIntOrFPElementsAttr>(attribute))
    return makePortableElements(elements.getType(), elements.getRawData());
  if (auto bridged = dyn_cast<newer::DenseBridgedAttr>(attribute)) {
    ArrayRef<uint8_t> codes = bridged.getRawCodes();
    return makePortableElements(
        bridged.getType(),
        {reinterpret_cast<const char *>(codes.data()), codes.size()});
  }
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    auto type = RankedTensorType::get(
        {list.size()}, IntegerType::get(attribute.getContext(), 64));
    return portableAttribute(DenseElementsAttr::get(type, list.asArrayRef()));
  }
  if (auto list = dyn_cast<DenseBoolArrayAttr>(attribute)) {
    auto type = RankedTensorType::get(
        {list.size()}, IntegerType::get(attribute.getContext(), 1));
    return portableAttribute(DenseElementsAttr::get(type, list.asArrayRef()));
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    words.push_back(dictionary.size());
    for (NamedAttribute entry : dictionary)
      if (!addAttribute(entry.getName(), words, portable) ||
          !addAttribute(entry.getValue(), words, portable))
        return none;
    return add(AttrCode::Dictionary);
  }
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    if (!addType(number.getType(), words, portable))
      return none;
    addNumber(number.getValue().bitcastToAPInt(), words);
    return add(AttrCode::Float);
  }
  if (auto flag = dyn_cast<BoolAttr>(attribute)) {
    words.push_back(flag.getValue());
    return add(AttrCode::Boolean);
  }
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    if (!addType(number.getType(), words, portable))
      return none;
    addNumber(number.getValue(), words);
    return add(AttrCode::Integer);
  }
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute))
    return portableAttribute(symbol.getAttr());
  if (auto text = dyn_cast<StringAttr>(attribute);
      text && isa<NoneType>(text.getType())) {
    words.push_back(string(text.getValue()));
    return add(AttrCode::String);
  }
  if (auto type = dyn_cast<TypeAttr>(attribute))
    return addType(type.getValue(), words, portable) ? add(AttrCode::Type)
                                                     : none;
  if (allowOtherDialects)
    return builtinAttribute(attribute);
  return fail("attribute " + describe(attribute).substr(0, 200) +
              " has no portable form");
}

uint32_t NodeExporter::makeStablehloAttribute(Attribute attribute) {
  namespace shlo = mlir::stablehlo;
  constexpr bool portable = true;
  MLIRContext *context = attribute.getContext();
  Words words;
  auto add = [&](AttrCode code) {
    return addNode(Family::Vhlo, /*isType=*/false, uint16_t(code), words);
  };
  auto name = [&](StringRef text) {
    return addAttribute(StringAttr::get(context, text), words, portable);
  };
  auto enumeration = [&](auto value, AttrCode code) {
    words.push_back(uint64_t(value.getValue()));
    return add(code);
  };
  return llvm::TypeSwitch<Attribute, uint32_t>(attribute)
      .Case([&](shlo::ComparisonDirectionAttr value) {
        return enumeration(value, AttrCode::ComparisonDirection);
      })
      .Case([&](shlo::ComparisonTypeAttr value) {
        return enumeration(value, AttrCode::ComparisonType);
      })
      .Case([&](shlo::FftTypeAttr value) {
        return enumeration(value, AttrCode::FftType);
      })
      .Case([&](shlo::PrecisionAttr value) {
        return enumeration(value, AttrCode::Precision);
      })
      .Case([&](shlo::RngAlgorithmAttr value) {
        return enumeration(value, AttrCode::RngAlgorithm);
      })
      .Case([&](shlo::RngDistributionAttr value) {
        return enumeration(value, AttrCode::RngDistribution);
      })
      .Case([&](shlo::TransposeAttr value) {
        return enumeration(value, AttrCode::Transpose);
      })
      .Case([&](shlo::ResultAccuracyModeAttr value) {
        return enumeration(value, AttrCode::ResultAccuracyMode);
      })
      .Case([&](shlo::ResultAccuracyAttr value) {
        words.push_back(value.getAtol().bitcastToAPInt().getZExtValue());
        words.push_back(value.getRtol().bitcastToAPInt().getZExtValue());
        words.push_back(uint64_t(value.getUlps()));
        return addAttribute(value.getMode(), words, portable)
                   ? add(AttrCode::ResultAccuracy)
                   : none;
      })
      .Case([&](shlo::TypeExtensionsAttr value) {
        addNumbers(value.getBounds(), words);
        return add(AttrCode::TypeExtensions);
      })
      .Case([&](shlo::OutputOperandAliasAttr value) {
        addNumbers(value.getOutputTupleIndices(), words);
        words.push_back(uint64_t(value.getOperandIndex()));
        addNumbers(value.getOperandTupleIndices(), words);
        return add(AttrCode::OutputOperandAlias);
      })
      .Case([&](shlo::SubAxisInfoAttr value) {
        words.push_back(uint64_t(value.getPreSize()));
        words.push_back(uint64_t(value.getSize()));
        return add(AttrCode::SubAxisInfo);
      })
      .Case([&](shlo::AxisRefAttr value) {
        if (!name(value.getName()))
          return none;
        words.push_back(bool(value.getSubAxisInfo()));
        if (value.getSubAxisInfo() &&
            !addAttribute(value.getSubAxisInfo(), words, portable))
          return none;
        return add(AttrCode::AxisRef);
      })
      .Case([&](shlo::MeshAxisAttr value) {
        if (!name(value.getName()))
          return none;
        words.push_back(uint64_t(value.getSize()));
        return add(AttrCode::MeshAxis);
      })
      .Case([&](shlo::MeshAttr value) {
        SmallVector<Attribute> axes(value.getAxes().begin(),
                                    value.getAxes().end());
        if (!addAttribute(ArrayAttr::get(context, axes), words, portable))
          return none;
        words.push_back(bool(value.getDeviceIds()));
        if (value.getDeviceIds() &&
            !addAttribute(value.getDeviceIds(), words, portable))
          return none;
        return add(AttrCode::Mesh);
      })
      .Case([&](shlo::ReplicaGroupMeshAxesAttr value) {
        return addAttribute(value.getMesh(), words, portable) &&
                       addAttribute(value.getAxes(), words, portable)
                   ? add(AttrCode::ReplicaGroupMeshAxes)
                   : none;
      })
      .Default([&](Attribute) {
        return fail("attribute " + describe(attribute).substr(0, 200) +
                    " has no portable form");
      });
}

uint32_t NodeExporter::makeLocation(LocationAttr location) {
  constexpr bool portable = false;
  Words words;
  auto add = [&](builtin::Attr code) {
    return addNode(Family::Builtin, /*isType=*/false, uint16_t(code), words);
  };
  if (auto site = dyn_cast<CallSiteLoc>(location)) {
    addAttribute(LocationAttr(site.getCallee()), words, portable);
    addAttribute(LocationAttr(site.getCaller()), words, portable);
    return add(builtin::Attr::CallSiteLoc);
  }
  if (auto place = dyn_cast<FileLineColLoc>(location)) {
    addAttribute(place.getFilename(), words, portable);
    words.push_back(place.getLine());
    words.push_back(place.getColumn());
    return add(builtin::Attr::FileLineColLoc);
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    words.push_back(fused.getLocations().size());
    for (Location part : fused.getLocations())
      addAttribute(LocationAttr(part), words, portable);
    if (!fused.getMetadata())
      return add(builtin::Attr::FusedLoc);
    addAttribute(fused.getMetadata(), words, portable);
    return add(builtin::Attr::FusedLocWithMetadata);
  }
  if (auto named = dyn_cast<NameLoc>(location)) {
    addAttribute(named.getName(), words, portable);
    addAttribute(LocationAttr(named.getChildLoc()), words, portable);
    return add(builtin::Attr::NameLoc);
  }
  if (auto opaque = dyn_cast<OpaqueLoc>(location))
    return builtinAttribute(LocationAttr(opaque.getFallbackLocation()));
  return add(builtin::Attr::UnknownLoc);
}

uint32_t NodeExporter::makeBuiltinAttribute(Attribute attribute) {
  constexpr bool portable = false;
  Words words;
  auto add = [&](builtin::Attr code) {
    return addNode(Family::Builtin, /*isType=*/false, uint16_t(code), words);
  };
  if (auto location = dyn_cast<LocationAttr>(attribute))
    return makeLocation(location);
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return addAttributes(array.getValue(), words, portable)
               ? add(builtin::Attr::Array)
               : none;
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    words.push_back(dictionary.size());
    for (NamedAttribute entry : dictionary)
      if (!addAttribute(entry.getName(), words, portable) ||
          !addAttribute(entry.getValue(), words, portable))
        return none;
    return add(builtin::Attr::Dictionary);
  }
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    words.push_back(string(text.getValue()));
    if (isa<NoneType>(text.getType()))
      return add(builtin::Attr::String);
    return addType(text.getType(), words, portable)
               ? add(builtin::Attr::TypedString)
               : none;
  }
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute)) {
    addAttribute(symbol.getAttr(), words, portable);
    return add(builtin::Attr::FlatSymbol);
  }
  if (auto symbol = dyn_cast<SymbolRefAttr>(attribute)) {
    addAttribute(symbol.getRootReference(), words, portable);
    SmallVector<Attribute> nested(symbol.getNestedReferences().begin(),
                                  symbol.getNestedReferences().end());
    addAttributes(nested, words, portable);
    return add(builtin::Attr::Symbol);
  }
  if (auto type = dyn_cast<TypeAttr>(attribute))
    return addType(type.getValue(), words, portable) ? add(builtin::Attr::Type)
                                                     : none;
  if (isa<UnitAttr>(attribute))
    return add(builtin::Attr::Unit);
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    if (!addType(number.getType(), words, portable))
      return none;
    addNumber(number.getValue(), words);
    return add(builtin::Attr::Integer);
  }
  auto number = dyn_cast<FloatAttr>(attribute);
  if (number &&
      bitWidth(artifact, artifact.types[builtinType(number.getType())]) != 0) {
    addType(number.getType(), words, portable);
    addNumber(number.getValue().bitcastToAPInt(), words);
    return add(builtin::Attr::Float);
  }
  if (auto list = dyn_cast<DenseArrayAttr>(attribute)) {
    if (!addType(list.getElementType(), words, portable))
      return none;
    words.push_back(uint64_t(list.getSize()));
    addBytes(list.getRawData(), words);
    return add(builtin::Attr::DenseArray);
  }
  if (auto elements = dyn_cast<DenseIntOrFPElementsAttr>(attribute)) {
    if (!addType(elements.getType(), words, portable))
      return none;
    addBytes(elements.getRawData(), words);
    return add(builtin::Attr::DenseElements);
  }
  if (attribute.getDialect().getNamespace() == "sdy")
    return makeSdyAttribute(attribute);
  return addText(/*isType=*/false, attribute.getDialect().getNamespace(),
                 describe(attribute));
}

} // namespace alula::vhlo
