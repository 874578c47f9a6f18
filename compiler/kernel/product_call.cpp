#include "compiler/kernel/product_call.h"

#include "compiler/kernel/library/product.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace alula::kernel;

static_assert(alula::dispatch::panelBytes == ALULA_PANEL_BYTES);

void alula::kernel::callProduct(Lowering &lowering, Type sumType,
                                const ProductCall &call) {
  ImplicitLocOpBuilder &b = lowering.b;
  auto toInteger = [&](Value size, int64_t otherwise) -> Value {
    return b.create<arith::IndexCastOp>(
        b.getI64Type(), size ? size : lowering.index(otherwise));
  };
  Value offsets = call.offsets
                      ? lowering.getPointer(call.offsets)
                      : b.create<LLVM::ZeroOp>(
                             LLVM::LLVMPointerType::get(b.getContext()))
                            .getResult();
  Value scratch = lowering.createTemporary(
      {lowering.index(alula_product_scratch_bytes())}, b.getI8Type());
  Value add = b.create<arith::ConstantOp>(b.getI32IntegerAttr(0));
  lowering.callLibrary(
      "alula_product_" + getLibraryName(sumType),
      {call.output, toInteger(call.outputGroup, 0), toInteger(call.outputRow, 0),
       call.left.pointer, toInteger(call.leftGroup, 0),
       toInteger(call.left.rowStride, 0), toInteger(call.left.columnStride, 0),
       offsets, toInteger(call.pieces, 1), toInteger(call.depth, 0),
       call.right.pointer, toInteger(call.right.rowStride, 0),
       toInteger(call.right.columnStride, 0),
       toInteger(call.right.panelStride, 0), toInteger(call.groups, 1),
       toInteger(call.rows, 0), toInteger(call.columns, 0), add,
       lowering.getPointer(scratch)});
}
