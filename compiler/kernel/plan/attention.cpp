#include "compiler/kernel/plan/attention.h"

#include "compiler/kernel/element/generators.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace alula::kernel;
using alula::dispatch::Attention;

void Attentions::add(Attention attention) {
  for (Operation *op : attention.members)
    numberOf[op] = all.size();
  all.push_back(std::move(attention));
}

Attentions alula::kernel::planAttentions(Block &block) {
  Attentions found;
  // Loops inside of a kernel have one workgroup.
  if (!isa_and_nonnull<func::FuncOp>(block.getParentOp()))
    return found;
  auto machine = dispatch::getMachine(block.getParentOp());
  for (auto product : block.getOps<stablehlo::DotGeneralOp>()) {
    if (found.find(product))
      continue;
    auto attention = dispatch::matchAttention(product, machine);
    if (attention &&
        llvm::none_of(attention->members,
                      [&](Operation *op) { return found.find(op); }) &&
        llvm::all_of(attention->elementwise, hasGenerator))
      found.add(std::move(*attention));
  }
  return found;
}
