#pragma once

#include "dialect/vhlo/artifact.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace alula::vhlo {

/// Adds MLIR types and attributes to an artifact as nodes, each once.
///
/// Operations of the portable form hold portable nodes; the module itself,
/// locations and other dialects hold builtin ones, and text where a dialect has
/// no encoding of its own.
class NodeExporter {
public:
  NodeExporter(Artifact &artifact, bool allowOtherDialects)
      : artifact(artifact), allowOtherDialects(allowOtherDialects) {}

  /// The node of a type or attribute; `none` if it has no portable form, which
  /// `problem` then tells.
  uint32_t portableType(mlir::Type type);
  uint32_t portableAttribute(mlir::Attribute attribute);
  /// The API version of a custom call, an integer in StableHLO.
  uint32_t apiVersion(mlir::Attribute attribute);
  uint32_t builtinType(mlir::Type type);
  uint32_t builtinAttribute(mlir::Attribute attribute);
  /// A builtin dictionary of nodes; names are sorted.
  uint32_t
  dictionary(llvm::ArrayRef<std::pair<mlir::StringAttr, uint32_t>> entries);

  /// The first version that has a portable type or attribute and all of which
  /// it is made.
  Version neededForType(uint32_t index) const { return typeNeeds[index]; }
  Version neededForAttribute(uint32_t index) const {
    return attributeNeeds[index];
  }

  const std::string &getProblem() const { return problem; }

  uint32_t dialect(llvm::StringRef name);
  uint32_t string(llvm::StringRef text);

private:
  using Words = llvm::SmallVector<uint64_t>;

  uint32_t fail(std::string what);
  uint32_t addNode(Family family, bool isType, uint16_t code,
                   const Words &words);
  uint32_t addText(bool isType, llvm::StringRef dialectName, std::string text);
  bool addBytes(llvm::ArrayRef<char> bytes, Words &words);
  /// Counted lists.
  bool addAttributes(llvm::ArrayRef<mlir::Attribute> list, Words &words,
                     bool isPortable);
  bool addTypes(llvm::ArrayRef<mlir::Type> list, Words &words, bool isPortable);
  bool addType(mlir::Type type, Words &words, bool isPortable);
  bool addAttribute(mlir::Attribute attribute, Words &words, bool isPortable);
  static void addNumbers(llvm::ArrayRef<int64_t> numbers, Words &words);
  static void addNumber(const llvm::APInt &number, Words &words);

  // export_types.cpp
  uint32_t makePortableType(mlir::Type type);
  uint32_t makeBuiltinType(mlir::Type type);
  std::optional<TypeCode> portableNumberType(mlir::Type type);
  uint32_t makeQuantized(mlir::Type type);

  // export_attributes.cpp
  uint32_t makePortableAttribute(mlir::Attribute attribute);
  uint32_t makeStablehloAttribute(mlir::Attribute attribute);
  uint32_t makePortableElements(mlir::Type type, llvm::ArrayRef<char> data);
  uint32_t makeBuiltinAttribute(mlir::Attribute attribute);
  uint32_t makeLocation(mlir::LocationAttr location);

  // export_sdy.cpp
  uint32_t makeSdyAttribute(mlir::Attribute attribute);
  uint32_t makeTensorSharding(mlir::Attribute attribute);

  Artifact &artifact;
  bool allowOtherDialects;
  std::string problem;
  std::vector<Version> typeNeeds;
  std::vector<Version> attributeNeeds;
  llvm::DenseMap<mlir::Type, uint32_t> portableTypes, builtinTypes;
  llvm::DenseMap<mlir::Attribute, uint32_t> portableAttributes,
      builtinAttributes, apiVersions;
  llvm::StringMap<uint32_t> strings;
  std::map<std::vector<uint64_t>, uint32_t> dictionaries;
};

} // namespace alula::vhlo
