// The file has entries: the size of the object, "machine routine" and a zero,
// the object.

#include "compiler/target/cpu/precompiled.h"

#include "compiler/target/cpu/packed_bytes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

using namespace alula::cpu;

extern "C" const char alula_embedded_routines_begin[];
extern "C" const char alula_embedded_routines_end[];

namespace {
constexpr size_t sizeBytes = 8;

std::string getKey(llvm::StringRef machine, llvm::StringRef routine) {
  return (machine + " " + routine).str();
}

struct Precompiled {
  std::string bytes;
  llvm::StringMap<llvm::StringRef> objects;

  Precompiled()
      : bytes(unpackBytes(alula_embedded_routines_begin,
                          alula_embedded_routines_end)) {
    llvm::StringRef rest = bytes;
    while (rest.size() > sizeBytes) {
      uint64_t size = llvm::support::endian::read64le(rest.data());
      auto [key, after] = rest.drop_front(sizeBytes).split('\0');
      objects[key] = after.take_front(size);
      rest = after.drop_front(size);
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
  char size[sizeBytes];
  llvm::support::endian::write64le(size, object.size());
  bytes.append(size, sizeBytes);
  bytes += getKey(machine, routine);
  bytes += '\0';
  bytes += object;
}
