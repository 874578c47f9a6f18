#include "dialect/sdy/dialect.h"
#include "dialect/sdy/ops.h"
#include "dialect/sdy/verify_rule.h"
#include "dialect/sdy/verify_sharding.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::sdy;

#include "dialect/sdy/dialect.cpp.inc"
#include "dialect/sdy/enums.cpp.inc"

namespace {
/// Calls may stand where they like, in bodies for each device too.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void SdyDialect::initialize() {
  addInterfaces<Inliner>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/sdy/ops.cpp.inc"
      >();
}

/// `sdy.sharding` on an argument or result of a function.
static LogicalResult verifyFunctionValue(Operation *op, NamedAttribute attr,
                                         TypeRange types, unsigned index,
                                         StringRef kind) {
  if (attr.getName() != shardingAttrName || index >= types.size())
    return success();
  auto report = [op, index, kind] {
    return op->emitOpError() << kind << " " << index << ": ";
  };
  auto sharding = dyn_cast<TensorShardingAttr>(attr.getValue());
  if (!sharding)
    return report() << "'" << shardingAttrName
                    << "' must be #sdy.sharding: " << attr.getValue();
  return verifySharding(sharding, types[index], op, report);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op,
                                                   unsigned /*regionIndex*/,
                                                   unsigned argIndex,
                                                   NamedAttribute attr) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return verifyFunctionValue(op, attr, function.getArgumentTypes(), argIndex,
                               "argument");
  return success();
}

LogicalResult SdyDialect::verifyRegionResultAttribute(Operation *op,
                                                      unsigned /*regionIndex*/,
                                                      unsigned resultIndex,
                                                      NamedAttribute attr) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return verifyFunctionValue(op, attr, function.getResultTypes(), resultIndex,
                               "result");
  return success();
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  Attribute value = attr.getValue();
  if (attr.getName() == shardingAttrName) {
    auto shardings = dyn_cast<TensorShardingPerValueAttr>(value);
    if (!shardings)
      return op->emitOpError()
             << "'" << shardingAttrName
             << "' must be #sdy.sharding_per_value: " << value;
    return verifyShardings(shardings, op->getResultTypes(), op, "result");
  }
  if (attr.getName() == shardingRuleAttrName) {
    auto rule = dyn_cast<OpShardingRuleAttr>(value);
    if (!rule)
      return op->emitOpError() << "'" << shardingRuleAttrName
                               << "' must be #sdy.op_sharding_rule: " << value;
    return verifyShardingRule(rule, op);
  }
  if (attr.getName() == propagationEdgesAttrName) {
    auto edges = dyn_cast<PropagationEdgesAttr>(value);
    if (!edges)
      return op->emitOpError() << "'" << propagationEdgesAttrName
                               << "' must be #sdy.propagation_edges: " << value;
    return verifyPropagationEdges(edges, op);
  }
  if (attr.getName() == resultPropagationEdgesAttrName ||
      attr.getName() == blockArgPropagationEdgesAttrName) {
    auto array = dyn_cast<ArrayAttr>(value);
    if (!array || !llvm::all_of(array, llvm::IsaPred<PropagationEdgesAttr>))
      return op->emitOpError()
             << "'" << attr.getName().getValue()
             << "' must be an array of #sdy.propagation_edges: " << value;
  }
  return success();
}
