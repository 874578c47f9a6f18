// Takes away what means nothing on one device: shardings of values, meshes,
// and attributes of other systems on functions and the module.
//
//   custom_call @Sharding(%x), sdy.sharding_constraint %x  →  %x
//   custom_call @annotate_device_placement(%x)             →  %x
//   custom_call @LayoutConstraint(%x)                      →  %x
//
// Only where the module is for one partition, but for placements and layouts of
// values. The layouts of arguments and results are the partition room's.

#include "dialect/stablehlo/device_counts.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTSTRIPSHARDING
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

#define DEBUG_TYPE "input-strip-sharding"

namespace {
bool isShardingName(StringRef name) {
  return name == "mhlo.sharding" || name.starts_with("sdy.") ||
         name.starts_with("xla.sdy.") || name == "mhlo.spmd_output_sharding" ||
         name == "mhlo.spmd_parameters_shardings" ||
         name == "mhlo.xla_entry_computation_parameter_layouts" ||
         name == "mhlo.xla_entry_computation_result_layout" ||
         name == "mhlo.xla_entry_computation_parameter_tiles" ||
         name == "mhlo.xla_entry_computation_result_tiles" ||
         name == "mhlo.frontend_attributes" || name == "mhlo.memory_kind";
}

/// An op that only says in which memory, or in which order of dimensions, a
/// value should lie. Further operands are sizes of the result.
bool isPlacement(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (!call || op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getOperandTypes()[0] != op->getResultTypes()[0])
    return false;
  StringRef target = call.getCallTargetName();
  return target == "LayoutConstraint" ||
         (target == "annotate_device_placement" && op->getNumOperands() == 1);
}

/// An op that hands its operands on.
bool isPassThrough(Operation *op) {
  if (op->getNumOperands() != op->getNumResults() || op->getNumRegions() != 0 ||
      op->getOperandTypes() != op->getResultTypes())
    return false;
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
    StringRef target = call.getCallTargetName();
    return target == "Sharding" || target == "SPMDFullToShardShape" ||
           target == "SPMDShardToFullShape" ||
           target == "xla.sdy.FuncResultSharding" ||
           target == "xla.sdy.GlobalToLocalShape" ||
           target == "xla.sdy.LocalToGlobalShape";
  }
  StringRef name = op->getName().getStringRef();
  return name == "sdy.sharding_constraint" || name == "sdy.reshard" ||
         name == "sdy.propagation_barrier";
}

DictionaryAttr strip(DictionaryAttr attributes) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes)
    if (!isShardingName(attribute.getName()))
      kept.push_back(attribute);
  return DictionaryAttr::get(attributes.getContext(), kept);
}

ArrayAttr strip(ArrayAttr dictionaries) {
  SmallVector<Attribute> kept;
  for (Attribute attribute : dictionaries)
    kept.push_back(strip(cast<DictionaryAttr>(attribute)));
  return ArrayAttr::get(dictionaries.getContext(), kept);
}

struct StripSharding
    : alula::input::impl::InputStripShardingBase<StripSharding> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter rewriter(&getContext());
    module.walk([&](Operation *op) {
      if (isPlacement(op))
        rewriter.replaceOp(op, op->getOperand(0));
    });
    if (stablehlo::getPartitionCount(module) > 1)
      return;
    SmallVector<Operation *> meshes;
    module.walk([&](Operation *op) {
      if (isPassThrough(op))
        return rewriter.replaceOp(op, op->getOperands());
      if (op->getName().getStringRef() == "sdy.mesh")
        meshes.push_back(op);
      op->setDiscardableAttrs(strip(op->getDiscardableAttrDictionary()));
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function)
        return;
      if (ArrayAttr arguments = function.getArgAttrsAttr())
        function.setArgAttrsAttr(strip(arguments));
      if (ArrayAttr results = function.getResAttrsAttr())
        function.setResAttrsAttr(strip(results));
    });
    // A mesh that collectives name by its axes stays.
    for (Operation *mesh : meshes)
      if (SymbolTable::symbolKnownUseEmpty(mesh, module))
        rewriter.eraseOp(mesh);
  }
};
} // namespace
