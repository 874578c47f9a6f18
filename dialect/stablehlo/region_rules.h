#pragma once

#include "dialect/stablehlo/rule_site.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/ValueRange.h"

namespace mlir::stablehlo {

/// Whether a value of one element type may be computed with in another: the
/// same kind of element and not fewer bits.
bool isPromotable(Type from, Type to);

/// N inputs of one shape, then N scalars of the inputs' element types; the
/// operands of reduce and reduce_window. Returns what the inputs together tell
/// about their shape.
FailureOr<RankedTensorType> verifyReducedOperands(const RuleSite &site,
                                                  ValueRange operands);

/// The body of a reduction over N tensors: `(E0 … EN-1, E0 … EN-1) -> (E0 …
/// EN-1)`, each a scalar tensor, where the element type of input i is
/// promotable to Ei. `name` is what messages call the region.
LogicalResult verifyReducer(const RuleSite &site, StringRef name,
                            Region &region, TypeRange inputs);
inline LogicalResult verifyReducer(const RuleSite &site, StringRef name,
                                   Region &region, ValueRange inputs) {
  return verifyReducer(site, name, region, inputs.getTypes());
}

/// A region that answers yes or no about pairs of elements of N tensors:
/// `(E0, E0, … EN-1, EN-1) -> i1`, each a scalar tensor.
LogicalResult verifyPredicate(const RuleSite &site, StringRef name,
                              Region &region, ValueRange inputs);

/// The element types that a reducer returns. Where the region says nothing
/// yet, because it is still empty, those of the inputs.
SmallVector<Type> reducedElementTypes(RegionRange regions, unsigned index,
                                      TypeRange inputs);

} // namespace mlir::stablehlo
