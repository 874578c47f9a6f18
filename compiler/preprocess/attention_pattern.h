#pragma once

#include "dialect/dispatch/attention.h"

#include <optional>
#include <string>

namespace alula::preprocess {

/// softmax(scale queries x keys) x values of halves, in batches of heads.
struct PlainAttention {
  dispatch::Attention attention;
  double scale;
  /// Batch, heads, rows, numbers of a row.
  struct Matrix {
    mlir::Value value;
    int64_t sizes[4], strides[4];
  };
  Matrix queries, keys, values, result;
};

/// The attention that ends in this product and what moves its result; nothing
/// if it does more to scores than to scale them, or its matrices do not lie in
/// steps from their first element on.
std::optional<PlainAttention>
matchPlainAttention(mlir::stablehlo::DotGeneralOp product);

/// What cuDNN is asked for (runtime/device/cuda/libraries/cudnn.cpp): of
/// queries, keys, values and the result.
std::string describeForCudnn(const PlainAttention &attention);

} // namespace alula::preprocess
