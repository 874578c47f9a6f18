#include "dialect/newer/types.h"
#include "dialect/newer/dialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeSupport.h"

using namespace mlir;
using namespace alula::newer;

MLIR_DEFINE_EXPLICIT_TYPE_ID(alula::newer::BridgedFloatType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(alula::newer::SubChannelQuantizedType)

namespace alula::newer::detail {

struct BridgedFloatTypeStorage : public TypeStorage {
  using KeyTy = unsigned;
  BridgedFloatTypeStorage(unsigned format) : format(format) {}
  bool operator==(unsigned key) const { return key == format; }
  static BridgedFloatTypeStorage *construct(TypeStorageAllocator &allocator,
                                            unsigned key) {
    return new (allocator.allocate<BridgedFloatTypeStorage>())
        BridgedFloatTypeStorage(key);
  }
  unsigned format;
};

struct SubChannelQuantizedTypeStorage : public TypeStorage {
  using KeyTy = SubChannelQuantization;
  SubChannelQuantizedTypeStorage(const KeyTy &key) : value(key) {}

  bool operator==(const KeyTy &key) const {
    return key.isSigned == value.isSigned &&
           key.storageType == value.storageType &&
           key.expressedType == value.expressedType &&
           key.storageMin == value.storageMin &&
           key.storageMax == value.storageMax &&
           key.quantizedDimensions == value.quantizedDimensions &&
           key.blockSizes == value.blockSizes && key.scales == value.scales &&
           key.zeroPoints == value.zeroPoints;
  }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(key.isSigned, key.storageType, key.expressedType,
                              key.storageMin, key.storageMax,
                              key.quantizedDimensions, key.blockSizes,
                              key.scales, key.zeroPoints);
  }
  static SubChannelQuantizedTypeStorage *
  construct(TypeStorageAllocator &allocator, KeyTy key) {
    key.quantizedDimensions = allocator.copyInto(key.quantizedDimensions);
    key.blockSizes = allocator.copyInto(key.blockSizes);
    return new (allocator.allocate<SubChannelQuantizedTypeStorage>())
        SubChannelQuantizedTypeStorage(key);
  }
  SubChannelQuantization value;
};

} // namespace alula::newer::detail

void NewerDialect::registerTypes() {
  addTypes<BridgedFloatType, SubChannelQuantizedType>();
}

BridgedFloatType BridgedFloatType::get(MLIRContext *context,
                                       FloatFormat format) {
  return Base::get(context, static_cast<unsigned>(format));
}

FloatFormat BridgedFloatType::getFormat() const {
  return static_cast<FloatFormat>(getImpl()->format);
}

SubChannelQuantizedType SubChannelQuantizedType::getChecked(
    llvm::function_ref<InFlightDiagnostic()> emitError, MLIRContext *context,
    const SubChannelQuantization &quantization) {
  return Base::getChecked(emitError, context, quantization);
}

const SubChannelQuantization &SubChannelQuantizedType::getQuantization() const {
  return getImpl()->value;
}

LogicalResult SubChannelQuantizedType::verify(
    llvm::function_ref<InFlightDiagnostic()> emitError,
    const SubChannelQuantization &quantization) {
  auto storage = llvm::dyn_cast<IntegerType>(quantization.storageType);
  if (!storage || !storage.isSignless() || storage.getWidth() < 1 ||
      storage.getWidth() > 32)
    return emitError() << "quantized type: storage type must be an integer of "
                          "1 to 32 bits: "
                       << quantization.storageType;
  if (!llvm::isa<FloatType>(quantization.expressedType))
    return emitError() << "quantized type: expressed type must be a float: "
                       << quantization.expressedType;
  unsigned width = storage.getWidth();
  int64_t lowest =
      quantization.isSigned ? -(int64_t(1) << (width - 1)) : int64_t(0);
  int64_t highest = lowest + (int64_t(1) << width) - 1;
  if (quantization.storageMin < lowest || quantization.storageMax > highest ||
      quantization.storageMin >= quantization.storageMax)
    return emitError() << "quantized type: storage range must lie inside "
                       << lowest << ":" << highest << ": "
                       << quantization.storageMin << ":"
                       << quantization.storageMax;
  for (int32_t dim : quantization.quantizedDimensions)
    if (dim < 0)
      return emitError()
             << "quantized type: quantized dimension must not be negative: "
             << dim;
  for (int64_t size : quantization.blockSizes)
    if (size <= 0)
      return emitError() << "quantized type: block size must be positive: "
                         << size;
  if (quantization.quantizedDimensions.size() != quantization.blockSizes.size())
    return emitError() << "quantized type: one block size for each quantized "
                          "dimension: "
                       << quantization.blockSizes.size() << " for "
                       << quantization.quantizedDimensions.size();
  ShapedType scalesType = quantization.scales.getType();
  if (scalesType.getShape() != quantization.zeroPoints.getType().getShape())
    return emitError()
           << "quantized type: scales and zero points must have one shape";
  for (const APFloat &scale : quantization.scales.getValues<APFloat>())
    if (!scale.isFinite() || scale.isZero() || scale.isNegative())
      return emitError() << "quantized type: scale must be positive and "
                            "finite: "
                         << scale.convertToDouble();
  for (int32_t dim : quantization.quantizedDimensions)
    if (dim >= scalesType.getRank())
      return emitError() << "quantized type: quantized dimension must be less "
                            "than the rank of the scales: "
                         << dim << " and " << scalesType.getRank();
  return success();
}
