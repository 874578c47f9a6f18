// The file has entries, one for each routine: the size of what is packed, the
// routine's name and a zero, what is packed. That is the objects for all
// machines, which are much alike: size, machine and a zero, object.

#include "compiler/target/cpu/precompiled.h"

#include "compiler/target/cpu/packed_bytes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

#include <mutex>

using namespace alula::cpu;

extern "C" const char alula_embedded_routines_begin[];
extern "C" const char alula_embedded_routines_end[];

namespace {
constexpr size_t sizeBytes = 8;

void addEntry(std::string &file, llvm::StringRef name, llvm::StringRef bytes) {
  char size[sizeBytes];
  llvm::support::endian::write64le(size, bytes.size());
  file.append(size, sizeBytes);
  file += name;
  file += '\0';
  file += bytes;
}

void forEachEntry(
    llvm::StringRef file,
    llvm::function_ref<void(llvm::StringRef name, llvm::StringRef bytes)>
        visit) {
  while (file.size() > sizeBytes) {
    uint64_t size = llvm::support::endian::read64le(file.data());
    auto [name, rest] = file.drop_front(sizeBytes).split('\0');
    visit(name, rest.take_front(size));
    file = rest.drop_front(size);
  }
}

struct Routine {
  llvm::StringRef packed;
  std::once_flag once;
  std::string bytes;
  llvm::StringMap<llvm::StringRef> objects;
};

llvm::StringMap<Routine> findRoutines() {
  llvm::StringMap<Routine> routines;
  forEachEntry({alula_embedded_routines_begin,
                static_cast<size_t>(alula_embedded_routines_end -
                                    alula_embedded_routines_begin)},
               [&](llvm::StringRef name, llvm::StringRef packed) {
                 routines[name].packed = packed;
               });
  return routines;
}
} // namespace

llvm::StringRef alula::cpu::findPrecompiled(llvm::StringRef machine,
                                            llvm::StringRef name) {
  // For ever: compilations may outlive static objects.
  static auto *const routines = new llvm::StringMap<Routine>(findRoutines());
  auto found = routines->find(name);
  if (found == routines->end())
    return {};
  Routine &routine = found->second;
  std::call_once(routine.once, [&] {
    routine.bytes = unpackBytes(routine.packed.begin(), routine.packed.end());
    forEachEntry(routine.bytes, [&](llvm::StringRef machine,
                                    llvm::StringRef object) {
      routine.objects[machine] = object;
    });
  });
  return routine.objects.lookup(machine);
}

void PrecompiledWriter::add(llvm::StringRef machine, llvm::StringRef routine,
                            llvm::StringRef object) {
  addEntry(routines[routine.str()], machine, object);
}

std::string PrecompiledWriter::getBytes() const {
  std::string file;
  for (const auto &[name, objects] : routines)
    addEntry(file, name, packBytes(objects));
  return file;
}
