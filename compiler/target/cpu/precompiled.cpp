// The file: its size when it is unpacked, then entries, packed as one: the size
// of the object, "machine routine" and a zero, the object.

#include "compiler/target/cpu/precompiled.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"

using namespace alula::cpu;

extern "C" const char alula_embedded_routines_begin[];
extern "C" const char alula_embedded_routines_end[];

namespace {
constexpr size_t sizeBytes = 8;

std::string getKey(llvm::StringRef machine, llvm::StringRef routine) {
  return (machine + " " + routine).str();
}

void appendSize(std::string &text, uint64_t size) {
  char bytes[sizeBytes];
  llvm::support::endian::write64le(bytes, size);
  text.append(bytes, sizeBytes);
}

struct Precompiled {
  llvm::SmallVector<uint8_t, 0> unpacked;
  llvm::StringMap<llvm::StringRef> objects;

  Precompiled() {
    llvm::StringRef file(alula_embedded_routines_begin,
                         static_cast<size_t>(alula_embedded_routines_end -
                                             alula_embedded_routines_begin));
    // Without them programs compile slower, and alike.
    if (file.size() < sizeBytes || !llvm::compression::zstd::isAvailable())
      return;
    uint64_t size = llvm::support::endian::read64le(file.data());
    if (auto error = llvm::compression::zstd::decompress(
            llvm::arrayRefFromStringRef(file.drop_front(sizeBytes)), unpacked,
            size)) {
      llvm::consumeError(std::move(error));
      return;
    }
    llvm::StringRef rest = llvm::toStringRef(unpacked);
    while (rest.size() > sizeBytes) {
      uint64_t bytes = llvm::support::endian::read64le(rest.data());
      auto [key, after] = rest.drop_front(sizeBytes).split('\0');
      objects[key] = after.take_front(bytes);
      rest = after.drop_front(bytes);
    }
  }
};
} // namespace

llvm::StringRef alula::cpu::findPrecompiled(llvm::StringRef machine,
                                            llvm::StringRef routine) {
  static const Precompiled precompiled;
  return precompiled.objects.lookup(getKey(machine, routine));
}

void PrecompiledWriter::add(llvm::StringRef machine, llvm::StringRef routine,
                            llvm::StringRef object) {
  appendSize(text, object.size());
  text += getKey(machine, routine);
  text += '\0';
  text += object;
}

std::string PrecompiledWriter::finish() const {
  std::string file;
  if (!llvm::compression::zstd::isAvailable())
    return file;
  appendSize(file, text.size());
  llvm::SmallVector<uint8_t, 0> packed;
  llvm::compression::zstd::compress(
      llvm::arrayRefFromStringRef(text), packed,
      llvm::compression::zstd::BestSizeCompression);
  return file.append(llvm::toStringRef(packed));
}
