#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace alula::newer {

/// What can be told of a type from its text.
struct TypeFacts {
  bool isBridged = false;
  bool isBool = false;
  /// Pairs of numbers; false too if the type is not known.
  bool isComplex = false;
  /// One number each; false too if the type is not known.
  bool isSingle = false;
  /// Elements of a static shape; 1 for a scalar, -1 if not known.
  int64_t elements = 1;
};

/// The dimensions at the beginning of `2x3xf32>`.
struct ShapeScan {
  /// Characters of the dimensions, the last x included.
  size_t size = 0;
  int64_t elements = 1;
  /// Empty, or why no tensor may have this shape.
  std::string problem;
};

ShapeScan scanShape(llvm::StringRef text);

/// The spelling of the same length that stands for one of the float types that
/// MLIR 19 lacks, or empty.
llvm::StringRef getStandIn(llvm::StringRef word);

/// Whether the parameters `<…>` of `!quant.uniform` hold block sizes, which
/// stand where the axis or the scale of the older forms stands.
bool hasBlockSizes(llvm::StringRef text);

/// Type aliases seen so far.
class TypeAliases {
public:
  void define(llvm::StringRef name, llvm::StringRef value) {
    facts[name] = read(value);
  }
  /// Facts of the type that `text` begins with.
  TypeFacts read(llvm::StringRef text) const;

private:
  TypeFacts readElement(llvm::StringRef text) const;

  llvm::StringMap<TypeFacts> facts;
};

} // namespace alula::newer
