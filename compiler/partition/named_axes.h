// Shardings as Shardy's attributes say them, over meshes with names, and as
// digits of devices' numbers.
#pragma once

#include "compiler/partition/placement.h"
#include "compiler/partition/spans.h"

#include "dialect/sdy/dialect.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace alula::partition {

/// Reads shardings of one program.
class ShardingReader {
public:
  explicit ShardingReader(int64_t devices) : devices(devices) {}

  /// Null where the devices of the mesh lie in no order that digits could say.
  /// Errors are those of `op`. One device, or none in particular: whole.
  mlir::FailureOr<const Sharding *>
  read(mlir::Operation *op, mlir::sdy::TensorShardingAttr sharding);
  /// What an axis, or a part of one, is: usually one span.
  std::optional<Spans> getSpans(mlir::sdy::MeshAttr mesh,
                                mlir::sdy::AxisRefAttr axis);
  /// Digits of the axes that a computation handles by itself.
  Spans getManualSpans(mlir::Operation *op,
                       mlir::sdy::TensorShardingAttr sharding,
                       llvm::ArrayRef<mlir::StringAttr> axes);
  /// The mesh has as many devices as the program.
  mlir::LogicalResult check(mlir::Operation *op,
                            mlir::sdy::TensorShardingAttr sharding) const;

private:
  int64_t devices;
  /// Looked up only; elements stay where they are.
  std::map<const void *, std::optional<Sharding>> known;
  llvm::DenseMap<mlir::Attribute, std::optional<llvm::SmallVector<Spans>>>
      digits;
};

/// The names of meshes that a program knows.
class MeshNames {
public:
  MeshNames(mlir::ModuleOp module, int64_t devices);

  /// All dimensions are closed. Where no mesh of the program has such axes, in
  /// the words of one whose only axis is all devices.
  mlir::sdy::TensorShardingAttr print(const Sharding &sharding);
  /// Without what no mesh has a whole axis for.
  Sharding cutToWholeAxes(const Sharding &sharding) const;

private:
  struct Mesh {
    mlir::StringAttr name;
    mlir::sdy::MeshAttr mesh;
    llvm::SmallVector<Span> axes;
  };
  std::optional<llvm::SmallVector<mlir::sdy::AxisRefAttr>>
  print(const Mesh &mesh, llvm::ArrayRef<Span> spans) const;
  const Mesh &addFlatMesh();

  mlir::ModuleOp module;
  int64_t devices;
  llvm::SmallVector<Mesh> meshes;
};

/// The same for code that asks where pieces lie, and back, if digits can say
/// it.
std::optional<Sharding> getSharding(const Placement &placement, int64_t rank,
                                    ShardingReader &reader);
Placement makePlacement(const Sharding &sharding, int64_t devices,
                        mlir::MLIRContext *context);

} // namespace alula::partition
