#pragma once

#include "dialect/vhlo/op_table.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/OperationSupport.h"

namespace alula::vhlo {

/// The attributes of one operation of the portable form; `values[i]` belongs to
/// the i-th row of `spec`, null if its form does not have it.
struct PortableAttributes {
  mlir::MLIRContext *context;
  const OpSpec *spec;
  llvm::ArrayRef<mlir::Attribute> values;

  mlir::Attribute get(llvm::StringRef name) const;
};

/// Adds the StableHLO attributes that mean the same; defaults are left out.
/// `emitError` starts a sentence about the operation.
mlir::LogicalResult
mapToStablehlo(const PortableAttributes &portable,
               mlir::NamedAttrList &attributes,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Whether the portable `value` is what the form holds for no attribute.
bool isDefault(const AttrSpec &row, mlir::Attribute value);

/// Most elements of an attribute that is a list of dimensions or the like.
inline constexpr int64_t maxListElements = 1 << 16;

} // namespace alula::vhlo
