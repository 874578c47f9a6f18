#include "compiler/target/cpu/kernel/product_call.h"

#include "compiler/kernel/element/scalar.h"
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/library/product_narrow.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// Bytes with or without a sign, as the library gets them.
bool isByte(Type type) {
  return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8;
}
} // namespace

void alula::cpu::callProduct(Lowering &lowering, const ProductTypes &types,
                             const ProductCall &call) {
  ImplicitLocOpBuilder &b = lowering.b;
  auto toInteger = [&](Value size, int64_t otherwise) -> Value {
    return b.create<arith::IndexCastOp>(
        b.getI64Type(), size ? size : lowering.index(otherwise));
  };
  auto getTable = [&](Value table) -> Value {
    if (table)
      return table;
    return b.create<LLVM::ZeroOp>(LLVM::LLVMPointerType::get(b.getContext()));
  };
  Value add = call.adds;
  if (!add)
    add = b.create<arith::ConstantOp>(b.getI32IntegerAttr(0));
  // Of integers whose sums wrap nothing depends on a sign.
  Type left = getMemoryType(types.left);
  bool isNarrow = left != types.sum;
  int64_t scratchBytes =
      isNarrow ? alula_product_narrow_scratch_bytes()
               : alula_product_scratch_bytes(
                     call.columnLimit * types.sum.getIntOrFloatBitWidth() / 8);
  SmallVector<Value> arguments{call.output,
                               toInteger(call.outputGroup, 0),
                               toInteger(call.outputRow, 0),
                               call.left.pointer,
                               toInteger(call.leftGroup, 0),
                               toInteger(call.left.rowStride, 0),
                               toInteger(call.left.columnStride, 0),
                               getTable(call.offsets),
                               toInteger(call.pieces, 1),
                               toInteger(call.depth, 0),
                               call.right.pointer,
                               toInteger(call.right.rowStride, 0),
                               toInteger(call.right.columnStride, 0)};
  arguments.append({toInteger(call.right.panelStride, 0),
                    getTable(call.rightOffsets), toInteger(call.groups, 1),
                    toInteger(call.rows, 0), toInteger(call.columns, 0), add});
  if (isByte(types.right))
    arguments.push_back(b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(types.right.isUnsignedInteger())));
  arguments.push_back(lowering.getPointer(
      lowering.createTemporary({lowering.index(scratchBytes)}, b.getI8Type())));
  lowering.callLibrary("alula_product_" +
                           getLibraryName(isNarrow ? types.left : left),
                       arguments);
}
