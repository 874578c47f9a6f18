// How many devices a program is for, as JAX says it on the module.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace mlir::stablehlo {

constexpr llvm::StringLiteral partitionCountName = "mhlo.num_partitions",
                              replicaCountName = "mhlo.num_replicas";

/// At least 1.
inline int64_t getCount(ModuleOp module, llvm::StringRef name) {
  auto count = module->getAttrOfType<IntegerAttr>(name);
  return count && count.getValue().ugt(1) ? count.getValue().getZExtValue() : 1;
}
inline int64_t getPartitionCount(ModuleOp module) {
  return getCount(module, partitionCountName);
}
inline int64_t getReplicaCount(ModuleOp module) {
  return getCount(module, replicaCountName);
}

} // namespace mlir::stablehlo
