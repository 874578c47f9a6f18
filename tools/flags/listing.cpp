#include "tools/flags/listing.h"

#include "tools/options/answer.h"
#include "tools/options/hints.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;
using namespace alula;

static options::Takes getTakes(const cl::Option &option, StringRef value) {
  if (value.empty())
    return options::Takes::Nothing;
  return option.getValueExpectedFlag() == cl::ValueOptional
             ? options::Takes::MaybeValue
             : options::Takes::Value;
}

std::vector<options::Option> tools::getDeclaredRows() {
  std::vector<options::Option> rows;
  StringMap<cl::Option *> &known = cl::getRegisteredOptions();
  for (const driver::FlagRow &row : driver::getFlags())
    if (cl::Option *option = known.lookup(row.name))
      rows.push_back({row.name.data(), row.value.data(),
                      driver::getTitle(row.group).data(), row.help.data(),
                      getTakes(*option, row.value),
                      row.group == driver::FlagGroup::Hidden
                          ? options::Shown::Nowhere
                          : options::Shown::Everywhere});
  return rows;
}

std::vector<options::Option> tools::getPassRows() {
  std::vector<options::Option> rows;
  for (const auto &entry : cl::getRegisteredOptions())
    if (mlir::PassInfo::lookup(entry.first()) ||
        mlir::PassPipelineInfo::lookup(entry.first()))
      rows.push_back({entry.getKeyData(), "", "Passes", "",
                      options::Takes::Nothing, options::Shown::InCompletion});
  llvm::sort(rows, [](const options::Option &a, const options::Option &b) {
    return StringRef(a.name) < b.name;
  });
  return rows;
}

/// Words that look like options but are none.
static std::vector<StringRef> findUnknown(ArrayRef<const char *> words) {
  std::vector<StringRef> unknown;
  StringMap<cl::Option *> &known = cl::getRegisteredOptions();
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef word = words[i], name = word;
    if (word == "--")
      break;
    if (!name.consume_front("-") || name.empty())
      continue;
    name.consume_front("-");
    cl::Option *option = known.lookup(name.split('=').first);
    if (!option)
      unknown.push_back(word);
    else if (!name.contains('=') &&
             option->getValueExpectedFlag() == cl::ValueRequired)
      ++i;
  }
  return unknown;
}

bool tools::parseCommandLine(const options::Tool &tool,
                             ArrayRef<const char *> words) {
  std::string problems;
  raw_string_ostream os(problems);
  if (cl::ParseCommandLineOptions(static_cast<int>(words.size()), words.data(),
                                  tool.description, &os))
    return true;
  BumpPtrAllocator memory;
  StringSaver saver(memory);
  SmallVector<const char *> expanded(words.begin(), words.end());
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, expanded);
  std::vector<StringRef> unknown = findUnknown(expanded);
  for (StringRef word : unknown)
    options::fail(tool,
                  options::explainUnknown(tool, {word.data(), word.size()}));
  if (!unknown.empty())
    return false;
  SmallVector<StringRef> lines;
  StringRef(problems).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    // LLVM begins with a tool's name, too, and may point to its own help.
    line.consume_front((sys::path::filename(words[0]) + ": ").str());
    line.consume_front((Twine(tool.name) + ": ").str());
    options::fail(tool, line.split(" See: ").first.str());
  }
  return false;
}
