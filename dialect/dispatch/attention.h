#pragma once

#include "dialect/dispatch/machine.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

// Attention: softmax(f(queries x keys)) x values, where f changes single
// scores: a scale, a mask, a bias. The threads of a workgroup compute some rows
// of it at once, and neither scores nor weights need memory.

namespace alula::dispatch {

/// A digit of the index of an axis: (index / stride) % size.
struct AxisDigit {
  int64_t axis, size, stride;

  bool operator==(const AxisDigit &) const = default;
};
/// What an index of one dimension of a tensor is made of, the most significant
/// digit first; nothing for a dimension of one element.
using AxisDigits = llvm::SmallVector<AxisDigit, 2>;
/// Of all dimensions of a tensor, in terms of the axes of an attention.
using AxisLayout = llvm::SmallVector<AxisDigits>;

/// Where an element of a matrix is: so many elements behind the base's first,
/// and for each digit of an axis so many more.
struct AttentionOperand {
  mlir::Value base;
  int64_t offset = 0;
  llvm::SmallVector<std::pair<AxisDigit, int64_t>> strides;
};

/// What replaces scores by a number, whatever they are: what a row of a causal
/// mask has for later keys.
struct ScoreMask {
  /// An i1 for each score: which are kept.
  mlir::Value predicate;
  bool keepsWhereTrue = true;
  /// The number, as a score.
  float hidden = 0;
  AxisLayout layout;
};

struct Attention {
  mlir::stablehlo::DotGeneralOp scores, product;
  /// Of each axis, how many there are: those of the scores, of the depth of
  /// queries and keys, then of the columns of the values.
  llvm::SmallVector<int64_t> sizes;
  /// Rows that share keys and values, keys, depth, columns: axes of which each
  /// list lies like one in the matrices. All others are `batch`.
  llvm::SmallVector<int64_t> rows, keys, depth, columns, batch;
  AttentionOperand queries, keyMatrix, values;
  /// A score as exp has it, less its row's maximum.
  mlir::Value score;
  /// The last thing done to scores, if it is this.
  std::optional<ScoreMask> mask;
  /// What is stored: the product's result, or what follows it alone.
  mlir::Value result;
  AxisLayout scoreLayout, resultLayout;
  /// All ops, in the order of the block; the last one has the result.
  llvm::SetVector<mlir::Operation *> members;
  /// Those of them that an element of `score` or of the result is computed by.
  llvm::SetVector<mlir::Operation *> elementwise;

  int64_t count(llvm::ArrayRef<int64_t> axes) const;
  /// How far apart neighbours on an axis are; 0 if they are the same element,
  /// nothing if that changes from one to the next.
  std::optional<int64_t> getStride(const AttentionOperand &matrix,
                                   int64_t axis) const;
  /// The same on several that lie one in the other.
  int64_t getStride(const AttentionOperand &matrix,
                    llvm::ArrayRef<int64_t> axes) const;
  /// Whether neighbours on these axes, counted as one, are equally far apart.
  bool isOneLine(const AttentionOperand &matrix,
                 llvm::ArrayRef<int64_t> axes) const;
  /// Where the product's elements are stored, if nothing else becomes of them
  /// and both rows and columns are one line.
  std::optional<AttentionOperand> getMovedResult() const;
  /// Numbers of a line of queries or values, whichever are more.
  int64_t getHeadSize() const;
};

/// The attention that ends in a product and what follows it, if the machine has
/// workgroups that do such ones.
std::optional<Attention> matchAttention(mlir::stablehlo::DotGeneralOp product,
                                        const MachineFacts &machine);

} // namespace alula::dispatch
