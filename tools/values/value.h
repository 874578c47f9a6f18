// A tensor as the tools see it: element type, shape, raw bytes.

#pragma once

#include "alula/dtype.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace alula::values {

struct FreeMemory {
  void operator()(uint8_t *memory) const { std::free(memory); }
};

/// Owns its bytes; they are 64-byte aligned and start as zeros.
struct Value {
  alula_dtype type = ALULA_DTYPE_INVALID;
  std::vector<int64_t> shape;
  std::unique_ptr<uint8_t[], FreeMemory> data;
  /// Number of bytes in `data`.
  size_t size = 0;

  int64_t getNumElements() const;
};

/// Makes a value of zeros. Fails on a shape whose bytes do not fit in memory.
bool createValue(alula_dtype type, std::vector<int64_t> shape, Value &value,
                 std::string &error);

/// Reads "2x3xf32", "f32", "4xcomplex<f64>".
bool parseType(std::string_view text, alula_dtype &type,
               std::vector<int64_t> &shape, std::string &error);

/// "2x3xf32"; a negative dimension prints as "?".
std::string printType(alula_dtype type, const std::vector<int64_t> &shape);

} // namespace alula::values
