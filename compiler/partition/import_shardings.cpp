// What a program says of shardings, in ops that later rooms leave alone:
//
//   %r = op(%x) {sdy.sharding = …}  →  %r' = op(%x)
//                                      %r = sdy.sharding_constraint %r' …
//   custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,1]<=[2]}"}
//                                   →  sdy.sharding_constraint %x …
//
// Before the input room, since attributes of ops are lost when ops are
// rewritten.

#include "compiler/partition/gspmd_text.h"
#include "compiler/partition/passes.h"

#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/device_counts.h"

#include "mlir/IR/PatternMatch.h"

namespace alula::partition {
#define GEN_PASS_DEF_IMPORTSHARDINGS
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;
using namespace alula::partition;

namespace {

/// XLA's text as Shardy's attribute; null if it divides nothing.
sdy::TensorShardingAttr translate(StringRef text, RankedTensorType type,
                                  int64_t devices) {
  auto placement = readGspmdText(text, static_cast<unsigned>(type.getRank()),
                                 type.getContext());
  if (!placement || !placement->mesh ||
      placement->mesh.getDeviceCount() != devices)
    return {};
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (const Placement::Axes &axes : placement->dims)
    dims.push_back(sdy::DimensionShardingAttr::get(type.getContext(), axes,
                                                   /*is_closed=*/true,
                                                   std::nullopt));
  return sdy::TensorShardingAttr::get(type.getContext(), placement->mesh, dims,
                                      {}, {});
}

bool isMesh(sdy::TensorShardingAttr sharding, Operation *op) {
  sdy::MeshAttr mesh = sharding.lookupMesh(op);
  return mesh && !mesh.isMaximal() && !mesh.isEmpty();
}

struct ImportShardings
    : alula::partition::impl::ImportShardingsBase<ImportShardings> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    devices = stablehlo::getPartitionCount(module);
    if (devices == 1)
      return;
    SmallVector<Operation *> marked;
    module.walk([&](Operation *op) {
      if (op->getNumResults() > 0 &&
          (op->hasAttr(sdy::shardingAttrName) || op->hasAttr(gspmdName)))
        marked.push_back(op);
    });
    for (Operation *op : marked) {
      importShardy(op);
      importGspmd(op);
    }
  }

  void importShardy(Operation *op) {
    auto all = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(
        sdy::shardingAttrName);
    if (!all || all.getShardings().size() != op->getNumResults())
      return;
    bool isFollowed = true;
    for (auto [result, sharding] :
         llvm::zip_equal(op->getResults(), all.getShardings()))
      if (isMesh(sharding, op) && isa<RankedTensorType>(result.getType()))
        constrain(result, sharding);
      else
        isFollowed = false;
    if (isFollowed)
      op->removeAttr(sdy::shardingAttrName);
  }

  void importGspmd(Operation *op) {
    auto text = op->getAttrOfType<StringAttr>(gspmdName);
    if (!text || op->getNumResults() != 1)
      return;
    Value result = op->getResult(0);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    auto sharding = type ? translate(text.getValue(), type, devices)
                         : sdy::TensorShardingAttr();
    if (!sharding)
      return;
    Value constrained = constrain(result, sharding);
    op->removeAttr(gspmdName);
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    if (!call || call.getCallTargetName() != "Sharding" ||
        op->getOperandTypes() != op->getResultTypes())
      return;
    constrained.getDefiningOp()->setOperand(0, op->getOperand(0));
    op->erase();
  }

  Value constrain(Value value, sdy::TensorShardingAttr sharding) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfter(value.getDefiningOp());
    auto constraint = builder.create<sdy::ShardingConstraintOp>(
        value.getLoc(), value.getType(), value, sharding);
    value.replaceAllUsesExcept(constraint.getResult(), constraint);
    return constraint.getResult();
  }

  int64_t devices = 1;
};
} // namespace
