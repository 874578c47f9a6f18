#pragma once

#include "alula/runtime.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// Strides and layouts of arrays in clients' memory.

namespace alula::pjrt {

/// False if the number of elements, or of bytes, is negative or too large.
bool countBytes(const int64_t *dims, size_t rank, alula_dtype dtype,
                size_t &bytes);

/// The order in which an array's dimensions lie, from minor to major; empty for
/// row-major.
using Layout = std::vector<int64_t>;

/// The same, empty if it is row-major.
Layout simplifyLayout(Layout layout);

/// Byte strides of an array without gaps; empty if the layout is no permutation
/// of the dimensions.
std::vector<int64_t> getStrides(const int64_t *dims, size_t rank,
                                size_t elementBytes, const Layout &layout);

/// The layout without gaps that has these strides; false if there is none.
bool findLayout(const int64_t *dims, const int64_t *strides, size_t rank,
                size_t elementBytes, Layout &layout);

/// Whether both strides give all elements the same addresses.
bool isSamePlaces(const int64_t *dims, const int64_t *some,
                  const int64_t *others, size_t rank);

/// The row-major array that lies in memory as one of these dims and this layout
/// does, and back.
std::vector<int64_t> getDimsInMemory(const int64_t *dims, size_t rank,
                                     const Layout &layout);
std::vector<int64_t> getDimsOfProgram(const int64_t *dimsInMemory, size_t rank,
                                      const Layout &layout);

/// Copies elements between any two strides: a transposition.
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

} // namespace alula::pjrt
