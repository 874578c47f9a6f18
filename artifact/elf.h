// Kernel images in ELF: segments and symbols, for loader and compiler.

#pragma once

#include "artifact/diagnostic.h"

#include <cstddef>
#include <cstdint>

namespace alula::artifact {

/// One loadable segment; `data` borrows from the image.
struct ElfSegment {
  uint64_t address, memoryBytes;
  const uint8_t *data;
  uint64_t fileBytes;
  bool execute;
};

struct ElfImage {
  static constexpr uint32_t maxSegments = 8;
  ElfSegment segments[maxSegments];
  uint32_t segmentCount = 0;
  /// One past the last address; addresses start near zero.
  uint64_t addressBytes = 0;
};

/// Reads and checks an image: 64-bit little-endian ET_DYN for `target`
/// ("x86_64", "aarch64", "riscv64"), no relocations, no needed libraries,
/// no thread-local or writable data. Any bytes are safe to give.
bool readElfImage(const uint8_t *bytes, size_t size, const char *target,
                  ElfImage &image, Diagnostic &diagnostic);

/// The address of an exported symbol, for the entries of a variant.
bool findElfSymbol(const uint8_t *bytes, size_t size, const char *name,
                   uint64_t &address, Diagnostic &diagnostic);

} // namespace alula::artifact
