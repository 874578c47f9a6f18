#pragma once

#include "dialect/vhlo/artifact.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace alula::vhlo {

/// Reports what is wrong at a byte of an artifact as an MLIR diagnostic.
class ArtifactDiagnostics {
public:
  explicit ArtifactDiagnostics(mlir::Location location) : location(location) {}

  mlir::InFlightDiagnostic error(size_t offset) const {
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(location);
    diagnostic << "portable artifact: byte " << offset << ": ";
    return diagnostic;
  }

private:
  mlir::Location location;
};

/// Makes MLIR types and attributes of an artifact's nodes. Those of the
/// portable form become builtin and StableHLO ones at once; there is no vhlo
/// dialect.
class NodeImporter {
public:
  NodeImporter(const Artifact &artifact, mlir::MLIRContext *context,
               const ArtifactDiagnostics &diagnostics);

  /// Imports everything; `order` comes from `orderNodes`.
  mlir::LogicalResult run(llvm::ArrayRef<NodeRef> order);

  mlir::Type type(uint64_t index) const { return types[index]; }
  mlir::Attribute attribute(uint64_t index) const { return attributes[index]; }
  const ArtifactDiagnostics &getDiagnostics() const { return diagnostics; }

private:
  class Fields;

  // import_types.cpp
  mlir::Type importType(const Node &node);
  mlir::Type importBuiltinType(const Node &node);
  mlir::Type importVhloType(const Node &node);
  mlir::Type importTextType(const Node &node);
  mlir::Type importTensor(const Node &node, bool hasEncoding);
  mlir::Type importBuffer(const Node &node);
  mlir::Type importQuantized(const Node &node, bool perAxis);
  bool readShape(const Node &node, Fields &fields,
                 llvm::SmallVectorImpl<int64_t> &shape);

  // import_attributes.cpp
  mlir::Attribute importAttribute(const Node &node);
  mlir::Attribute importBuiltinAttribute(const Node &node);
  mlir::Attribute importLocation(const Node &node);
  mlir::Attribute importVhloAttribute(const Node &node);
  mlir::Attribute importMeshAttribute(const Node &node);
  mlir::Attribute importEnum(const Node &node);
  mlir::Attribute importText(const Node &node);
  mlir::Attribute importArray(const Node &node);
  mlir::Attribute importDictionary(const Node &node);
  mlir::Attribute importInteger(const Node &node);
  mlir::Attribute importFloat(const Node &node);
  mlir::Attribute importResultAccuracy(const Node &node);

  // import_elements.cpp
  mlir::Attribute importDenseArray(const Node &node);
  mlir::Attribute importElements(const Node &node);
  mlir::Attribute importBools(const Node &node, mlir::ShapedType type,
                              Bytes blob);
  mlir::Attribute importDenseStrings(const Node &node);

  // import_sdy.cpp
  mlir::Attribute importSdyAttribute(const Node &node);
  mlir::Attribute importTensorSharding(const Node &node);

  mlir::InFlightDiagnostic error(const Node &node) const;
  /// Gives the text of a node to MLIR's parser, `parse(text, numRead)`, if that
  /// can stand it; one error says what was wrong.
  bool parseText(const Node &node, llvm::StringRef what,
                 llvm::function_ref<bool(llvm::StringRef, size_t &)> parse);
  /// A kind of attribute, with an error if `attribute` is none.
  template <typename AttrTy>
  AttrTy expect(const Node &node, uint64_t index, const char *what) const {
    if (auto result = llvm::dyn_cast<AttrTy>(attribute(index)))
      return result;
    error(node) << "expected " << what << ", found " << attribute(index);
    return {};
  }
  /// The same for each of a list; false if one is of another kind.
  template <typename AttrTy>
  bool expectAll(const Node &node, std::span<const uint64_t> indices,
                 const char *what,
                 llvm::SmallVectorImpl<AttrTy> &result) const {
    for (uint64_t index : indices) {
      result.push_back(expect<AttrTy>(node, index, what));
      if (!result.back())
        return false;
    }
    return true;
  }

  const Artifact &artifact;
  mlir::MLIRContext *context;
  const ArtifactDiagnostics &diagnostics;
  std::vector<mlir::Type> types;
  std::vector<mlir::Attribute> attributes;
};

/// The fields of a node in their order.
class NodeImporter::Fields {
public:
  Fields(const Artifact &artifact, const Node &node)
      : words(artifact.wordsOf(node)) {}

  uint64_t take() { return words[next++]; }
  int64_t takeSigned() { return int64_t(take()); }
  std::span<const uint64_t> takeList() {
    size_t count = size_t(take());
    next += count;
    return words.subspan(next - count, count);
  }

private:
  std::span<const uint64_t> words;
  size_t next = 0;
};

} // namespace alula::vhlo
