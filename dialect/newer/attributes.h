#pragma once

#include "dialect/newer/types.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace alula::newer {

namespace detail {
struct BridgedFloatAttrStorage;
struct DenseBridgedAttrStorage;
} // namespace detail

/// One number of a bridged float type, as in `1.0 : f8E3M4`.
class BridgedFloatAttr
    : public mlir::Attribute::AttrBase<BridgedFloatAttr, mlir::Attribute,
                                       detail::BridgedFloatAttrStorage,
                                       mlir::TypedAttr::Trait> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "f.number";

  static BridgedFloatAttr get(BridgedFloatType type, uint8_t code);

  BridgedFloatType getFloatType() const;
  mlir::Type getType() const { return getFloatType(); }
  uint8_t getCode() const;
  double getValue() const {
    return decode(getFloatType().getFormat(), getCode());
  }
};

/// `dense<…>` whose element type is a bridged float: the codes, one element a
/// byte, beside the real type. Iterates as uint8_t (the codes); `decode` gives
/// their values.
class DenseBridgedAttr
    : public mlir::Attribute::AttrBase<
          DenseBridgedAttr, mlir::Attribute, detail::DenseBridgedAttrStorage,
          mlir::TypedAttr::Trait, mlir::ElementsAttr::Trait> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "f.dense";

  /// `codes` holds one byte an element, or a single one for a splat. Bits
  /// above the width of the type are cleared.
  static DenseBridgedAttr get(mlir::ShapedType type,
                              llvm::ArrayRef<uint8_t> codes);
  /// Rounds each of `values`, or the single one for a splat, to the type.
  static DenseBridgedAttr get(mlir::ShapedType type,
                              llvm::ArrayRef<double> values);

  /// The real type, such as `tensor<4xf8E3M4>`.
  mlir::ShapedType getType() const;
  BridgedFloatType getElementType() const;
  FloatFormat getFormat() const { return getElementType().getFormat(); }
  /// The codes as `dense<…> : tensor<…xi8>`.
  mlir::DenseElementsAttr getCodes() const;
  /// The bytes of `getCodes`: one for a splat.
  llvm::ArrayRef<uint8_t> getRawCodes() const;

  bool isSplat() const { return getCodes().isSplat(); }

  // What mlir::ElementsAttr wants.
  using ContiguousIterableTypesT = std::tuple<uint8_t>;
  using NonContiguousIterableTypesT = std::tuple<>;
  llvm::FailureOr<const uint8_t *>
  try_value_begin_impl(OverloadToken<uint8_t>) const {
    return getRawCodes().data();
  }
};

} // namespace alula::newer

MLIR_DECLARE_EXPLICIT_TYPE_ID(alula::newer::BridgedFloatAttr)
MLIR_DECLARE_EXPLICIT_TYPE_ID(alula::newer::DenseBridgedAttr)
