// Kernel code in executable memory.

#pragma once

#include "artifact/reader.h"
#include "runtime/base/status.h"

namespace alula::runtime {

/// Pages of one variant's code: writable while they are filled, executable
/// afterwards, never both.
class CodeImage {
public:
  CodeImage() = default;
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;
  ~CodeImage();

  Status load(const artifact::Artifact &artifact,
              const alula_file_variant &variant);

  /// The function at an offset of ENTRIES, or NULL if that is not in code.
  void *getEntry(uint64_t offset) const;

private:
  struct Range {
    uint64_t begin, end;
  };
  Status map(uint64_t bytes);

  uint8_t *memory = nullptr;
  uint64_t mappedBytes = 0;
  Range code[8];
  uint32_t codeCount = 0;
};

} // namespace alula::runtime
