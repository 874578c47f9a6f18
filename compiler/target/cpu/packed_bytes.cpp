#include "compiler/target/cpu/packed_bytes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"

std::string alula::cpu::unpackBytes(const char *begin, const char *end) {
  constexpr size_t sizeBytes = 8;
  llvm::StringRef file(begin, static_cast<size_t>(end - begin));
  if (file.size() < sizeBytes)
    return {};
  size_t size = llvm::support::endian::read64le(file.data());
  std::string bytes(size, '\0');
  llvm::cantFail(llvm::compression::zstd::decompress(
      llvm::arrayRefFromStringRef(file.drop_front(sizeBytes)),
      reinterpret_cast<uint8_t *>(bytes.data()), size));
  return bytes;
}

std::string alula::cpu::packBytes(llvm::StringRef bytes) {
  constexpr int smallest = 22;
  std::string packed(sizeof(uint64_t), '\0');
  llvm::support::endian::write64le(packed.data(), bytes.size());
  llvm::SmallVector<uint8_t, 0> frame;
  llvm::compression::zstd::compress(llvm::arrayRefFromStringRef(bytes), frame,
                                    smallest);
  packed += llvm::toStringRef(frame);
  return packed;
}
