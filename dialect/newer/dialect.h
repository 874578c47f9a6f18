#pragma once

#include "mlir/IR/Dialect.h"
#include "llvm/Support/SMLoc.h"

namespace alula::newer {

/// Holds the types and attributes that stand in for those of a newer MLIR.
/// The one-letter namespace is what lets `!f.8e3` take the place of `f8E3M4`
/// without moving a character.
class NewerDialect : public mlir::Dialect {
public:
  explicit NewerDialect(mlir::MLIRContext *context);

  static constexpr llvm::StringLiteral getDialectNamespace() {
    return llvm::StringLiteral("f");
  }

  /// Where the `!f.…` or `#f.…` being parsed begins in the source.
  static llvm::SMLoc getSymbolLoc(mlir::DialectAsmParser &parser);

  mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
  void printType(mlir::Type type,
                 mlir::DialectAsmPrinter &printer) const override;
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser,
                                 mlir::Type type) const override;
  void printAttribute(mlir::Attribute attribute,
                      mlir::DialectAsmPrinter &printer) const override;

private:
  // Each stands beside the storage that it registers.
  void registerTypes();
  void registerAttributes();
};

} // namespace alula::newer

MLIR_DECLARE_EXPLICIT_TYPE_ID(alula::newer::NewerDialect)
