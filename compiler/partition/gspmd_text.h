#pragma once

#include "compiler/partition/placement.h"

#include <optional>

namespace alula::partition {

constexpr llvm::StringLiteral gspmdName = "mhlo.sharding";

/// What a sharding says in XLA's text: "{replicated}",
/// "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
/// "{devices=[2,2]<=[2,2]T(1,0)}", "{devices=[2,1]1,0}". Nothing for texts that
/// don't divide an array of this rank: "{manual}", "{maximal device=0}".
std::optional<Placement> readGspmdText(llvm::StringRef text, unsigned rank,
                                       mlir::MLIRContext *context);

} // namespace alula::partition
