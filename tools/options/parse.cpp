#include "tools/options/parse.h"

#include "tools/options/hints.h"

namespace alula::options {

std::string explainValue(const Given &given) {
  return dash(given.option->name) + " wants " + given.option->value +
         (given.hasValue ? ", not '" + std::string(given.value) + "'" : "");
}

bool getFile(const CommandLine &line, std::string &file, std::string &error) {
  if (line.others.size() > 1) {
    error = "more than one file: '" + std::string(line.others[0]) + "' and '" +
            std::string(line.others[1]) + "'";
    return false;
  }
  file = line.others.empty() ? "" : line.others[0];
  return true;
}

bool parse(const Tool &tool, std::span<const std::string_view> words,
           CommandLine &line, std::string &error) {
  line.options = getAllOptions(tool);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word == "--") {
      line.others.insert(line.others.end(), words.begin() + ptrdiff_t(i) + 1,
                         words.end());
      return true;
    }
    if (!word.starts_with("-") || word == "-") {
      line.others.push_back(word);
      continue;
    }
    std::string_view name = word;
    name.remove_prefix(name.starts_with("--") ? 2 : 1);
    size_t equals = name.find('=');
    Given given = {findOption(line.options, name.substr(0, equals)), "",
                   equals != name.npos};
    if (!given.option) {
      error = explainUnknown(tool, word);
      return false;
    }
    if (given.hasValue)
      given.value = name.substr(equals + 1);
    Takes takes = given.option->takes;
    if (takes == Takes::Nothing && given.hasValue) {
      error = dash(given.option->name) + " takes no value";
      return false;
    }
    // The value may also be the next word.
    if (takes == Takes::Value && !given.hasValue) {
      if (i + 1 == words.size()) {
        error = explainValue(given);
        return false;
      }
      given.value = words[++i];
      given.hasValue = true;
    }
    line.given.push_back(given);
  }
  return true;
}

bool parse(const Tool &tool, int argc, const char *const *argv,
           CommandLine &line, std::string &error) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  return parse(tool, words, line, error);
}

} // namespace alula::options
