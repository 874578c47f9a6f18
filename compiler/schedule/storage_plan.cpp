#include "compiler/schedule/storage_plan.h"

using namespace mlir;
using namespace alula::schedule;

int StoragePlan::getMemoryNumber(Value value) const {
  return numbers.at(value);
}

ArrayRef<PlannedMove> StoragePlan::getMoves(Operation *op) const {
  auto found = moves.find(op);
  return found == moves.end() ? ArrayRef<PlannedMove>() : found->second;
}

ArrayRef<int> StoragePlan::getFrees(Operation *op) const {
  auto found = frees.find(op);
  return found == frees.end() ? ArrayRef<int>() : found->second;
}
