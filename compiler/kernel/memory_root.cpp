#include "compiler/kernel/memory_root.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

Value alula::kernel::findRoot(Value buffer) {
  while (Operation *owner = buffer.getDefiningOp()) {
    if (!isa<memref::ReinterpretCastOp, memref::SubViewOp, memref::CastOp,
             memref::ViewOp, memref::ExtractAlignedPointerAsIndexOp>(owner))
      break;
    buffer = owner->getOperand(0);
  }
  return buffer;
}
