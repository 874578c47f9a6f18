#include "compiler/preprocess/resource_data.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace alula::preprocess;

/// Of the elements as a resource has them: whole bytes each, if that is known.
static std::optional<uint64_t> countBytes(ShapedType type) {
  Type element = type.getElementType();
  unsigned parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  if (!element.isIntOrFloat() || !type.hasStaticShape())
    return std::nullopt;
  uint64_t each = (element.getIntOrFloatBitWidth() + 7) / 8 * parts, bytes;
  uint64_t count = static_cast<uint64_t>(type.getNumElements());
  if (__builtin_mul_overflow(each, count, &bytes))
    return std::nullopt;
  return bytes;
}

static std::optional<Problem> check(DenseResourceElementsAttr constant) {
  std::string name = "dense_resource<" + constant.getRawHandle().getKey().str();
  AsmResourceBlob *blob = constant.getRawHandle().getBlob();
  if (!blob)
    return breach("constants must have data: " + name + "> has none");
  auto bytes = countBytes(constant.getType());
  if (bytes && *bytes != blob->getData().size())
    return breach("constants must have the data of their type: " + name +
                  "> has " + Twine(blob->getData().size()) + " bytes, " +
                  debugString(constant.getType()) + " needs " + Twine(*bytes));
  return std::nullopt;
}

std::optional<Problem> alula::preprocess::findMissingData(Operation *op) {
  std::optional<Problem> problem;
  op->walk([&](Operation *each) {
    each->getAttrDictionary().walk([&](DenseResourceElementsAttr constant) {
      if (!problem)
        problem = check(constant);
    });
    return problem ? WalkResult::interrupt() : WalkResult::advance();
  });
  return problem;
}

static Attribute inlineData(DenseResourceElementsAttr constant) {
  ShapedType type = constant.getType();
  ArrayRef<char> data = constant.getRawHandle().getBlob()->getData();
  if (!countBytes(type))
    return {};
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char each : data)
      values.push_back(each != 0);
    return DenseElementsAttr::get(type, values);
  }
  // One element would be taken for all that there are.
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(type, data, isSplat))
    return {};
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

void alula::preprocess::inlineResources(Operation *op) {
  op->walk([](Operation *each) {
    auto constant = each->getAttrOfType<DenseResourceElementsAttr>("value");
    if (!constant)
      return;
    if (Attribute value = inlineData(constant))
      each->setAttr("value", value);
  });
}
