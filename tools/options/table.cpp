#include "tools/options/table.h"

#include <algorithm>

namespace alula::options {

static constexpr const char *own = "Help";

std::vector<Option> getAllOptions(const Tool &tool) {
  std::vector<Option> all = tool.options;
  all.push_back({"help", "", own, "print this"});
  if (!tool.briefGroups.empty())
    all.push_back({"help-all", "", own, "print this with every group in full"});
  if (tool.hasHiddenHelp)
    all.push_back({"help-hidden", "", own, "print LLVM's options too"});
  all.push_back({"version", "", own, "print versions"});
  all.push_back({"completion", "bash|zsh|fish", own,
                 "print the script that completes these options"});
  all.push_back({"help-man", "", own, "print the manual page", Takes::Nothing,
                 Shown::Nowhere});
  return all;
}

std::vector<const char *> getGroups(const std::vector<Option> &options) {
  std::vector<const char *> groups;
  for (const Option &option : options) {
    auto isSame = [&](const char *group) {
      return std::string_view(group) == option.group;
    };
    if (option.isInHelp() && std::none_of(groups.begin(), groups.end(), isSame))
      groups.push_back(option.group);
  }
  return groups;
}

std::string dash(std::string_view name) {
  return (name.size() == 1 ? "-" : "--") + std::string(name);
}

std::string spell(const Option &option) {
  std::string text = dash(option.name);
  bool isLetter = !option.name[1];
  if (option.takes == Takes::Value)
    text += (isLetter ? " " : "=") + std::string(option.value);
  else if (option.takes == Takes::MaybeValue)
    text += "[=" + std::string(option.value) + "]";
  return text;
}

const Option *findOption(const std::vector<Option> &options,
                         std::string_view name) {
  for (const Option &option : options)
    if (option.name == name)
      return &option;
  return nullptr;
}

} // namespace alula::options
