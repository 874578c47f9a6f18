#include "dialect/vhlo/export_nodes.h"

#include "dialect/sdy/dialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace alula::vhlo {

template <typename AttrTy>
static SmallVector<Attribute> asAttributes(ArrayRef<AttrTy> list) {
  return SmallVector<Attribute>(list.begin(), list.end());
}

uint32_t NodeExporter::makeTensorSharding(Attribute attribute) {
  constexpr bool portable = false;
  auto sharding = cast<mlir::sdy::TensorShardingAttr>(attribute);
  bool isUnreduced = !sharding.getUnreducedAxes().empty();
  bool isSum = sharding.getReductionOp() == mlir::sdy::ReductionOp::SUM;
  Words words;
  if (!addAttribute(sharding.getMeshOrRef(), words, portable) ||
      !addAttributes(asAttributes(sharding.getDimShardings()), words,
                     portable) ||
      !addAttributes(asAttributes(sharding.getReplicatedAxes()), words,
                     portable))
    return none;
  if (isUnreduced && !addAttributes(asAttributes(sharding.getUnreducedAxes()),
                                    words, portable))
    return none;
  if (isUnreduced && !isSum)
    words.push_back(uint64_t(sharding.getReductionOp()));
  sdy::Attr code = !isUnreduced ? sdy::Attr::TensorSharding
                   : isSum      ? sdy::Attr::UnreducedTensorSharding
                                : sdy::Attr::ReducedTensorSharding;
  return addNode(Family::Sdy, /*isType=*/false, uint16_t(code), words);
}

uint32_t NodeExporter::makeSdyAttribute(Attribute attribute) {
  namespace shard = mlir::sdy;
  constexpr bool portable = false;
  Words words;
  auto add = [&](sdy::Attr code) {
    return addNode(Family::Sdy, /*isType=*/false, uint16_t(code), words);
  };
  // An attribute that is nothing but a list of others.
  auto list = [&](auto elements, sdy::Attr code) {
    return addAttributes(asAttributes(elements), words, portable) ? add(code)
                                                                  : none;
  };
  return llvm::TypeSwitch<Attribute, uint32_t>(attribute)
      .Case([&](shard::ManualAxesAttr value) {
        return list(value.getValue(), sdy::Attr::ManualAxes);
      })
      .Case([&](shard::MeshAxisAttr value) {
        words.push_back(string(value.getName()));
        words.push_back(uint64_t(value.getSize()));
        return add(sdy::Attr::MeshAxis);
      })
      .Case([&](shard::MeshAttr value) {
        if (!addAttributes(asAttributes(value.getAxes()), words, portable))
          return none;
        addNumbers(value.getDeviceIds(), words);
        return add(sdy::Attr::Mesh);
      })
      .Case([&](shard::SubAxisInfoAttr value) {
        words.push_back(uint64_t(value.getPreSize()));
        words.push_back(uint64_t(value.getSize()));
        return add(sdy::Attr::SubAxisInfo);
      })
      .Case([&](shard::AxisRefAttr value) {
        words.push_back(string(value.getName()));
        words.push_back(bool(value.getSubAxisInfo()));
        if (value.getSubAxisInfo() &&
            !addAttribute(value.getSubAxisInfo(), words, portable))
          return none;
        return add(sdy::Attr::AxisRef);
      })
      .Case([&](shard::DimensionShardingAttr value) {
        if (!addAttributes(asAttributes(value.getAxes()), words, portable))
          return none;
        words.push_back(value.getIsClosed());
        std::optional<int64_t> priority = value.getPriority();
        words.push_back(priority ? uint64_t(*priority) << 1 | 1 : 0);
        return add(sdy::Attr::DimensionSharding);
      })
      .Case([&](shard::TensorShardingAttr value) {
        return makeTensorSharding(value);
      })
      .Case([&](shard::TensorShardingPerValueAttr value) {
        bool isUnreduced = llvm::any_of(value.getShardings(), [](auto each) {
          return !each.getUnreducedAxes().empty();
        });
        return list(value.getShardings(),
                    isUnreduced ? sdy::Attr::UnreducedPerValue
                                : sdy::Attr::TensorShardingPerValue);
      })
      .Case([&](shard::DimMappingAttr value) {
        addNumbers(value.getFactorIndices(), words);
        return add(sdy::Attr::DimMapping);
      })
      .Case([&](shard::TensorMappingAttr value) {
        return list(value.getDimMappings(), sdy::Attr::TensorMapping);
      })
      .Case([&](shard::OpShardingRuleAttr value) {
        addNumbers(value.getFactorSizes(), words);
        if (!addAttributes(asAttributes(value.getOperandMappings()), words,
                           portable) ||
            !addAttributes(asAttributes(value.getResultMappings()), words,
                           portable))
          return none;
        addNumbers(value.getReductionFactors(), words);
        addNumbers(value.getNeedReplicationFactors(), words);
        addNumbers(value.getPermutationFactors(), words);
        addNumbers(value.getBlockedPropagationFactors(), words);
        words.push_back(value.getIsCustomRule());
        return add(sdy::Attr::OpShardingRule);
      })
      .Case([&](shard::AxisRefListAttr value) {
        return list(value.getValue(), sdy::Attr::AxisRefList);
      })
      .Case([&](shard::ListOfAxisRefListsAttr value) {
        return list(value.getValue(), sdy::Attr::ListOfAxisRefLists);
      })
      .Case([&](shard::AllToAllParamAttr value) {
        if (!addAttributes(asAttributes(value.getAxes()), words, portable))
          return none;
        words.push_back(uint64_t(value.getSrcDim()));
        words.push_back(uint64_t(value.getTgtDim()));
        return add(sdy::Attr::AllToAllParam);
      })
      .Case([&](shard::AllToAllParamListAttr value) {
        return list(value.getValue(), sdy::Attr::AllToAllParamList);
      })
      .Default([&](Attribute other) {
        // What propagation leaves behind has no bytes of its own.
        std::string text;
        llvm::raw_string_ostream(text) << other;
        return addText(/*isType=*/false, "sdy", std::move(text));
      });
}

} // namespace alula::vhlo
