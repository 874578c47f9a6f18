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
