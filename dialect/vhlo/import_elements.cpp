#include "dialect/vhlo/import_nodes.h"

#include "dialect/newer/attributes.h"

using namespace mlir;

namespace alula::vhlo {

Attribute NodeImporter::importDenseArray(const Node &node) {
  Fields fields(artifact, node);
  Type element = type(fields.take());
  uint64_t size = fields.take();
  Bytes blob = artifact.blobs[size_t(fields.take())];
  if (size > blob.size()) {
    error(node) << size << " elements need more than " << blob.size()
                << " bytes";
    return {};
  }
  ArrayRef<char> data(reinterpret_cast<const char *>(blob.data()), blob.size());
  return DenseArrayAttr::getChecked([&] { return error(node); }, context,
                                    element, int64_t(size), data);
}

/// Bits are packed, eight to a byte; 0xff in a single byte stands for all
/// true. Some early writers did not pack.
Attribute NodeImporter::importBools(const Node &node, ShapedType ofType,
                                    Bytes blob) {
  size_t count = size_t(ofType.getNumElements());
  if (blob.size() == 1 && (blob[0] == 0xff || blob[0] == 0))
    return DenseElementsAttr::get(ofType, blob[0] != 0);
  SmallVector<bool> bits;
  if (blob.size() == (count + 7) / 8 && blob.size() != count) {
    for (size_t i = 0; i < count; ++i)
      bits.push_back(blob[i / 8] >> (i % 8) & 1);
  } else if (blob.size() == count) {
    for (uint8_t byte : blob)
      bits.push_back(byte != 0);
  } else {
    error(node) << ofType << " can't have " << blob.size() << " bytes";
    return {};
  }
  return DenseElementsAttr::get(ofType, bits);
}

Attribute NodeImporter::importElements(const Node &node) {
  Fields fields(artifact, node);
  auto ofType = dyn_cast<RankedTensorType>(type(fields.take()));
  Bytes blob = artifact.blobs[size_t(fields.take())];
  if (!ofType || !ofType.hasStaticShape()) {
    error(node) << "expected a tensor type of static shape";
    return {};
  }
  Type element = ofType.getElementType();
  size_t count = size_t(ofType.getNumElements());
  if (newer::isBridgedFloat(element)) {
    if (blob.size() != count && blob.size() != 1) {
      error(node) << ofType << " can't have " << blob.size() << " bytes";
      return {};
    }
    return newer::DenseBridgedAttr::get(
        ofType, ArrayRef<uint8_t>(blob.data(), blob.size()));
  }
  if (element.isInteger(1))
    return importBools(node, ofType, blob);
  Type number = element;
  if (auto complex = dyn_cast<ComplexType>(element))
    number = complex.getElementType();
  if (!number.isIntOrIndexOrFloat()) {
    error(node) << "constants of " << element << " can't be held here";
    return {};
  }
  ArrayRef<char> data(reinterpret_cast<const char *>(blob.data()), blob.size());
  // A narrow integer fills its byte with copies of its sign in some writers.
  SmallVector<char> masked;
  if (number.isInteger() && number.getIntOrFloatBitWidth() < 8) {
    int mask = (1 << number.getIntOrFloatBitWidth()) - 1;
    for (char byte : data)
      masked.push_back(char(byte & mask));
    data = masked;
  }
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(ofType, data, isSplat)) {
    error(node) << ofType << " can't have " << blob.size() << " bytes";
    return {};
  }
  return DenseElementsAttr::getFromRawBuffer(ofType, data);
}

Attribute NodeImporter::importDenseStrings(const Node &node) {
  Fields fields(artifact, node);
  auto ofType = dyn_cast<ShapedType>(type(fields.take()));
  bool isSplat = fields.take() != 0;
  SmallVector<StringRef> strings;
  for (uint64_t index : fields.takeList())
    strings.push_back(artifact.strings[size_t(index)]);
  if (!ofType || !ofType.hasStaticShape() ||
      strings.size() != (isSplat ? 1 : size_t(ofType.getNumElements()))) {
    error(node) << strings.size() << " strings do not fit the type";
    return {};
  }
  return DenseStringElementsAttr::get(ofType, strings);
}

} // namespace alula::vhlo
