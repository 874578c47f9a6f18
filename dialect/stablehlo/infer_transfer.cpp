// Inference and verifiers of infeed, outfeed, send and recv.

#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/replica_groups.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// The numbers of the channel kinds in channel_handle.
enum ChannelType : int64_t {
  deviceToDevice = 1,
  deviceToHost = 2,
  hostToDevice = 3,
};

StringRef channelTypeName(int64_t type) {
  switch (type) {
  case deviceToDevice:
    return "DEVICE_TO_DEVICE (1)";
  case deviceToHost:
    return "DEVICE_TO_HOST (2)";
  default:
    return "HOST_TO_DEVICE (3)";
  }
}

LogicalResult verifyChannel(const RuleSite &site, ChannelHandleAttr channel,
                            bool isHostTransfer, ChannelType hostType,
                            std::optional<DenseIntElementsAttr> pairs) {
  int64_t expected = isHostTransfer ? hostType : deviceToDevice;
  if (channel.getType() != expected)
    return site.fail("channel type must be ", channelTypeName(expected), " if "
                     "is_host_transfer is ",
                     isHostTransfer ? "true" : "false", ": is ",
                     channel.getType());
  // An empty list stands for none.
  if (!pairs || pairs->empty())
    return success();
  return verifySourceTargetPairs(site, *pairs);
}

/// Tensors and then one token: what is received.
LogicalResult verifyReceived(const RuleSite &site, TypeRange results) {
  if (results.empty())
    return site.fail("results must end with a token: there are none");
  if (!isToken(results.back()))
    return site.fail("results must end with a token: last is ",
                     results.back());
  for (auto [index, type] : llvm::enumerate(results.drop_back()))
    if (isToken(type))
      return site.fail("results before the last must be tensors: result ",
                       index, " is ", type);
  return success();
}

/// Lists of minor-to-major dimensions, one for each received tensor.
LogicalResult verifyLayouts(const RuleSite &site, ArrayAttr layouts,
                            size_t count) {
  if (layouts.size() != count)
    return site.fail("layout must have an entry for each tensor: ", count,
                     " tensors, ", layouts.size(), " entries");
  for (Attribute layout : layouts) {
    auto dims = dyn_cast<ArrayAttr>(layout);
    if (!dims)
      return site.fail("layout must have arrays of integers: has ", layout);
    for (Attribute dim : dims)
      if (!isa<IntegerAttr>(dim))
        return site.fail("layout must have arrays of integers: has ", dim);
  }
  return success();
}
} // namespace

LogicalResult InfeedOp::verify() {
  RuleSite site(*this);
  if (failed(verifyReceived(site, getResultTypes())))
    return failure();
  if (!getLayout())
    return success();
  return verifyLayouts(site, *getLayout(), getNumResults() - 1);
}

LogicalResult OutfeedOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location>, ValueRange, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &inferred) {
  inferred.push_back(TokenType::get(context));
  return success();
}

LogicalResult SendOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location>, ValueRange,
                                       DictionaryAttr, OpaqueProperties,
                                       RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  inferred.push_back(TokenType::get(context));
  return success();
}

LogicalResult SendOp::verify() {
  return verifyChannel(RuleSite(*this), getChannelHandle(),
                       getIsHostTransfer(), deviceToHost,
                       getSourceTargetPairs());
}

LogicalResult RecvOp::verify() {
  RuleSite site(*this);
  if (failed(verifyChannel(site, getChannelHandle(), getIsHostTransfer(),
                           hostToDevice, getSourceTargetPairs())))
    return failure();
  return verifyReceived(site, getResultTypes());
}
