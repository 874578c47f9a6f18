#pragma once

#include "dialect/stablehlo/traits.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::chlo {

/// The shape that both broadcast to, aligned at the last dimensions. A `?`
/// against 1 or another `?` stays `?`. Nothing if they contradict each other.
std::optional<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> a,
                                                    ArrayRef<int64_t> b);
/// The dimensions of a result of `rank` that an operand of `operandRank` goes
/// to: the written ones if it is the smaller, the last ones otherwise.
SmallVector<int64_t>
getBroadcastDimensions(int64_t rank, int64_t operandRank,
                       std::optional<ArrayRef<int64_t>> written);

namespace OpTrait {
namespace detail {
enum class BroadcastElement { Operand, Pred, Complex };
LogicalResult inferBroadcast(std::optional<Location> location, StringRef opName,
                             ValueRange operands,
                             std::optional<ArrayRef<int64_t>> dimensions,
                             BroadcastElement element,
                             SmallVectorImpl<Type> &inferred);
LogicalResult inferPred(ValueRange operands, SmallVectorImpl<Type> &inferred);

template <typename ConcreteOp, BroadcastElement element>
LogicalResult inferBroadcastOf(std::optional<Location> location,
                               ValueRange operands, DictionaryAttr attributes,
                               OpaqueProperties properties, RegionRange regions,
                               SmallVectorImpl<Type> &inferred) {
  typename ConcreteOp::Adaptor adaptor(operands, attributes, properties,
                                       regions);
  return inferBroadcast(location, ConcreteOp::getOperationName(), operands,
                        adaptor.getBroadcastDimensions(), element, inferred);
}
} // namespace detail

template <typename ConcreteOp>
struct InferBroadcastType
    : mlir::OpTrait::TraitBase<ConcreteOp, InferBroadcastType> {
  static LogicalResult
  inferReturnTypes(MLIRContext *, std::optional<Location> location,
                   ValueRange operands, DictionaryAttr attributes,
                   OpaqueProperties properties, RegionRange regions,
                   SmallVectorImpl<Type> &inferred) {
    return detail::inferBroadcastOf<ConcreteOp,
                                    detail::BroadcastElement::Operand>(
        location, operands, attributes, properties, regions, inferred);
  }
};

template <typename ConcreteOp>
struct InferBroadcastPredType
    : mlir::OpTrait::TraitBase<ConcreteOp, InferBroadcastPredType> {
  static LogicalResult
  inferReturnTypes(MLIRContext *, std::optional<Location> location,
                   ValueRange operands, DictionaryAttr attributes,
                   OpaqueProperties properties, RegionRange regions,
                   SmallVectorImpl<Type> &inferred) {
    return detail::inferBroadcastOf<ConcreteOp,
                                    detail::BroadcastElement::Pred>(
        location, operands, attributes, properties, regions, inferred);
  }
};

template <typename ConcreteOp>
struct InferBroadcastComplexType
    : mlir::OpTrait::TraitBase<ConcreteOp, InferBroadcastComplexType> {
  static LogicalResult
  inferReturnTypes(MLIRContext *, std::optional<Location> location,
                   ValueRange operands, DictionaryAttr attributes,
                   OpaqueProperties properties, RegionRange regions,
                   SmallVectorImpl<Type> &inferred) {
    return detail::inferBroadcastOf<ConcreteOp,
                                    detail::BroadcastElement::Complex>(
        location, operands, attributes, properties, regions, inferred);
  }
};

template <typename ConcreteOp>
struct InferPredType : mlir::OpTrait::TraitBase<ConcreteOp, InferPredType> {
  static LogicalResult
  inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                   DictionaryAttr, OpaqueProperties, RegionRange,
                   SmallVectorImpl<Type> &inferred) {
    return detail::inferPred(operands, inferred);
  }
};
} // namespace OpTrait
} // namespace mlir::chlo
