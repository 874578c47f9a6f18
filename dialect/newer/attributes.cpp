#include "dialect/newer/attributes.h"
#include "dialect/newer/dialect.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace alula::newer;

MLIR_DEFINE_EXPLICIT_TYPE_ID(alula::newer::BridgedFloatAttr)
MLIR_DEFINE_EXPLICIT_TYPE_ID(alula::newer::DenseBridgedAttr)

namespace alula::newer::detail {

struct BridgedFloatAttrStorage : public AttributeStorage {
  using KeyTy = std::pair<BridgedFloatType, unsigned>;
  BridgedFloatAttrStorage(const KeyTy &key)
      : type(key.first), code(key.second) {}
  bool operator==(const KeyTy &key) const {
    return key.first == type && key.second == code;
  }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(Type(key.first), key.second);
  }
  static BridgedFloatAttrStorage *
  construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<BridgedFloatAttrStorage>())
        BridgedFloatAttrStorage(key);
  }
  BridgedFloatType type;
  unsigned code;
};

struct DenseBridgedAttrStorage : public AttributeStorage {
  using KeyTy = std::pair<ShapedType, DenseElementsAttr>;
  DenseBridgedAttrStorage(const KeyTy &key)
      : type(key.first), codes(key.second) {}
  bool operator==(const KeyTy &key) const {
    return key.first == type && key.second == codes;
  }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(Type(key.first), Attribute(key.second));
  }
  static DenseBridgedAttrStorage *
  construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<DenseBridgedAttrStorage>())
        DenseBridgedAttrStorage(key);
  }
  ShapedType type;
  DenseElementsAttr codes;
};

} // namespace alula::newer::detail

void NewerDialect::registerAttributes() {
  addAttributes<BridgedFloatAttr, DenseBridgedAttr>();
}

BridgedFloatAttr BridgedFloatAttr::get(BridgedFloatType type, uint8_t code) {
  unsigned mask = (1u << type.getWidth()) - 1;
  return Base::get(type.getContext(), type, unsigned(code) & mask);
}

BridgedFloatType BridgedFloatAttr::getFloatType() const {
  return getImpl()->type;
}

uint8_t BridgedFloatAttr::getCode() const { return uint8_t(getImpl()->code); }

DenseBridgedAttr DenseBridgedAttr::get(ShapedType type,
                                       ArrayRef<uint8_t> codes) {
  auto element = llvm::cast<BridgedFloatType>(type.getElementType());
  uint8_t mask = uint8_t((1u << element.getWidth()) - 1);
  SmallVector<uint8_t> masked;
  if (mask != 0xFF) {
    masked.reserve(codes.size());
    for (uint8_t code : codes)
      masked.push_back(code & mask);
    codes = masked;
  }
  auto codesType = RankedTensorType::get(
      type.getShape(), IntegerType::get(type.getContext(), 8));
  ArrayRef<char> bytes(reinterpret_cast<const char *>(codes.data()),
                       codes.size());
  // Equal elements make a splat, so that one meaning has one attribute.
  if (!codes.empty() && llvm::all_equal(codes))
    bytes = bytes.take_front(1);
  return Base::get(type.getContext(), type,
                   DenseElementsAttr::getFromRawBuffer(codesType, bytes));
}

DenseBridgedAttr DenseBridgedAttr::get(ShapedType type,
                                       ArrayRef<double> values) {
  FloatFormat format =
      llvm::cast<BridgedFloatType>(type.getElementType()).getFormat();
  SmallVector<uint8_t> codes;
  codes.reserve(values.size());
  for (double value : values)
    codes.push_back(encode(format, value));
  return get(type, codes);
}

ShapedType DenseBridgedAttr::getType() const { return getImpl()->type; }

BridgedFloatType DenseBridgedAttr::getElementType() const {
  return llvm::cast<BridgedFloatType>(getType().getElementType());
}

DenseElementsAttr DenseBridgedAttr::getCodes() const {
  return getImpl()->codes;
}

ArrayRef<uint8_t> DenseBridgedAttr::getRawCodes() const {
  ArrayRef<char> raw = getCodes().getRawData();
  return {reinterpret_cast<const uint8_t *>(raw.data()), raw.size()};
}
