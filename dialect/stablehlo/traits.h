#pragma once

#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

namespace mlir::stablehlo {

/// `'name': ` and then the rule and the values, at the op.
InFlightDiagnostic opError(Operation *op);
/// The same where an op does not exist yet. `location` may be missing: then
/// nothing is printed and the caller only learns the failure.
LogicalResult inferError(std::optional<Location> location, StringRef opName,
                         const Twine &message);

namespace OpTrait {
namespace detail {
LogicalResult verifyCompatibleShapes(Operation *op);
LogicalResult verifyCompatibleElementTypes(Operation *op);
LogicalResult verifyCompatibleOperandElementTypes(Operation *op);
LogicalResult verifyPairwiseSameType(Operation *op);
LogicalResult verifyPairwiseSameElementType(Operation *op);
LogicalResult inferSameType(std::optional<Location> location, StringRef opName,
                            ValueRange operands,
                            SmallVectorImpl<Type> &inferred);
LogicalResult verifyKeepsQuantization(Operation *op);
LogicalResult verifyInferredResults(Operation *op);
bool hasOnlyStaticTensors(Operation *op);
} // namespace detail

template <typename ConcreteOp>
struct CompatibleShapes
    : mlir::OpTrait::TraitBase<ConcreteOp, CompatibleShapes> {
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyCompatibleShapes(op);
  }
};

template <typename ConcreteOp>
struct CompatibleElementTypes
    : mlir::OpTrait::TraitBase<ConcreteOp, CompatibleElementTypes> {
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyCompatibleElementTypes(op);
  }
};

template <typename ConcreteOp>
struct CompatibleOperandElementTypes
    : mlir::OpTrait::TraitBase<ConcreteOp, CompatibleOperandElementTypes> {
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyCompatibleOperandElementTypes(op);
  }
};

template <typename ConcreteOp>
struct PairwiseSameType
    : mlir::OpTrait::TraitBase<ConcreteOp, PairwiseSameType> {
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyPairwiseSameType(op);
  }
};

template <typename ConcreteOp>
struct PairwiseSameElementType
    : mlir::OpTrait::TraitBase<ConcreteOp, PairwiseSameElementType> {
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyPairwiseSameElementType(op);
  }
};

template <typename ConcreteOp>
struct KeepsQuantization
    : mlir::OpTrait::TraitBase<ConcreteOp, KeepsQuantization> {
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyKeepsQuantization(op);
  }
};

/// Runs before the op's own verifier where inference needs no region, and once
/// the regions are known to be valid otherwise.
template <typename ConcreteOp>
struct InferredResults : mlir::OpTrait::TraitBase<ConcreteOp, InferredResults> {
  static LogicalResult verifyTrait(Operation *op) {
    return op->getNumRegions() == 0 ? detail::verifyInferredResults(op)
                                    : success();
  }
  static LogicalResult verifyRegionTrait(Operation *op) {
    return op->getNumRegions() != 0 ? detail::verifyInferredResults(op)
                                    : success();
  }
};

/// Gives an op the method that InferTypeOpInterface asks for.
template <typename ConcreteOp>
struct InferSameType : mlir::OpTrait::TraitBase<ConcreteOp, InferSameType> {
  static LogicalResult
  inferReturnTypes(MLIRContext *, std::optional<Location> location,
                   ValueRange operands, DictionaryAttr, OpaqueProperties,
                   RegionRange, SmallVectorImpl<Type> &inferred) {
    return detail::inferSameType(location, ConcreteOp::getOperationName(),
                                 operands, inferred);
  }
};

template <typename ConcreteOp>
struct SpeculatableIfStatic
    : mlir::OpTrait::TraitBase<ConcreteOp, SpeculatableIfStatic> {
  Speculation::Speculatability getSpeculatability() {
    return detail::hasOnlyStaticTensors(this->getOperation())
               ? Speculation::Speculatable
               : Speculation::NotSpeculatable;
  }
};

template <typename ConcreteOp>
struct RegionSpeculatableIfStatic
    : mlir::OpTrait::TraitBase<ConcreteOp, RegionSpeculatableIfStatic> {
  Speculation::Speculatability getSpeculatability() {
    return detail::hasOnlyStaticTensors(this->getOperation())
               ? Speculation::RecursivelySpeculatable
               : Speculation::NotSpeculatable;
  }
};
} // namespace OpTrait
} // namespace mlir::stablehlo
