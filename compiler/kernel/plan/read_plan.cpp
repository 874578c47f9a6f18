// What the stages of a block say together.

#include "compiler/kernel/plan/plan.h"

#include "compiler/kernel/element/generators.h"
#include "dialect/stablehlo/element_rules.h"

using namespace mlir;
using namespace alula::kernel;
using alula::plan::Kind;
using alula::plan::Memory;
using alula::plan::StageAttr;

namespace {
class PlanReader {
public:
  void read(Operation *op) {
    StageAttr stage = getStage(op);
    if (!stage) {
      // Scalars, one after the other.
      if (hasGenerator(op) && !op->hasTrait<mlir::OpTrait::ConstantLike>())
        plan.inlined.insert(op);
      return;
    }
    switch (stage.getKind()) {
    case Kind::Attention:
      if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
        products.push_back(product);
      return;
    case Kind::Inline:
      plan.inlined.insert(op);
      return;
    case Kind::Epilogue:
      addToEpilogue(op, producers.lookup(stage.getNumber()));
      return;
    case Kind::Rows:
      if (stage.getMemory() != Memory::Unsaid)
        addToNest(op, stage);
      return;
    case Kind::Product:
    case Kind::Columns:
      producers[stage.getNumber()] = op;
      return;
    default:
      return;
    }
  }

  /// The second product of each attention knows the rest.
  void readAttentions() {
    for (stablehlo::DotGeneralOp product : products)
      if (auto attention = alula::dispatch::matchAttention(
              product, alula::dispatch::getMachine(product)))
        plan.attentions.add(std::move(*attention));
  }

  BlockPlan plan;

private:
  void addToEpilogue(Operation *op, Operation *producer) {
    // The last one so far is between now.
    Operation *&last = plan.epilogues.lastOf[producer];
    if (last) {
      plan.epilogues.producerOf.erase(last);
      plan.inlined.insert(last);
    }
    last = op;
    plan.epilogues.producerOf[op] = producer;
  }

  void addToNest(Operation *op, StageAttr stage) {
    auto [found, isNew] =
        nests.try_emplace(stage.getNumber(), plan.nests.all.size());
    if (isNew)
      plan.nests.all.emplace_back();
    RowNest &nest = plan.nests.all[found->second];
    if (auto rows = stablehlo::getReducedRows(op))
      nest.rows = llvm::to_vector(*rows);
    nest.members.insert(op);
    nest.memory[op] = stage.getMemory();
    if (stage.getFused())
      nest.fused.insert(op);
    if (stage.getMemory() == Memory::Inline)
      plan.inlined.insert(op);
    plan.nests.numberOf[op] = found->second;
  }

  DenseMap<int64_t, Operation *> producers;
  DenseMap<int64_t, size_t> nests;
  SmallVector<stablehlo::DotGeneralOp> products;
};
} // namespace

BlockPlan alula::kernel::readPlan(Block &block) {
  PlanReader reader;
  for (Operation &op : block.without_terminator())
    reader.read(&op);
  reader.readAttentions();
  return std::move(reader.plan);
}
