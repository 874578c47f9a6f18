#include "dialect/vhlo/export_nodes.h"

#include "dialect/stablehlo/ops.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace alula::vhlo {

uint32_t NodeExporter::fail(std::string what) {
  if (problem.empty())
    problem = std::move(what);
  return none;
}

uint32_t NodeExporter::dialect(StringRef name) {
  for (uint32_t i = 0; i < artifact.dialects.size(); ++i)
    if (StringRef(artifact.dialects[i]) == name)
      return i;
  artifact.dialects.push_back(artifact.strings[string(name)]);
  return uint32_t(artifact.dialects.size() - 1);
}

uint32_t NodeExporter::string(StringRef text) {
  auto [place, isNew] =
      strings.try_emplace(text, uint32_t(artifact.strings.size()));
  if (isNew)
    artifact.strings.push_back(artifact.ownedText.emplace_back(text.str()));
  return place->second;
}

/// The newest version that any part of a node needs is the node's.
uint32_t NodeExporter::addNode(Family family, bool isType, uint16_t code,
                               const Words &words) {
  Node node;
  node.firstWord = artifact.words.size();
  node.numWords = words.size();
  node.code = code;
  node.family = family;
  node.isType = isType;
  node.dialect = dialect(dialectOf(family));
  artifact.words.insert(artifact.words.end(), words.begin(), words.end());
  Version need = findEncoding(family, isType, code)->since;
  forEachReference(artifact, node, [&](bool ofType, uint32_t index) {
    need = std::max(need, ofType ? typeNeeds[index] : attributeNeeds[index]);
  });
  std::vector<Node> &nodes = isType ? artifact.types : artifact.attributes;
  (isType ? typeNeeds : attributeNeeds).push_back(need);
  nodes.push_back(node);
  return uint32_t(nodes.size() - 1);
}

uint32_t NodeExporter::addText(bool isType, StringRef dialectName,
                               std::string text) {
  const std::string &owned = artifact.ownedText.emplace_back(std::move(text));
  Node node;
  node.firstWord = artifact.words.size();
  node.numWords = 1;
  node.family = Family::Text;
  node.isType = isType;
  node.dialect = dialect(dialectName);
  artifact.words.push_back(artifact.blobs.size());
  artifact.blobs.push_back(
      {reinterpret_cast<const uint8_t *>(owned.data()), owned.size()});
  std::vector<Node> &nodes = isType ? artifact.types : artifact.attributes;
  (isType ? typeNeeds : attributeNeeds).push_back(Version::minimum());
  nodes.push_back(node);
  return uint32_t(nodes.size() - 1);
}

