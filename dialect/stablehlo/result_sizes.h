#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::stablehlo {

/// Numbers in the form that whoever asks for sizes keeps them in: code of a
/// kernel, commands of the host.
class SizeArithmetic {
public:
  using Size = Value;

  virtual ~SizeArithmetic() = default;
  virtual Value makeNumber(int64_t value) = 0;
  virtual Value getDim(Value tensor, int64_t dim) = 0;
  /// An element of a tensor of integers.
  virtual Value getElement(Value tensor, ArrayRef<int64_t> position) = 0;
  virtual Value add(Value a, Value b) = 0;
  virtual Value subtract(Value a, Value b) = 0;
  virtual Value multiply(Value a, Value b) = 0;
  virtual Value getMaximum(Value a, Value b) = 0;
  /// Rounds down; `a` is not negative, `b` is positive.
  virtual Value divide(Value a, Value b) = 0;
};

/// The size of each dimension of a result, as the op's operands say it; nothing
/// for ops whose results may have any size.
std::optional<SmallVector<Value>> computeResultSizes(OpResult result,
                                                     SizeArithmetic &numbers);

/// An element of a tensor of integers, where it is known before the program
/// runs.
using KnownElement = function_ref<std::optional<int64_t>(
    Value tensor, ArrayRef<int64_t> position)>;

/// The same rules for sizes before the program runs; kDynamic for those that
/// operands' types and known elements don't tell. The result's own type is not
/// asked.
std::optional<SmallVector<int64_t>> computeKnownSizes(OpResult result,
                                                      KnownElement known);

} // namespace mlir::stablehlo
