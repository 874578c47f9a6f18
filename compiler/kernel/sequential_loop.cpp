#include "compiler/kernel/sequential_loop.h"

#include "compiler/kernel/element/reader.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

SmallVector<Value> alula::kernel::createSequentialLoop(Reader &reader,
                                                       Value lower, Value upper,
                                                       ValueRange initial,
                                                       Loops::Fold body) {
  auto loop =
      reader.b.create<scf::ForOp>(lower, upper, reader.index(1), initial);
  OpBuilder::InsertionGuard guard(reader.b);
  // Without carried values there is a terminator already.
  if (initial.empty())
    reader.b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    reader.b.setInsertionPointToEnd(loop.getBody());
  Reader::Scope scope(reader);
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    reader.b.create<scf::YieldOp>(next);
  return llvm::to_vector(ValueRange(loop.getResults()));
}
