#include "reference/tensor.h"

#include "dialect/newer/attributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace alula::reference {

std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> dims) {
  int64_t size = 1;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0) {
      empty = true;
      continue;
    }
    if (llvm::MulOverflow(size, dim, size))
      return std::nullopt;
  }
  return empty ? 0 : size;
}

std::optional<Tensor>
Tensor::create(Type elementType, llvm::ArrayRef<int64_t> dims,
               const std::shared_ptr<MemoryBudget> &budget) {
  std::optional<Kind> kind = reference::getKind(elementType);
  std::optional<int64_t> size = getNumElements(dims);
  int64_t needed;
  if (!kind || !size ||
      llvm::MulOverflow(*size, int64_t(getByteWidth(*kind)), needed))
    return std::nullopt;
  if (budget->live.fetch_add(needed) > budget->limit - needed) {
    budget->live.fetch_sub(needed);
    return std::nullopt;
  }
  auto *memory = static_cast<uint8_t *>(std::calloc(size_t(needed) + 1, 1));
  if (!memory) {
    budget->live.fetch_sub(needed);
    return std::nullopt;
  }
  Tensor tensor;
  tensor.elementType = elementType;
  tensor.kind = *kind;
  tensor.dims.assign(dims.begin(), dims.end());
  tensor.size = *size;
  tensor.bytes = std::shared_ptr<uint8_t[]>(
      memory, [budget, needed](uint8_t *bytes) {
        std::free(bytes);
        budget->live.fetch_sub(needed);
      });
  return tensor;
}

std::string Tensor::describeFailure(Type elementType,
                                    llvm::ArrayRef<int64_t> dims,
                                    const MemoryBudget &budget) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!reference::getKind(elementType)) {
    os << "the reference has no element type " << elementType;
    return text;
  }
  os << "a tensor of ";
  for (int64_t dim : dims)
    os << dim << 'x';
  os << elementType << " needs ";
  std::optional<int64_t> size = getNumElements(dims);
  int64_t bytes;
  if (!size || llvm::MulOverflow(
                   *size,
                   int64_t(getByteWidth(*reference::getKind(elementType))),
                   bytes))
    os << "more bytes than 64 bits can count";
  else
    os << bytes << " bytes beside " << budget.live.load()
       << " in use, the limit is " << budget.limit;
  return text;
}

Tensor Tensor::withDims(llvm::ArrayRef<int64_t> newDims) const {
  Tensor result = *this;
  result.dims.assign(newDims.begin(), newDims.end());
  return result;
}

Tensor Tensor::withElementType(Type newType) const {
  Tensor result = *this;
  result.elementType = newType;
  if (std::optional<Kind> newKind = reference::getKind(newType))
    result.kind = *newKind;
  return result;
}

int64_t Tensor::getInteger(int64_t offset) const {
  Cell cell = getCell(offset);
  switch (getDomain(kind)) {
  case Domain::Bool:
  case Domain::Signed:
    return cell.i;
  case Domain::Unsigned:
    // Values beyond int64 stay large, so that clamping them stays right.
    return cell.u > uint64_t(INT64_MAX) ? INT64_MAX : cell.i;
  case Domain::Float:
  case Domain::Complex:
    return int64_t(cell.re);
  }
  return 0;
}

std::vector<int64_t> Tensor::getIntegers() const {
  std::vector<int64_t> values(static_cast<size_t>(size));
  for (int64_t k = 0; k < size; ++k)
    values[size_t(k)] = getInteger(k);
  return values;
}

