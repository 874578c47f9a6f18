// What a tool can be told, as data.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alula::options {

enum class Takes { Nothing, Value, MaybeValue };
/// Where an option is told of; one that is told of nowhere is known all the
/// same.
enum class Shown { Everywhere, InCompletion, Nowhere };

struct Option {
  /// Without dashes; "o" is one letter and the only such option.
  const char *name;
  /// What it wants, in a word: FILE and FOLDER are completed as such, words
  /// between "|" as themselves, others as `Tool::words` says.
  const char *value;
  /// Its group's title.
  const char *group;
  /// Lower case, no full stop.
  const char *help;
  Takes takes = *value ? Takes::Value : Takes::Nothing;
  Shown shown = Shown::Everywhere;

  bool isInHelp() const { return shown == Shown::Everywhere; }
};

/// What a value may be, by the word that stands for it: words between "|".
struct Words {
  const char *value;
  const char *candidates;
};

/// An option that another program has, and what to say instead.
struct Foreign {
  const char *name;
  const char *hint;
};

struct Tool {
  const char *name;
  /// What follows the name, one line for each form.
  std::vector<const char *> usages;
  /// One sentence for the list of man pages: lower case, no full stop.
  const char *summary;
  /// Paragraphs: after the usage, and at the end; with line breaks.
  const char *description;
  const char *notes;
  std::vector<Option> options;
  /// Groups of which --help says names alone.
  std::vector<const char *> briefGroups;
  std::vector<Words> words;
  std::vector<Foreign> foreign;
  /// The version of LLVM in it; null: there is none.
  const char *llvm = nullptr;
  /// LLVM's parser has --help-hidden.
  bool hasHiddenHelp = false;
};

/// The options of the table and those of every tool, in the order of groups.
std::vector<Option> getAllOptions(const Tool &tool);

/// Titles, each once, in order.
std::vector<const char *> getGroups(const std::vector<Option> &options);

/// "--input=VALUE", "-o FILE", "--random[=SEED]"
std::string spell(const Option &option);

/// "o" has one dash.
std::string dash(std::string_view name);

/// By name, dashes not included; null if there is none.
const Option *findOption(const std::vector<Option> &options,
                         std::string_view name);

} // namespace alula::options
