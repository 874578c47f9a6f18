#pragma once

#include "dialect/dispatch/ops.h"

#include "dialect/dispatch/collective_kinds.h.inc"

#define GET_OP_CLASSES
#include "dialect/dispatch/collectives.h.inc"

namespace alula::dispatch {

/// Members of the largest group; of pairs 1. 1 if there are none.
int64_t getGroupSize(CollectiveKind kind, mlir::ArrayAttr groups);

/// How many blocks a member gives, and gets.
int64_t countGivenBlocks(CollectiveKind kind, mlir::ArrayAttr groups);
int64_t countGottenBlocks(CollectiveKind kind, mlir::ArrayAttr groups);

/// Whether engines of collectives reduce elements of this type so.
bool isKnownReduction(Reduction reduction, mlir::Type elementType);

} // namespace alula::dispatch
