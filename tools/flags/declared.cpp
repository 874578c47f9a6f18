#include "tools/flags/declared.h"

using namespace alula;
using namespace alula::tools;
using driver::FlagKind;

TableFlags::TableFlags() {
  for (const driver::FlagRow &row : driver::getFlags()) {
    Declared declared = {row.flag, nullptr, nullptr, nullptr};
    if (row.kind == FlagKind::Text)
      declared.text = std::make_unique<One<std::string>>(row.flag);
    else if (row.kind == FlagKind::Texts)
      declared.texts = std::make_unique<Many>(row.flag);
    else if (row.kind == FlagKind::Switch)
      declared.isOn = std::make_unique<One<bool>>(row.flag);
    else
      continue;
    all.push_back(std::move(declared));
  }
}

std::vector<std::string> TableFlags::getValues(const Declared &declared) {
  if (declared.texts)
    return {declared.texts->begin(), declared.texts->end()};
  if (declared.isOn)
    return std::vector<std::string>(*declared.isOn ? 1 : 0);
  if (declared.text->getNumOccurrences())
    return {declared.text->getValue()};
  return {};
}

std::vector<std::string> TableFlags::getValues(driver::Flag flag) const {
  for (const Declared &declared : all)
    if (declared.flag == flag)
      return getValues(declared);
  return {};
}

llvm::Error TableFlags::apply(driver::CompileOptions &options) const {
  for (const Declared &declared : all)
    for (const std::string &value : getValues(declared))
      if (llvm::Error error = driver::setOption(options, declared.flag, value))
        return error;
  return driver::checkOptions(options);
}