bool NodeExporter::addBytes(ArrayRef<char> bytes, Words &words) {
  words.push_back(artifact.blobs.size());
  artifact.blobs.push_back(
      {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  return true;
}

bool NodeExporter::addType(Type type, Words &words, bool isPortable) {
  uint32_t index = isPortable ? portableType(type) : builtinType(type);
  words.push_back(index);
  return index != none;
}

bool NodeExporter::addTypes(ArrayRef<Type> list, Words &words,
                            bool isPortable) {
  words.push_back(list.size());
  return llvm::all_of(
      list, [&](Type type) { return addType(type, words, isPortable); });
}

bool NodeExporter::addAttribute(Attribute attribute, Words &words,
                                bool isPortable) {
  uint32_t index =
      isPortable ? portableAttribute(attribute) : builtinAttribute(attribute);
  words.push_back(index);
  return index != none;
}

bool NodeExporter::addAttributes(ArrayRef<Attribute> list, Words &words,
                                 bool isPortable) {
  words.push_back(list.size());
  return llvm::all_of(list, [&](Attribute attribute) {
    return addAttribute(attribute, words, isPortable);
  });
}

void NodeExporter::addNumbers(ArrayRef<int64_t> numbers, Words &words) {
  words.push_back(numbers.size());
  for (int64_t number : numbers)
    words.push_back(uint64_t(number));
}

/// Up to 64 bits a number is one word, its sign extended (a byte above its
/// width is cut when it is written).
void NodeExporter::addNumber(const APInt &number, Words &words) {
  if (number.getBitWidth() <= 64) {
    words.push_back(1);
    words.push_back(number.getBitWidth() <= 8
                        ? number.getZExtValue()
                        : uint64_t(number.getSExtValue()));
    return;
  }
  unsigned active = std::max(1u, number.getActiveWords());
  words.push_back(active);
  for (unsigned i = 0; i < active; ++i)
    words.push_back(number.getRawData()[i]);
}

uint32_t NodeExporter::portableType(Type type) {
  if (auto known = portableTypes.find(type); known != portableTypes.end())
    return known->second;
  uint32_t index = makePortableType(type);
  portableTypes[type] = index;
  return index;
}

uint32_t NodeExporter::builtinType(Type type) {
  if (auto known = builtinTypes.find(type); known != builtinTypes.end())
    return known->second;
  uint32_t index = makeBuiltinType(type);
  builtinTypes[type] = index;
  return index;
}

std::optional<TypeCode> NodeExporter::portableNumberType(Type type) {
  if (auto bridged = dyn_cast<newer::BridgedFloatType>(type)) {
    switch (bridged.getFormat()) {
    case newer::FloatFormat::F8E3M4:
      return TypeCode::FloatF8E3M4;
    case newer::FloatFormat::F8E8M0FNU:
      return TypeCode::FloatF8E8M0FNU;
    case newer::FloatFormat::F6E2M3FN:
      return TypeCode::FloatF6E2M3FN;
    case newer::FloatFormat::F6E3M2FN:
      return TypeCode::FloatF6E3M2FN;
    case newer::FloatFormat::F4E2M1FN:
      return TypeCode::FloatF4E2M1FN;
    }
  }
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.isSigned())
      return std::nullopt;
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      if (isUnsigned)
        return std::nullopt;
      return TypeCode::Boolean;
    case 2:
      return isUnsigned ? TypeCode::IntegerUI2 : TypeCode::IntegerSI2;
    case 4:
      return isUnsigned ? TypeCode::IntegerUI4 : TypeCode::IntegerSI4;
    case 8:
      return isUnsigned ? TypeCode::IntegerUI8 : TypeCode::IntegerSI8;
    case 16:
      return isUnsigned ? TypeCode::IntegerUI16 : TypeCode::IntegerSI16;
    case 32:
      return isUnsigned ? TypeCode::IntegerUI32 : TypeCode::IntegerSI32;
    case 64:
      return isUnsigned ? TypeCode::IntegerUI64 : TypeCode::IntegerSI64;
    default:
      return std::nullopt;
    }
  }
  if (type.isBF16())
    return TypeCode::FloatBF16;
  if (type.isF16())
    return TypeCode::FloatF16;
  if (type.isF32())
    return TypeCode::FloatF32;
  if (type.isF64())
    return TypeCode::FloatF64;
  if (type.isTF32())
    return TypeCode::FloatTF32;
  if (isa<Float8E4M3Type>(type))
    return TypeCode::FloatF8E4M3;
  if (isa<Float8E4M3FNType>(type))
    return TypeCode::FloatF8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return TypeCode::FloatF8E5M2;
  if (isa<Float8E4M3FNUZType>(type))
    return TypeCode::FloatF8E4M3FNUZ;
  if (isa<Float8E5M2FNUZType>(type))
    return TypeCode::FloatF8E5M2FNUZ;
  if (isa<Float8E4M3B11FNUZType>(type))
    return TypeCode::FloatF8E4M3B11FNUZ;
  if (isa<IndexType>(type))
    return TypeCode::Index;
  if (isa<NoneType>(type))
    return TypeCode::None;
  if (isa<stablehlo::TokenType>(type))
    return TypeCode::Token;
  return std::nullopt;
}

uint32_t NodeExporter::makeQuantized(Type type) {
  Words words;
  auto quantized = cast<quant::QuantizedType>(type);
  words.push_back(quantized.getFlags());
  if (!addType(quantized.getStorageType(), words, /*isPortable=*/true) ||
      !addType(quantized.getExpressedType(), words, /*isPortable=*/true))
    return none;
  TypeCode code = TypeCode::UniformQuantized;
  if (auto perTensor = dyn_cast<quant::UniformQuantizedType>(type)) {
    words.push_back(llvm::bit_cast<uint64_t>(perTensor.getScale()));
    words.push_back(uint64_t(perTensor.getZeroPoint()));
    words.push_back(uint64_t(perTensor.getStorageTypeMin()));
    words.push_back(uint64_t(perTensor.getStorageTypeMax()));
  } else {
    code = TypeCode::UniformQuantizedPerAxis;
    auto perAxis = cast<quant::UniformQuantizedPerAxisType>(type);
    words.push_back(uint64_t(perAxis.getQuantizedDimension()));
    words.push_back(uint64_t(perAxis.getStorageTypeMin()));
    words.push_back(uint64_t(perAxis.getStorageTypeMax()));
    words.push_back(perAxis.getScales().size());
    for (double scale : perAxis.getScales())
      words.push_back(llvm::bit_cast<uint64_t>(scale));
    addNumbers(perAxis.getZeroPoints(), words);
  }
  return addNode(Family::Vhlo, /*isType=*/true, uint16_t(code), words);
}

