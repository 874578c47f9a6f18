#include "tools/options/help.h"

#include <algorithm>

namespace alula::options {

namespace {
enum class ValueKind { Free, File, Folder, Words };

struct Value {
  ValueKind kind;
  std::vector<std::string> words;
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    size_t bar = std::min(text.find('|'), text.size());
    words.emplace_back(text.substr(0, bar));
    if (bar == text.size())
      return words;
    text.remove_prefix(bar + 1);
  }
}

Value getValue(const Tool &tool, const Option &option) {
  std::string_view text = option.value;
  for (const Words &words : tool.words)
    if (text == words.value)
      return {ValueKind::Words, split(words.candidates)};
  if (text.find('|') != text.npos)
    return {ValueKind::Words, split(text)};
  std::string lower;
  for (char c : text)
    lower += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  if (lower.find("folder") != lower.npos)
    return {ValueKind::Folder, {}};
  for (const char *file : {"file", "value", "where", "library", "script"})
    if (lower.find(file) != lower.npos)
      return {ValueKind::File, {}};
  return {ValueKind::Free, {}};
}

/// With a backslash before each of these characters.
std::string escape(std::string_view text, std::string_view special) {
  std::string out;
  for (char c : text) {
    if (special.find(c) != special.npos)
      out += '\\';
    out += c;
  }
  return out;
}

/// As one word of a shell, between single quotes.
std::string quote(std::string_view text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string join(const std::vector<std::string> &words) {
  std::string out;
  for (const std::string &word : words)
    out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string getFunction(const Tool &tool) {
  std::string name = "_";
  for (const char *c = tool.name; *c; ++c)
    name += *c == '-' ? '_' : *c;
  return name;
}

// The word is read from the line, since bash cuts words at "=" and ":", and
// puts answers where it cut last.
constexpr const char *bashEnd = R"(    *) kind=file ;;
  esac
  case $kind in
    words) words=($(compgen -W "$words" -- "$value")) ;;
    file | folder)
      value=${value##*[=@]}
      local IFS=$'\n'
      if [[ $kind == file ]]; then
        words=($(compgen -f -- "$value"))
      else
        words=($(compgen -d -- "$value"))
      fi
      compopt -o filenames 2> /dev/null ;;
    *) return ;;
  esac
  local head=${word%"$value"} cut= breaks= c
  for c in = :; do
    [[ $COMP_WORDBREAKS == *"$c"* ]] && breaks+=$c
  done
  [[ $breaks && $word == *[$breaks]* ]] && cut=${word%"${word##*[$breaks]}"}
  for c in "${words[@]}"; do
    c=$head$c
    COMPREPLY+=("${c#"$cut"}")
  done
}
)";

std::string printBash(const Tool &tool) {
  std::string function = getFunction(tool), all, cases;
  for (const Option &option : getAllOptions(tool)) {
    if (option.shown == Shown::Nowhere)
      continue;
    all += (all.empty() ? "" : " ") + dash(option.name);
    if (option.takes == Takes::Value && option.name[1])
      all += '=';
    if (option.takes == Takes::Nothing)
      continue;
    Value value = getValue(tool, option);
    cases += "    " + dash(option.name) + ") ";
    switch (value.kind) {
    case ValueKind::Free:
      cases += "kind=free";
      break;
    case ValueKind::File:
      cases += "kind=file";
      break;
    case ValueKind::Folder:
      cases += "kind=folder";
      break;
    case ValueKind::Words:
      cases += "kind=words words=" + quote(join(value.words));
      break;
    }
    cases += " ;;\n";
  }
  return "# bash completion of " + std::string(tool.name) + "\n" + function +
         R"(() {
  local line=${COMP_LINE:0:COMP_POINT}
  local word=${line##*[[:space:]]} value option words kind
  local -a parts
  read -ra parts <<< "${line%"$word"}"
  COMPREPLY=()
  case $word in
    --*=*) option=${word%%=*} value=${word#*=} ;;
    -*)
      COMPREPLY=($(compgen -W )" +
         quote(all) + R"( -- "$word"))
      [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
      return ;;
    *) option=${parts[${#parts[@]} - 1]} value=$word ;;
  esac
  case $option in
)" + cases +
         bashEnd + "complete -F " + function + " " + tool.name + "\n";
}

std::string printZsh(const Tool &tool) {
  std::string function = getFunction(tool);
  std::string out = "#compdef " + std::string(tool.name) + "\n" + function +
                    "() {\n  _arguments";
  for (const Option &option : getAllOptions(tool)) {
    if (option.shown == Shown::Nowhere)
      continue;
    std::string spec = "*" + dash(option.name);
    if (option.takes == Takes::Value)
      spec += option.name[1] ? "=" : "+";
    else if (option.takes == Takes::MaybeValue)
      spec += "=-";
    spec += "[" + escape(option.help, "[]\\:") + "]";
    if (option.takes != Takes::Nothing) {
      spec += (option.takes == Takes::MaybeValue ? "::" : ":") +
              escape(option.value, "\\:") + ":";
      Value value = getValue(tool, option);
      switch (value.kind) {
      case ValueKind::Free:
        spec += " ";
        break;
      case ValueKind::File:
        spec += "_files";
        break;
      case ValueKind::Folder:
        spec += "_files -/";
        break;
      case ValueKind::Words:
        spec += "(" + escape(join(value.words), "\\:") + ")";
        break;
      }
    }
    out += " \\\n    " + quote(spec);
  }
  return out +
         " \\\n    '*:file:_files'\n}\n"
         "# As a file of $fpath it is the function; sourced, it says so.\n"
         "if [ \"$funcstack[1]\" = \"_" +
         tool.name + "\" ]; then\n  " + function + " \"$@\"\nelse\n  compdef " +
         function + " " + tool.name + "\nfi\n";
}

std::string printFish(const Tool &tool) {
  std::string out = "# fish completion of " + std::string(tool.name) + "\n";
  for (const Option &option : getAllOptions(tool)) {
    if (option.shown == Shown::Nowhere)
      continue;
    out += "complete -c " + std::string(tool.name) +
           (option.name[1] ? " -l " : " -s ") + option.name;
    if (option.takes != Takes::Nothing) {
      Value value = getValue(tool, option);
      bool isRequired = option.takes == Takes::Value;
      switch (value.kind) {
      case ValueKind::Free:
        out += isRequired ? " -x" : "";
        break;
      case ValueKind::File:
        out += isRequired ? " -r -F" : "";
        break;
      case ValueKind::Folder:
        out += (isRequired ? " -x" : "") +
               std::string(" -a '(__fish_complete_directories)'");
        break;
      case ValueKind::Words:
        out += (isRequired ? " -x" : "") + std::string(" -a '") +
               escape(join(value.words), "'\\") + "'";
        break;
      }
    }
    out += " -d '" + escape(option.help, "'\\") + "'\n";
  }
  return out;
}
} // namespace

std::string printCompletion(const Tool &tool, std::string_view shell) {
  if (shell == "bash")
    return printBash(tool);
  if (shell == "zsh")
    return printZsh(tool);
  if (shell == "fish")
    return printFish(tool);
  return "";
}

} // namespace alula::options
