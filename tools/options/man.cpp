#include "tools/options/help.h"

namespace alula::options {

/// As text of a page: dashes are those of options, dots begin no request.
static std::string escape(std::string_view text) {
  std::string out;
  bool isStart = true;
  for (char c : text) {
    if (isStart && (c == '.' || c == '\''))
      out += "\\&";
    isStart = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out;
}

static std::string upper(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  return out;
}

/// Lines as they are.
static std::string keep(std::string_view text) {
  return ".nf\n" + escape(text) + "\n.fi\n";
}

std::string printMan(const Tool &tool) {
  std::string out = ".TH " + upper(escape(tool.name)) +
                    " 1 \"\" \"Alula " ALULA_TOOLS_VERSION "\" \"Alula\"\n";
  out += ".SH NAME\n" + escape(tool.name) + " \\- " + escape(tool.summary) +
         "\n.SH SYNOPSIS\n";
  for (size_t i = 0; i < tool.usages.size(); ++i)
    out += (i ? ".br\n" : "") + (".B " + escape(tool.name)) + "\n" +
           escape(tool.usages[i]) + "\n";
  out += ".SH DESCRIPTION\n" + escape(tool.description) + "\n";
  out += ".SH OPTIONS\n";
  std::vector<Option> options = getAllOptions(tool);
  for (const char *group : getGroups(options)) {
    out += ".SS \"" + escape(group) + "\"\n";
    for (const Option &option : options)
      if (option.isInHelp() && std::string_view(group) == option.group)
        out += ".TP\n.B " + escape(spell(option)) + "\n" + escape(option.help) +
               "\n";
  }
  if (*tool.notes)
    out += ".SH NOTES\n" + keep(tool.notes);
  out += ".SH EXIT STATUS\n";
  for (auto [status, meaning] : getStatuses())
    out += ".TP\n.B " + escape(status) + "\n" + escape(meaning) + "\n";
  return out;
}

} // namespace alula::options
