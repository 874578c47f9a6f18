#pragma once

#include "compiler/kernel/element/reader.h"
#include "dialect/dispatch/attention.h"

namespace alula::kernel {

/// Where code is on each axis of an attention, and what that means for the
/// tensors that have these axes.
class AttentionPlaces {
public:
  AttentionPlaces(const dispatch::Attention &attention, Reader &reader)
      : attention(attention), reader(reader), indices(attention.sizes.size()) {}

  llvm::SmallVector<mlir::Value> getSizes(llvm::ArrayRef<int64_t> axes);
  /// The axes' elements are counted as one.
  void setIndices(llvm::ArrayRef<int64_t> axes, mlir::Value number);
  /// The indices of a tensor of this layout.
  llvm::SmallVector<mlir::Value> getPlace(const dispatch::AxisLayout &layout);
  /// The first element of the matrix that belongs to this place of the batch.
  mlir::Value getPointer(const dispatch::AttentionOperand &matrix,
                         mlir::Value memory);

private:
  mlir::Value getDigit(const dispatch::AxisDigit &digit);

  const dispatch::Attention &attention;
  Reader &reader;
  llvm::SmallVector<mlir::Value> indices;
};

} // namespace alula::kernel
