// How a function says that its arguments and results lie on devices, and what
// of its arguments' memory its results may take.
#pragma once

#include "compiler/partition/named_axes.h"
#include "compiler/partition/placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::partition {

/// Where `sharding` puts pieces along the axes that are wanted. Errors are
/// those of `op`.
mlir::LogicalResult
readPlacement(mlir::Operation *op, mlir::sdy::TensorShardingAttr sharding,
              const ShardingReader &reader,
              llvm::function_ref<bool(llvm::StringRef)> isWanted,
              Placement &placement);
/// Of an argument or a result of `function`: as Shardy says it or as GSPMD
/// does.
mlir::LogicalResult readSignature(mlir::func::FuncOp function,
                                  mlir::DictionaryAttr attributes,
                                  mlir::RankedTensorType type, int64_t devices,
                                  const ShardingReader &reader,
                                  Placement &placement);
/// An argument's memory can only become a result of its type: where the types
/// are no longer equal, results as large may take it, and where there is none
/// it stays with whoever offers it.
void keepAliases(mlir::func::FuncOp function);

} // namespace alula::partition
