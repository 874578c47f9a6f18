#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>

namespace alula::newer {

/// What we refuse before anything recurses over it or multiplies it. All are
/// far above what a program needs.

/// Brackets of all kinds inside each other. MLIR's parser, verifier and
/// printer recurse over them.
inline constexpr unsigned maxNesting = 512;
/// The same when aliases are followed; walks over attributes recurse over it.
inline constexpr unsigned maxAliasNesting = 4096;
/// Parts that one alias stands for when the aliases in it are spelled out, as
/// the printer does; each line of a file could double it.
inline constexpr uint64_t maxAliasParts = uint64_t(1) << 20;
/// Operators in one affine expression, which the parser recurses over.
inline constexpr unsigned maxAffineOperators = 1024;
/// `%0#n`: the parser makes room for all results before the n-th.
inline constexpr unsigned maxResultNumber = 1 << 16;
inline constexpr unsigned maxRank = 1024;
/// Digits of one number, which the parser takes quadratic time for. The exact
/// decimal form of an f64 has at most 1,075.
inline constexpr unsigned maxDigits = 4096;
/// Elements of one tensor. Its bits still fit an int64_t with 128 bits each.
inline constexpr int64_t maxElements = int64_t(1) << 55;
/// Bytes of one source file: columns are 32 bits wide.
inline constexpr uint64_t maxSourceBytes = 0xFFFFFFFF;

/// The product of the static dimensions (negative ones are dynamic and zeros
/// are skipped), or nothing when it exceeds `maxElements`.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

} // namespace alula::newer
