#include "reference/op_table.h"

namespace alula::reference {

OpTable::OpTable() {
  addElementwiseOps(*this);
  addShapeOps(*this);
  addSliceOps(*this);
  addReduceOps(*this);
  addReduceWindowOps(*this);
  addBatchNormOps(*this);
  addDotOps(*this);
  addConvOps(*this);
  addFftOps(*this);
  addLinearAlgebraOps(*this);
  addGatherScatterOps(*this);
  addSortOps(*this);
  addRngOps(*this);
  addControlOps(*this);
  addCollectiveOps(*this);
  addTransferOps(*this);
  addQuantizeOps(*this);
  addCustomCallOps(*this);
  addCheckOps(*this);
  addProcessOps(*this);
}

const OpTable &OpTable::get() {
  static const OpTable table;
  return table;
}

} // namespace alula::reference
