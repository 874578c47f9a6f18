// Which function computes the elements of which op.

#include "compiler/kernel/element/generators.h"

#include "dialect/chlo/functions.h"
#include "dialect/dispatch/ops.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/element_rules.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
const llvm::StringMap<Generator> &getTable() {
  static const llvm::StringMap<Generator> table = {
      {"bitcast_convert", generateBitcast},
      {"broadcast", generateBroadcast},
      {"broadcast_in_dim", generateBroadcast},
      {"concatenate", generateConcatenate},
      {"constant", generateConstant},
      {"dynamic_broadcast_in_dim", generateBroadcast},
      {"dynamic_gather", generateGather},
      {"dynamic_iota", generateIota},
      {"dynamic_pad", generatePad},
      {"dynamic_reshape", generateReshape},
      {"dynamic_slice", generateDynamicSlice},
      {"gather", generateGather},
      {"get_dimension_size", generateDimensionSize},
      {"iota", generateIota},
      {"map", generateMap},
      {"pad", generatePad},
      {"real_dynamic_slice", generateRealDynamicSlice},
      {"reshape", generateReshape},
      {"reverse", generateReverse},
      {"set_dimension_size", generateSetDimensionSize},
      {"slice", generateSlice},
      {"transpose", generateTranspose},
  };
  return table;
}
} // namespace

Generator alula::kernel::findGenerator(Operation *op) {
  if (isa<alula::dispatch::PackOp>(op))
    return generatePack;
  if (isa<alula::dispatch::FromPanelsOp>(op))
    return generateFromPanels;
  // Spelled out before: kernels have their formulas.
  if (!chlo::isTensorOp(op) || chlo::isSpecialFunction(op))
    return nullptr;
  if (Generator found = getTable().lookup(op->getName().stripDialect()))
    return found;
  if (alula::dispatch::isShortSum(op))
    return generateShortSum;
  return stablehlo::isElementwise(op) ? generateElementwise : nullptr;
}

bool alula::kernel::hasGenerator(Operation *op) {
  return findGenerator(op) != nullptr;
}
