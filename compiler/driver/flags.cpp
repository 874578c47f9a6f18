#include "compiler/driver/flags.h"

using namespace alula::driver;

static constexpr std::nullopt_t Never = std::nullopt;

static constexpr FlagRow rows[] = {
#define ALULA_FLAG_ROW(id, name, kind, value, group, lastUse, help)            \
  {Flag::id, name, FlagKind::kind, value, FlagGroup::group, lastUse, help},
    ALULA_COMPILER_FLAGS(ALULA_FLAG_ROW)
#undef ALULA_FLAG_ROW
};

llvm::StringRef alula::driver::getTitle(FlagGroup group) {
  switch (group) {
  case FlagGroup::Compile:
    return "What is compiled";
  case FlagGroup::Stages:
    return "Stages";
  case FlagGroup::Dumps:
    return "What is written on the way";
  case FlagGroup::Objects:
    return "Executables and code of others";
  case FlagGroup::Preprocess:
    return "Tools that kernels go through";
  case FlagGroup::Plugins:
    return "Plugins";
  case FlagGroup::Reports:
    return "Reports and failures";
  case FlagGroup::Hidden:
    return "For tests";
  }
  return "";
}

llvm::ArrayRef<FlagRow> alula::driver::getFlags() { return rows; }

const FlagRow &alula::driver::getFlag(Flag flag) {
  return rows[static_cast<unsigned>(flag)];
}

const FlagRow *alula::driver::findFlag(llvm::StringRef name) {
  for (const FlagRow &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

bool alula::driver::isRecorded(llvm::StringRef name) {
  const FlagRow *row = findFlag(name);
  return row ? row->lastUse.has_value() : !name.starts_with("mlir-");
}

Room alula::driver::getLastUse(llvm::StringRef name) {
  const FlagRow *row = findFlag(name);
  return row && row->lastUse ? *row->lastUse : Room::Emit;
}
