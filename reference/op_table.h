// Which function computes which op: one list for each family of ops.
#pragma once

#include "reference/evaluator.h"

namespace alula::reference {

class OpTable {
public:
  /// Every op that the reference knows, built once.
  static const OpTable &get();

  void add(llvm::StringRef name, Handler handler,
           Quantized quantized = Quantized::Stored, bool pure = true) {
    entries[name] = {handler, quantized, pure};
  }
  const OpEntry *find(llvm::StringRef name) const {
    auto it = entries.find(name);
    return it == entries.end() ? nullptr : &it->second;
  }
  const llvm::StringMap<OpEntry> &getEntries() const { return entries; }

private:
  OpTable();
  llvm::StringMap<OpEntry> entries;
};

void addElementwiseOps(OpTable &table);
void addShapeOps(OpTable &table);
void addSliceOps(OpTable &table);
void addReduceOps(OpTable &table);
void addReduceWindowOps(OpTable &table);
void addBatchNormOps(OpTable &table);
void addDotOps(OpTable &table);
void addConvOps(OpTable &table);
void addFftOps(OpTable &table);
void addLinearAlgebraOps(OpTable &table);
void addGatherScatterOps(OpTable &table);
void addSortOps(OpTable &table);
void addRngOps(OpTable &table);
void addControlOps(OpTable &table);
void addCollectiveOps(OpTable &table);
void addTransferOps(OpTable &table);
void addQuantizeOps(OpTable &table);
void addCustomCallOps(OpTable &table);
void addCheckOps(OpTable &table);
void addProcessOps(OpTable &table);

} // namespace alula::reference
