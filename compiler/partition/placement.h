// Where the pieces of an array lie.
#pragma once

#include "dialect/sdy/dialect.h"

#include "mlir/IR/BuiltinTypes.h"

namespace alula::partition {

/// For each dimension the axes of a mesh that split it, from major to minor.
/// Along all others the array is there as a whole.
struct Placement {
  mlir::sdy::MeshAttr mesh;
  using Axes = llvm::SmallVector<mlir::sdy::AxisRefAttr>;
  llvm::SmallVector<Axes> dims;
  /// Along these, devices hold parts whose sum is the array.
  Axes unreduced;

  bool isWhole() const;
  bool operator==(const Placement &other) const;

  int64_t countShards(const Axes &axes) const;
  /// Which piece along some axes lies at a position of the mesh.
  int64_t getShard(const Axes &axes, int64_t position) const;
  /// Devices that hold the pieces along some axes, in order, and the same of
  /// all else.
  llvm::SmallVector<llvm::SmallVector<int64_t>>
  getGroups(const Axes &axes) const;
  /// The type of a piece; null if it can't be divided.
  mlir::RankedTensorType getLocalType(mlir::RankedTensorType whole) const;
  mlir::RankedTensorType getWholeType(mlir::RankedTensorType local) const;
  /// XLA's text for it: "{devices=[2,1,4]0,1,2,3,4,5,6,7
  /// last_tile_dim_replicate}".
  std::string printForXla() const;
};

/// What a module says, behind the partition room, of how its arguments lie and
/// its results: Placement::printForXla's texts, those of results as a tuple.
inline constexpr llvm::StringLiteral argumentShardingsName =
    "mhlo.spmd_parameters_shardings";
inline constexpr llvm::StringLiteral resultShardingsName =
    "mhlo.spmd_output_sharding";

/// What whoever wrote the program wants to be told, a list of pairs: what the
/// request says, and printForXla's text of how its array is divided, or
/// "{manual}".
inline constexpr llvm::StringLiteral shownShardingsName =
    "alula.shown_shardings";

/// The device at a position of a mesh.
int64_t getDevice(mlir::sdy::MeshAttr mesh, int64_t position);

/// Axes that split nothing are left out, as are those that `isWanted` refuses.
Placement makePlacement(mlir::sdy::TensorShardingAttr sharding,
                        mlir::sdy::MeshAttr mesh,
                        llvm::function_ref<bool(llvm::StringRef)> isWanted);

} // namespace alula::partition
