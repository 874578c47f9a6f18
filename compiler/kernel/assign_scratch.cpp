// Puts temporaries into the scratch memory of the call.
//   memref.alloc() : memref<4xf32>  →  memref.view %scratch[64] : …
// Relies on: every alloc has a static size.

#include "compiler/kernel/passes.h"
#include "dialect/dispatch/byte_size.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace alula::kernel {
#define GEN_PASS_DEF_ASSIGNSCRATCH
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using alula::dispatch::EntryOp;
using alula::dispatch::getByteSize;

namespace {
struct AssignScratch
    : public alula::kernel::impl::AssignScratchBase<AssignScratch> {
  void runOnOperation() override {
    for (auto entry : getOperation().getBody().getOps<EntryOp>()) {
      auto function =
          getOperation().getInnerModule().lookupSymbol<func::FuncOp>(
              entry.getSymName());
      // A tool that lowered a body further has placed its temporaries.
      if (function && failed(assign(function, entry)))
        return signalPassFailure();
    }
  }

  /// Pointers to a temporary. MLIR takes a view's pointer for that of its
  /// source, so they are moved here.
  static void placePointers(func::FuncOp function, memref::AllocOp alloc,
                            Value scratch, int64_t offset) {
    function.walk([&](memref::ExtractAlignedPointerAsIndexOp pointer) {
      Value source = pointer.getSource();
      while (auto cast = source.getDefiningOp<memref::ReinterpretCastOp>())
        source = cast.getSource();
      if (source != alloc.getResult())
        return;
      OpBuilder builder(pointer);
      Location location = pointer.getLoc();
      Value base = builder.create<memref::ExtractAlignedPointerAsIndexOp>(
          location, scratch);
      Value shift = builder.create<arith::ConstantIndexOp>(location, offset);
      Value moved = builder.create<arith::AddIOp>(location, base, shift);
      pointer.replaceAllUsesWith(moved);
    });
  }

  static LogicalResult assign(func::FuncOp function, EntryOp entry) {
    // A temporary of a loop has one place for all iterations.
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    if (allocs.empty())
      return success();

    auto alignment = static_cast<uint64_t>(getMachine(entry).alignment);
    int64_t total = 0;
    SmallVector<int64_t> offsets;
    for (memref::AllocOp alloc : allocs) {
      std::optional<int64_t> bytes = getByteSize(alloc.getType());
      if (!bytes)
        return alloc.emitError() << "'memref.alloc': size of a temporary must "
                                    "be known: "
                                 << alloc.getType();
      offsets.push_back(total);
      total += static_cast<int64_t>(llvm::alignTo(*bytes, alignment));
    }

    auto builder = OpBuilder::atBlockBegin(&function.front());
    total = std::max<int64_t>(total, 1);
    auto scratchType = MemRefType::get({total}, builder.getI8Type());
    Value scratch =
        function.front().addArgument(scratchType, function.getLoc());
    function.setType(
        builder.getFunctionType(function.front().getArgumentTypes(), {}));
    entry.setScratchBytes(static_cast<uint64_t>(total));
    for (auto [alloc, offset] : llvm::zip_equal(allocs, offsets))
      placePointers(function, alloc, scratch, offset);
    for (auto [alloc, offset] : llvm::zip_equal(allocs, offsets)) {
      builder.setInsertionPoint(alloc);
      Value shift =
          builder.create<arith::ConstantIndexOp>(alloc.getLoc(), offset);
      auto plain = MemRefType::get(alloc.getType().getShape(),
                                   alloc.getType().getElementType());
      Value view = builder.create<memref::ViewOp>(alloc.getLoc(), plain,
                                                  scratch, shift, ValueRange());
      alloc.replaceAllUsesWith(view);
      alloc.erase();
    }
    return success();
  }
};
} // namespace
