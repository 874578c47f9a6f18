#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace alula::partition {

/// The attribute of an argument or a result of "main" that says in which order
/// its dimensions lie: "default" (row-major), "auto" (the compiler's choice) or
/// "{0,1}", dimensions from minor to major.
inline constexpr llvm::StringLiteral layoutModeName = "mhlo.layout_mode";

/// Dimensions from major to minor.
using Order = llvm::SmallVector<int64_t, 6>;

inline Order getRowMajor(int64_t rank) {
  return llvm::to_vector<6>(llvm::seq<int64_t>(0, rank));
}
inline bool isRowMajor(llvm::ArrayRef<int64_t> order) {
  return llvm::equal(order, llvm::seq<int64_t>(0, order.size()));
}
/// Where each dimension of an order stands in it.
Order invert(llvm::ArrayRef<int64_t> order);

struct LayoutMode {
  bool isAuto = false;
  /// Unless `isAuto`; empty for what is no array.
  Order order;
};

/// Reads the attribute, null included. The error says what is wrong with the
/// text: "... has tiles".
mlir::FailureOr<LayoutMode> readLayoutMode(mlir::Attribute mode,
                                           mlir::Type type, std::string &error);

/// "{0,1}".
std::string printOrder(llvm::ArrayRef<int64_t> order);

/// Chooses what "main" leaves open and checks the rest: afterwards it has only
/// modes that name another order than row-major. Arguments are row-major.
/// Results get the order that costs nothing: that of the value which a
/// transpose at the end reads, or the one of a layout constraint.
mlir::LogicalResult resolveLayouts(mlir::ModuleOp module);

} // namespace alula::partition
