#pragma once

#include "dialect/newer/float_format.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"

namespace alula::newer {

namespace detail {
struct BridgedFloatTypeStorage;
struct SubChannelQuantizedTypeStorage;
} // namespace detail

/// A float type that MLIR 19 lacks. It is not an `mlir::FloatType`: code that
/// asks for float types asks `isBridgedFloat` too.
class BridgedFloatType
    : public mlir::Type::TypeBase<BridgedFloatType, mlir::Type,
                                  detail::BridgedFloatTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "f.float";

  static BridgedFloatType get(mlir::MLIRContext *context, FloatFormat format);

  FloatFormat getFormat() const;
  unsigned getWidth() const { return getInfo(getFormat()).bitWidth; }
  llvm::StringRef getName() const { return getInfo(getFormat()).name; }
};

/// The parameters of a quantized type whose scales hold for blocks.
struct SubChannelQuantization {
  bool isSigned;
  mlir::Type storageType;   ///< A signless integer.
  mlir::Type expressedType; ///< A float.
  int64_t storageMin, storageMax;
  llvm::ArrayRef<int32_t> quantizedDimensions;
  llvm::ArrayRef<int64_t> blockSizes; ///< One for each quantized dimension.
  /// Scales of the expressed type and zero points of the storage type, both of
  /// the rank of the tensor and of one shape: a number for each block.
  mlir::DenseElementsAttr scales, zeroPoints;
};

/// `!quant.uniform<i8:f32:{0:2, 1:4}, {{1.0:1, 2.0}, {3.0, 4.0}}>`.
class SubChannelQuantizedType
    : public mlir::Type::TypeBase<SubChannelQuantizedType, mlir::Type,
                                  detail::SubChannelQuantizedTypeStorage> {
public:
  using Base::Base;
  using Base::getChecked;
  static constexpr llvm::StringLiteral name = "f.uniform";

  static SubChannelQuantizedType
  getChecked(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
             mlir::MLIRContext *context,
             const SubChannelQuantization &quantization);

  static llvm::LogicalResult
  verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
         const SubChannelQuantization &quantization);

  /// Lives as long as the context.
  const SubChannelQuantization &getQuantization() const;
};

/// Whether `type` is one of the five float types that MLIR 19 lacks.
inline bool isBridgedFloat(mlir::Type type) {
  return llvm::isa<BridgedFloatType>(type);
}

} // namespace alula::newer

MLIR_DECLARE_EXPLICIT_TYPE_ID(alula::newer::BridgedFloatType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(alula::newer::SubChannelQuantizedType)
