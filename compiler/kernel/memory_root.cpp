#include "compiler/kernel/memory_root.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"

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

bool alula::kernel::mayWrite(Operation *op) {
  return !isa<memref::LoadOp, memref::DimOp, memref::ReinterpretCastOp,
              memref::SubViewOp, memref::CastOp, memref::ViewOp>(op);
}

llvm::MapVector<Value, bool> alula::kernel::findMemory(Operation *op) {
  llvm::MapVector<Value, bool> memory;
  // Numbers have many users.
  llvm::SmallPtrSet<Operation *, 16> seen;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<MemRefType>(operand.getType()))
        memory[findRoot(operand)] |= mayWrite(inner);
    // Pointers that are taken before it.
    for (Value operand : inner->getOperands()) {
      SmallVector<Value> open{operand};
      while (!open.empty()) {
        Operation *owner = open.pop_back_val().getDefiningOp();
        if (!owner || op->isAncestor(owner) || !seen.insert(owner).second)
          continue;
        if (isa<memref::ExtractAlignedPointerAsIndexOp>(owner))
          memory[findRoot(owner->getOperand(0))] = true;
        else if (!isa<memref::AllocOp>(owner))
          open.append(owner->operand_begin(), owner->operand_end());
      }
    }
  });
  return memory;
}
