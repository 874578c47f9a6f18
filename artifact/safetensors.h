// Tensors of a safetensors file, where constants outside of an artifact lie.
// Like the reader of artifacts: no allocation, no C++ library, and no trust in
// the bytes.

#pragma once

#include "alula/artifact.h"
#include "alula/dtype.h"
#include "artifact/diagnostic.h"

#include <cstddef>
#include <cstdint>

namespace alula::artifact {

/// A view of a file's bytes, which must outlive it.
struct Safetensors {
  const char *header = nullptr, *headerEnd = nullptr;
  const uint8_t *data = nullptr;
  uint64_t dataBytes = 0;
  /// Where the next search begins: most look-ups follow the file's order.
  const char *next = nullptr;
};

struct SafetensorsTensor {
  /// The format's own name of the element type, which need not be known here.
  char type[16];
  uint32_t rank;
  int64_t dims[ALULA_MAX_RANK];
  const uint8_t *data;
  uint64_t bytes;
};

/// Checks the whole header; whatever is found later lies inside the file.
bool openSafetensors(const void *bytes, uint64_t size, Safetensors &file,
                     Diagnostic &diagnostic);

/// The tensor called `name`; false if there is none.
bool findTensor(Safetensors &file, const char *name, SafetensorsTensor &tensor);

/// "F32"; NULL for what the format has no name for, or packs otherwise than we
/// do. Such types lie as U8 of rank 1.
const char *getSafetensorsName(uint32_t dtype);

} // namespace alula::artifact