static std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

uint32_t NodeExporter::makePortableType(Type type) {
  constexpr bool portable = true;
  Words words;
  auto add = [&](TypeCode code) {
    return addNode(Family::Vhlo, /*isType=*/true, uint16_t(code), words);
  };
  if (std::optional<TypeCode> code = portableNumberType(type))
    return add(*code);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Attribute encoding = tensor.getEncoding();
    if (encoding && !addAttribute(encoding, words, portable))
      return none;
    addNumbers(tensor.getShape(), words);
    if (!addType(tensor.getElementType(), words, portable))
      return none;
    return add(encoding ? TypeCode::EncodedTensor : TypeCode::RankedTensor);
  }
  if (auto complex = dyn_cast<ComplexType>(type))
    return addType(complex.getElementType(), words, portable)
               ? add(TypeCode::Complex)
               : none;
  if (auto function = dyn_cast<FunctionType>(type)) {
    if (!addTypes(function.getInputs(), words, portable) ||
        !addTypes(function.getResults(), words, portable))
      return none;
    return add(TypeCode::Function);
  }
  if (auto tuple = dyn_cast<TupleType>(type))
    return addTypes(tuple.getTypes(), words, portable) ? add(TypeCode::Tuple)
                                                       : none;
  if (auto future = dyn_cast<stablehlo::FutureType>(type))
    return addTypes(future.getTypes(), words, portable) ? add(TypeCode::Future)
                                                        : none;
  if (isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(
          type))
    return makeQuantized(type);
  if (auto unranked = dyn_cast<UnrankedTensorType>(type))
    return addType(unranked.getElementType(), words, portable)
               ? add(TypeCode::UnrankedTensor)
               : none;
  auto buffer = dyn_cast<MemRefType>(type);
  if (buffer && buffer.getLayout().isIdentity() && !buffer.getMemorySpace()) {
    addNumbers(buffer.getShape(), words);
    return addType(buffer.getElementType(), words, portable)
               ? add(TypeCode::RankedBuffer)
               : none;
  }
  StringRef dialectName = type.getDialect().getNamespace();
  if (allowOtherDialects && dialectName != "builtin" &&
      dialectName != "stablehlo" && dialectName != "f")
    return builtinType(type);
  return fail("type " + describe(type) + " has no portable form");
}

uint32_t NodeExporter::makeBuiltinType(Type type) {
  constexpr bool portable = false;
  Words words;
  auto add = [&](builtin::Type code) {
    return addNode(Family::Builtin, /*isType=*/true, uint16_t(code), words);
  };
  if (auto integer = dyn_cast<IntegerType>(type)) {
    words.push_back(uint64_t(integer.getWidth()) << 2 |
                    uint64_t(integer.getSignedness()));
    return add(builtin::Type::Integer);
  }
  if (type.isIndex())
    return add(builtin::Type::Index);
  if (type.isBF16())
    return add(builtin::Type::BFloat16);
  if (type.isF16())
    return add(builtin::Type::Float16);
  if (type.isF32())
    return add(builtin::Type::Float32);
  if (type.isF64())
    return add(builtin::Type::Float64);
  if (isa<NoneType>(type))
    return add(builtin::Type::None);
  if (auto complex = dyn_cast<ComplexType>(type))
    return addType(complex.getElementType(), words, portable)
               ? add(builtin::Type::Complex)
               : none;
  if (auto function = dyn_cast<FunctionType>(type)) {
    if (!addTypes(function.getInputs(), words, portable) ||
        !addTypes(function.getResults(), words, portable))
      return none;
    return add(builtin::Type::Function);
  }
  if (auto tuple = dyn_cast<TupleType>(type))
    return addTypes(tuple.getTypes(), words, portable)
               ? add(builtin::Type::Tuple)
               : none;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Attribute encoding = tensor.getEncoding();
    if (encoding && !addAttribute(encoding, words, portable))
      return none;
    addNumbers(tensor.getShape(), words);
    if (!addType(tensor.getElementType(), words, portable))
      return none;
    return add(encoding ? builtin::Type::EncodedTensor
                        : builtin::Type::RankedTensor);
  }
  if (auto unranked = dyn_cast<UnrankedTensorType>(type))
    return addType(unranked.getElementType(), words, portable)
               ? add(builtin::Type::UnrankedTensor)
               : none;
  // The official name of a float that MLIR 19 lacks is the text of a builtin
  // type.
  if (auto bridged = dyn_cast<newer::BridgedFloatType>(type))
    return addText(/*isType=*/true, "builtin", bridged.getName().str());
  return addText(/*isType=*/true, type.getDialect().getNamespace(),
                 describe(type));
}

} // namespace alula::vhlo
