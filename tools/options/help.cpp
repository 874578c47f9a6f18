#include "tools/options/help.h"

#include "alula/artifact.h"

#include <algorithm>

namespace alula::options {

static constexpr size_t columns = 100, indent = 2, widest = 34;

std::span<const std::pair<const char *, const char *>> getStatuses() {
  static constexpr std::pair<const char *, const char *> statuses[] = {
      {"0", "all is well"},
      {"1",
       "the program, the artifact or a value is wrong, or a result differs"},
      {"2", "the command line is wrong"},
      {"3", "a file can't be read or written"},
      {"70", "a plugin has crashed"},
      {"128+N", "ended by signal N"},
  };
  return statuses;
}

/// Adds `text`, whose first word comes at `column`; lines that follow begin at
/// `left`.
static void addWrapped(std::string &out, std::string_view text, size_t column,
                       size_t left) {
  for (bool isFirst = true; !text.empty(); isFirst = false) {
    size_t end = std::min(text.find(' '), text.size());
    bool isNewLine = column + !isFirst + end > columns && column > left;
    if (isNewLine) {
      out += "\n" + std::string(left, ' ');
      column = left;
    } else if (!isFirst) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

static void addOption(std::string &out, const Option &option, size_t width) {
  std::string name = std::string(indent, ' ') + spell(option);
  out += name;
  size_t left = indent + width + 2;
  // A long name pushes its own text aside, not those of others.
  size_t column = std::max(left, name.size() + 2);
  out += std::string(column - name.size(), ' ');
  addWrapped(out, option.help, column, left);
}

static void addNames(std::string &out, const std::vector<Option> &options,
                     std::string_view group) {
  std::string names;
  for (const Option &option : options)
    if (option.isInHelp() && group == option.group)
      names += (names.empty() ? "" : " ") + dash(option.name);
  out += std::string(indent, ' ');
  addWrapped(out, names, indent, indent);
}

std::string printHelp(const Tool &tool, Detail detail) {
  std::string out;
  for (size_t i = 0; i < tool.usages.size(); ++i)
    out += (i ? "       " : "usage: ") + std::string(tool.name) + " " +
           tool.usages[i] + "\n";
  out += "\n" + std::string(tool.description) + "\n";
  std::vector<Option> options = getAllOptions(tool);
  auto isBrief = [&](std::string_view group) {
    return detail == Detail::Brief &&
           std::any_of(tool.briefGroups.begin(), tool.briefGroups.end(),
                       [&](const char *each) { return group == each; });
  };
  size_t width = 0;
  for (const Option &option : options)
    if (size_t size = spell(option).size();
        option.isInHelp() && !isBrief(option.group) && size <= widest)
      width = std::max(width, size);
  for (const char *group : getGroups(options)) {
    out += "\n" + std::string(group) +
           (isBrief(group) ? " (--help-all explains):\n" : ":\n");
    if (isBrief(group)) {
      addNames(out, options, group);
      continue;
    }
    for (const Option &option : options)
      if (option.isInHelp() && std::string_view(group) == option.group)
        addOption(out, option, width);
  }
  if (*tool.notes)
    out += "\n" + std::string(tool.notes) + "\n";
  out += "\nExit status: 0 all is well, 1 the program or a value is wrong, "
         "2 the command line is wrong,\n3 a file can't be read or written.\n";
  return out;
}

std::string printVersion(const Tool &tool) {
  std::string out = std::string(tool.name) + " " + ALULA_TOOLS_VERSION +
                    "\nartifact format " + std::to_string(ALULA_FILE_MAJOR) +
                    "." + std::to_string(ALULA_FILE_MINOR) + "\n";
  out += tool.llvm ? "LLVM " + std::string(tool.llvm) + "\n"
                   : std::string("without LLVM\n");
  return out;
}

} // namespace alula::options
