// A tensor of the reference: element type, shape, contiguous bytes.
#pragma once

#include "reference/element_type.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <memory>
#include <vector>

namespace mlir {
class ElementsAttr;
class DenseElementsAttr;
class ShapedType;
} // namespace mlir

namespace alula::reference {

using Dims = llvm::SmallVector<int64_t, 4>;

/// Bytes that all live tensors of one evaluation may take together.
struct MemoryBudget {
  std::atomic<int64_t> live{0};
  int64_t limit = INT64_MAX;
};

/// Elements lie in row-major order, one to a byte below eight bits, native
/// byte order. Copies share the bytes; whoever makes a tensor fills it before
/// handing it on, and nobody writes afterwards.
class Tensor {
public:
  Tensor() = default;

  /// Zero-filled. Nothing if the element type is unknown, the size overflows
  /// or the budget does not allow it; `describeFailure` says which.
  static std::optional<Tensor>
  create(mlir::Type elementType, llvm::ArrayRef<int64_t> dims,
         const std::shared_ptr<MemoryBudget> &budget);
  static std::string describeFailure(mlir::Type elementType,
                                     llvm::ArrayRef<int64_t> dims,
                                     const MemoryBudget &budget);

  mlir::Type getElementType() const { return elementType; }
  Kind getKind() const { return kind; }
  llvm::ArrayRef<int64_t> getDims() const { return dims; }
  int64_t getDim(size_t d) const { return dims[d]; }
  int64_t getRank() const { return int64_t(dims.size()); }
  int64_t getSize() const { return size; }
  size_t getElementBytes() const { return getByteWidth(kind); }
  size_t getByteSize() const { return size_t(size) * getElementBytes(); }

  const uint8_t *getData() const { return bytes.get(); }
  const uint8_t *at(int64_t offset) const {
    return bytes.get() + offset * int64_t(getElementBytes());
  }
  /// Only for who has just made the tensor.
  uint8_t *getMutableData() { return bytes.get(); }
  uint8_t *mutableAt(int64_t offset) {
    return bytes.get() + offset * int64_t(getElementBytes());
  }

  /// The same bytes seen with other dimensions or another type of the same
  /// width.
  Tensor withDims(llvm::ArrayRef<int64_t> newDims) const;
  Tensor withElementType(mlir::Type newType) const;

  Cell getCell(int64_t offset) const {
    Cell cell{};
    load(kind, at(offset), &cell, 1);
    return cell;
  }
  void setCell(int64_t offset, const Cell &cell) {
    store(kind, &cell, mutableAt(offset), 1);
  }
  /// The element as an integer; floats are truncated.
  int64_t getInteger(int64_t offset) const;
  std::vector<int64_t> getIntegers() const;

private:
  mlir::Type elementType;
  Kind kind = Kind::Bool;
  Dims dims;
  int64_t size = 0;
  std::shared_ptr<uint8_t[]> bytes;
};

/// Elements between neighbours along each dimension.
Dims getStrides(llvm::ArrayRef<int64_t> dims);
/// Product, or nothing if it overflows.
std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> dims);

/// "[2, 3]", for messages.
std::string printDims(llvm::ArrayRef<int64_t> dims);

/// Copies a box of elements of `width` bytes; strides count elements and may
/// be zero or negative. Every kind of data movement comes down to this.
void copyBox(size_t width, llvm::ArrayRef<int64_t> box, const uint8_t *source,
             llvm::ArrayRef<int64_t> sourceStrides, uint8_t *target,
             llvm::ArrayRef<int64_t> targetStrides);

/// Steps through the indices of a box in row-major order.
class BoxWalk {
public:
  explicit BoxWalk(llvm::ArrayRef<int64_t> box)
      : box(box.begin(), box.end()), index(box.size(), 0) {
    for (int64_t dim : box)
      done |= dim <= 0;
  }
  bool isDone() const { return done; }
  llvm::ArrayRef<int64_t> getIndex() const { return index; }
  int64_t operator[](size_t d) const { return index[d]; }
  void next() {
    for (size_t d = box.size(); d-- > 0;) {
      if (++index[d] < box[d])
        return;
      index[d] = 0;
    }
    done = true;
  }

private:
  Dims box, index;
  bool done = false;
};

inline int64_t dotIndex(llvm::ArrayRef<int64_t> index,
                        llvm::ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d)
    offset += index[d] * strides[d];
  return offset;
}

/// The elements of a constant, seen as `elementType` (which differs from the
/// attribute's for quantized constants). Nothing if it does not fit.
std::optional<Tensor>
tensorFromAttribute(mlir::ElementsAttr attribute, mlir::Type elementType,
                    const std::shared_ptr<MemoryBudget> &budget);
/// The constant that holds a tensor; null for quantized element types, which
/// attributes cannot say.
mlir::ElementsAttr attributeFromTensor(const Tensor &tensor);

} // namespace alula::reference
