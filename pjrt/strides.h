#pragma once

#include "alula/runtime.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// Arrays as they lie in memory that is not ours.

namespace alula::pjrt {

/// False if the number of elements, or of bytes, is negative or too large.
bool countBytes(const int64_t *dims, size_t rank, alula_dtype dtype,
                size_t &bytes);

/// Byte strides of an array without gaps whose dimensions, fastest first, are
/// `minorToMajor`; empty if that is no permutation of the dimensions.
std::vector<int64_t> getStrides(const int64_t *dims, size_t rank,
                                size_t elementBytes,
                                const int64_t *minorToMajor);

/// Whether rows lie one after the other, the last dimension fastest.
bool isDense(const int64_t *dims, const int64_t *strides, size_t rank,
             size_t elementBytes);

/// Copies elements between any two layouts.
void copyStrided(char *to, const int64_t *toStrides, const char *from,
                 const int64_t *fromStrides, const int64_t *dims, size_t rank,
                 size_t elementBytes);

/// Whether every byte is as dtype.h wants it: only types below 8 bits can
/// differ.
bool isCanonical(alula_dtype dtype, const void *data, size_t count);
/// Sets or clears the unused bits of elements below 8 bits.
void canonicalize(alula_dtype dtype, void *data, size_t count);
/// All of a buffer; a PJRT error, or NULL.
void *canonicalize(alula_buffer *buffer);

/// Bytes of `count` elements with no unused bits between them, the first in
/// the lowest bits, as some clients want types below 8 bits.
size_t getPackedBytes(alula_dtype dtype, size_t count);
void pack(alula_dtype dtype, const void *from, void *to, size_t count);

} // namespace alula::pjrt
