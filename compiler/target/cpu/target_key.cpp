#include "compiler/target/cpu/target_key.h"

#include "compiler/target/cpu/object_code.h"

using namespace alula;
using namespace alula::cpu;

alula::objects::TargetKey alula::cpu::getTargetKey(const Machine &machine) {
  return {"cpu", machine.name, machine.target, machine.features,
          static_cast<int>(machine.facts.vectorBytes)};
}

bool alula::cpu::isBuiltin(const objects::TargetKey &key,
                           llvm::StringRef name) {
  auto machine = findMachine(key.name);
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return false;
  }
  // Routines too, so that objects of our own can come back.
  auto object = name.starts_with("alula_")
                    ? getRoutineObject(*machine, name)
                    : getBuiltinsObject(*machine, {name.str()});
  if (!object) {
    llvm::consumeError(object.takeError());
    return false;
  }
  return !object->empty();
}
