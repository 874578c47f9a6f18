#pragma once

#include "dialect/dispatch/ops.h"

// How a matrix lies in panels (dispatch.from_panels).

namespace alula::dispatch {

struct PanelLayout {
  /// Columns of a panel, and rows that lie together in each of them.
  int64_t width, group;
  /// Groups of rows.
  int64_t groups;
  /// Whether bytes are of the other sign than those of the result.
  bool isOffset;

  int64_t getBytes(mlir::Type element) const {
    return width * group * element.getIntOrFloatBitWidth() / 8;
  }
};

PanelLayout getPanelLayout(FromPanelsOp op);

/// Rows that products want together: as many as 32 bits have room for.
int64_t getPanelGroup(mlir::Type element);

/// Whether products by bytes of `element` want what they multiply offset: the
/// two sides have different signs where bytes are multiplied in fours.
bool wantsOffset(mlir::Type left, mlir::Type right);

} // namespace alula::dispatch
