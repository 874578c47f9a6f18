#include "compiler/preprocess/line_layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace {
/// One line of MLIR text: an op and what belongs to it.
class Line {
public:
  Line(StringRef line, std::string &out)
      : line(line), indent(line.take_while([](char c) { return c == ' '; })),
        out(out) {}

  static bool isShell(StringRef line) {
    StringRef text = line.ltrim(' ');
    return text.starts_with("dispatch.entry ") ||
           text.starts_with("dispatch.executable ") ||
           (text.starts_with("module attributes {") && text == line);
  }

  void layOut() {
    bool isEntry = line.ltrim(' ').starts_with("dispatch.entry ");
    while (at < line.size()) {
      if (depth == 0 && line[at] == ' ' && isEntry && startsPart()) {
        out += "\n" + (indent + "  ").str();
        ++at;
      } else if (depth == 0 && line[at] == '{' && at + 1 < line.size()) {
        layOutDictionary(isEntry ? (indent + "  ").str() : indent.str());
      } else {
        copy();
      }
    }
  }

private:
  bool startsPart() const {
    static constexpr StringLiteral parts[] = {
        "bindings(", "constants ", "workgroups ", "scratch ", "{", "loc("};
    return at > indent.size() && any_of(parts, [&](StringRef part) {
             return line.substr(at + 1).starts_with(part);
           });
  }

  /// One character, or a string as a whole.
  void copy() {
    char c = line[at];
    bool isArrow = c == '>' && at && line[at - 1] == '-';
    if (c == '"') {
      copyString();
      return;
    }
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}>").contains(c) && !isArrow && depth)
      --depth;
    out += c;
    ++at;
  }

  void copyString() {
    size_t begin = at++;
    while (at < line.size() && line[at] != '"')
      at += line[at] == '\\' ? 2 : 1;
    at = std::min(at + 1, line.size());
    out += line.slice(begin, at);
  }

  /// From its opening to its closing brace.
  void layOutDictionary(const std::string &margin) {
    copy();
    out += "\n" + margin + "  ";
    while (at < line.size() && !(depth == 1 && line[at] == '}')) {
      bool isEnd = depth == 1 && line[at] == ',';
      copy();
      if (!isEnd)
        continue;
      out += "\n" + margin + "  ";
      at += at < line.size() && line[at] == ' ';
    }
    out += "\n" + margin;
    if (at < line.size())
      copy();
  }

  StringRef line, indent;
  std::string &out;
  size_t at = 0;
  unsigned depth = 0;
};
} // namespace

std::string alula::preprocess::layOutShell(StringRef text) {
  std::string out;
  out.reserve(text.size() + 1024);
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (Line::isShell(line))
      Line(line, out).layOut();
    else
      out += line;
    if (line.size() < text.size())
      out += '\n';
    text = rest;
  }
  return out;
}