Dims getStrides(llvm::ArrayRef<int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

std::string printDims(llvm::ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (int64_t dim : dims)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

namespace {

template <size_t width>
void copyRow(int64_t n, const uint8_t *source, int64_t sourceStride,
             uint8_t *target, int64_t targetStride) {
  for (int64_t k = 0; k < n; ++k)
    std::memcpy(target + k * targetStride * int64_t(width),
                source + k * sourceStride * int64_t(width), width);
}

} // namespace

void copyBox(size_t width, llvm::ArrayRef<int64_t> box, const uint8_t *source,
             llvm::ArrayRef<int64_t> sourceStrides, uint8_t *target,
             llvm::ArrayRef<int64_t> targetStrides) {
  size_t rank = box.size();
  for (int64_t dim : box)
    if (dim <= 0)
      return;
  if (rank == 0) {
    std::memcpy(target, source, width);
    return;
  }
  int64_t n = box.back();
  int64_t from = sourceStrides.back(), to = targetStrides.back();
  Dims index(rank, 0);
  int64_t sourceAt = 0, targetAt = 0;
  while (true) {
    const uint8_t *s = source + sourceAt * int64_t(width);
    uint8_t *t = target + targetAt * int64_t(width);
    if (from == 1 && to == 1)
      std::memcpy(t, s, size_t(n) * width);
    else if (width == 1)
      copyRow<1>(n, s, from, t, to);
    else if (width == 2)
      copyRow<2>(n, s, from, t, to);
    else if (width == 4)
      copyRow<4>(n, s, from, t, to);
    else if (width == 8)
      copyRow<8>(n, s, from, t, to);
    else
      copyRow<16>(n, s, from, t, to);
    size_t d = rank - 1;
    while (d-- > 0) {
      sourceAt += sourceStrides[d];
      targetAt += targetStrides[d];
      if (++index[d] < box[d])
        break;
      sourceAt -= box[d] * sourceStrides[d];
      targetAt -= box[d] * targetStrides[d];
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

namespace {

/// Fills from bytes in the layout of DenseElementsAttr or of a resource.
bool fillFromRaw(Tensor &tensor, llvm::ArrayRef<char> raw, bool splat) {
  size_t width = tensor.getElementBytes();
  size_t count = size_t(tensor.getSize());
  uint8_t *bytes = tensor.getMutableData();
  if (count == 0)
    return true;
  if (splat) {
    if (raw.size() < width)
      return false;
    for (size_t k = 0; k < count; ++k)
      std::memcpy(bytes + k * width, raw.data(), width);
  } else if (tensor.getKind() == Kind::Bool && raw.size() < count) {
    if (raw.size() < (count + 7) / 8)
      return false;
    for (size_t k = 0; k < count; ++k)
      bytes[k] = uint8_t(raw[k / 8] >> (k % 8)) & 1;
  } else {
    if (raw.size() < count * width)
      return false;
    std::memcpy(bytes, raw.data(), count * width);
  }
  if (getBitWidth(tensor.getKind()) >= 8)
    return true;
  // One form for each value below eight bits.
  Cell cell{};
  for (int64_t k = 0; k < tensor.getSize(); ++k) {
    cell = tensor.getCell(k);
    tensor.setCell(k, cell);
  }
  return true;
}

/// Element by element, for the rarer attributes (sparse ones).
bool fillFromValues(Tensor &tensor, ElementsAttr attribute) {
  auto values = attribute.tryGetValues<Attribute>();
  if (!values)
    return false;
  int64_t k = 0;
  for (Attribute value : *values) {
    Cell cell{};
    if (auto integer = dyn_cast<IntegerAttr>(value)) {
      llvm::APInt bits = integer.getValue();
      bool isSigned = getDomain(tensor.getKind()) == Domain::Signed;
      cell.i = isSigned ? bits.getSExtValue() : int64_t(bits.getZExtValue());
    } else if (auto real = dyn_cast<FloatAttr>(value)) {
      cell.re = real.getValueAsDouble();
    } else {
      return false;
    }
    tensor.setCell(k++, cell);
  }
  return true;
}

} // namespace

std::optional<Tensor>
tensorFromAttribute(ElementsAttr attribute, Type elementType,
                    const std::shared_ptr<MemoryBudget> &budget) {
  auto type = cast<ShapedType>(attribute.getType());
  std::optional<Tensor> tensor =
      Tensor::create(elementType, type.getShape(), budget);
  if (!tensor)
    return std::nullopt;
  bool fine = false;
  if (auto bridged = dyn_cast<newer::DenseBridgedAttr>(attribute)) {
    llvm::ArrayRef<uint8_t> codes = bridged.getRawCodes();
    fine = fillFromRaw(
        *tensor, {reinterpret_cast<const char *>(codes.data()), codes.size()},
        bridged.isSplat());
  } else if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    std::optional<Kind> stored = getKind(type.getElementType());
    if (!stored || getByteWidth(*stored) != tensor->getElementBytes())
      return std::nullopt;
    if (dense.isSplat() && tensor->getKind() == Kind::Bool) {
      char value = dense.getRawData()[0] != 0;
      fine = fillFromRaw(*tensor, {&value, 1}, true);
    } else if (tensor->getKind() == Kind::Bool) {
      llvm::ArrayRef<char> raw = dense.getRawData();
      fine = raw.size() >= size_t(tensor->getSize() + 7) / 8;
      for (int64_t k = 0; fine && k < tensor->getSize(); ++k)
        tensor->getMutableData()[k] = uint8_t(raw[k / 8] >> (k % 8)) & 1;
    } else {
      fine = fillFromRaw(*tensor, dense.getRawData(), dense.isSplat());
    }
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      // A blob of one element is the way to write a splat.
      llvm::ArrayRef<char> raw = blob->getData();
      bool splat = tensor->getSize() > 1 &&
                   raw.size() == tensor->getElementBytes() &&
                   !(tensor->getKind() == Kind::Bool && tensor->getSize() <= 8);
      fine = fillFromRaw(*tensor, raw, splat);
    }
  } else {
    fine = fillFromValues(*tensor, attribute);
  }
  if (!fine)
    return std::nullopt;
  return tensor;
}

ElementsAttr attributeFromTensor(const Tensor &tensor) {
  Type elementType = tensor.getElementType();
  auto type = RankedTensorType::get(tensor.getDims(), elementType);
  size_t bytes = tensor.getByteSize();
  if (newer::isBridgedFloat(elementType))
    return newer::DenseBridgedAttr::get(
        type, llvm::ArrayRef<uint8_t>(tensor.getData(), bytes));
  if (!elementType.isIntOrIndexOrFloat() && !isa<ComplexType>(elementType))
    return {};
  Kind kind = tensor.getKind();
  if (kind == Kind::Bool) {
    llvm::SmallVector<bool> values(size_t(tensor.getSize()));
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = tensor.getData()[k] != 0;
    return DenseElementsAttr::get(type, values);
  }
  if (getBitWidth(kind) < 8) {
    // MLIR keeps these zero-extended.
    std::vector<char> raw(bytes);
    for (size_t k = 0; k < bytes; ++k)
      raw[k] = char(tensor.getData()[k] & ((1 << getBitWidth(kind)) - 1));
    return DenseElementsAttr::getFromRawBuffer(type, raw);
  }
  return DenseElementsAttr::getFromRawBuffer(
      type, {reinterpret_cast<const char *>(tensor.getData()), bytes});
}

} // namespace alula::reference
