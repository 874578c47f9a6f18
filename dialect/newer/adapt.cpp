#include "dialect/newer/adapt.h"
#include "dialect/newer/limits.h"
#include "dialect/newer/type_scan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

using namespace alula::newer;
using llvm::StringRef;

namespace {

class Adapter {
public:
  explicit Adapter(StringRef text) : text(text) {}

  Adaptation run() {
    while (pos < text.size() && !result.refusal)
      step();
    return std::move(result);
  }

private:
  /// One open bracket.
  struct Open {
    char bracket;
    /// Where the word `dense` before it begins, or npos.
    size_t dense = StringRef::npos;
    /// Operators met in it if it belongs to an affine map or set.
    bool isAffine = false;
    unsigned operators = 0;
    bool isBoolArray = false;
    /// A dense literal or a list in it, and what elements it has so far.
    bool isDense = false, hasNumbers = false, hasPairs = false;
    /// The string that is all of its content so far.
    StringRef onlyString;
    bool hasOther = false;
  };

  char at(size_t offset) const {
    return offset < text.size() ? text[offset] : '\0';
  }

  void refuse(size_t offset, const llvm::Twine &message) {
    result.refusal = {offset, message.str()};
  }

  void replace(size_t offset, StringRef with) {
    result.edits.push_back({offset, with.str()});
  }

  void step() {
    char c = text[pos];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++pos;
      return;
    }
    if (c == '/' && at(pos + 1) == '/') {
      pos = std::min(text.find('\n', pos), text.size());
      return;
    }
    if (inAlias && stack.empty() && endsAlias(c))
      inAlias = false;
    if (c == '"') {
      stepString();
      last = '"';
      return;
    }
    if (!stack.empty() && c != '>')
      stack.back().hasOther = true;
    if (c == '!' || c == '#' || c == '%' || c == '@' || c == '^')
      stepPrefixed(c);
    else if (llvm::isDigit(c))
      stepNumber();
    else if (llvm::isAlpha(c) || c == '_')
      stepWord();
    else
      stepPunctuation(c);
    last = c;
  }

  /// After the value of an alias, a word, a string or a name begins something
  /// new unless a connecting sign stands before it.
  bool endsAlias(char c) const {
    // A minus is the beginning of an arrow.
    bool connected = StringRef("=:,-").contains(last);
    return !connected && (llvm::isAlpha(c) || c == '_' || c == '"' ||
                          c == '%' || c == '@' || c == '{');
  }

  void stepString() {
    size_t begin = pos++;
    while (true) {
      pos = text.find_first_of("\"\\\n", pos);
      if (at(pos) != '\\')
        break;
      pos += 2;
    }
    pos = pos < text.size() ? pos + 1 : text.size();
    if (!stack.empty() && !stack.back().hasOther)
      stack.back().onlyString = text.slice(begin + 1, pos - 1);
    if (!stack.empty())
      stack.back().hasOther = true;
    blankRange();
  }

  /// After a file name: `:1:2 to 3:4` or `:1:2 to :4` loses its second half.
  void blankRange() {
    size_t at = pos;
    auto number = [&] {
      size_t end = std::min(text.find_if_not(llvm::isDigit, at), text.size());
      bool any = end > at;
      at = end;
      return any;
    };
    auto sign = [&](char c) {
      at = std::min(text.find_first_not_of(' ', at), text.size());
      if (at >= text.size() || text[at] != c)
        return false;
      ++at;
      return true;
    };
    if (!sign(':') || !number() || !sign(':') || !number())
      return;
    size_t begin = at;
    at = std::min(text.find_first_not_of(' ', at), text.size());
    if (!text.substr(at).starts_with("to") || at == begin)
      return;
    at = std::min(text.find_first_not_of(' ', at + 2), text.size());
    number();
    if (!sign(':') || !number())
      return;
    replace(begin, std::string(at - begin, ' '));
    pos = at;
  }

  static bool isSuffixChar(char c) {
    return llvm::isAlnum(c) || c == '$' || c == '.' || c == '_' || c == '-';
  }

  /// Names of types, attributes, values, symbols and blocks.
  void stepPrefixed(char prefix) {
    size_t begin = pos++;
    if (llvm::isDigit(at(pos)))
      pos = std::min(text.find_if_not(llvm::isDigit, pos), text.size());
    else
      while (pos < text.size() && isSuffixChar(text[pos]))
        ++pos;
    // `->` after a name is no part of it.
    if (pos > begin && text[pos - 1] == '-' && at(pos) == '>')
      --pos;
    if (prefix != '!' && prefix != '#')
      return;
    StringRef name = text.slice(begin, pos);
    if (prefix == '#' && last == '%' && begin &&
        isSuffixChar(text[begin - 1])) {
      unsigned number;
      if (name.drop_front().getAsInteger(10, number) ||
          number > maxResultNumber)
        refuse(begin, "result number is more than " +
                          llvm::Twine(maxResultNumber) + ": " + name);
      return;
    }
    if (stack.empty()) {
      size_t next = std::min(text.find_first_not_of(' ', pos), text.size());
      if (at(next) == '=' && at(next + 1) != '=') {
        beginAlias(name, next + 1);
        return;
      }
    }
    if (name == "!quant.uniform" && at(pos) == '<' &&
        hasBlockSizes(text.substr(pos)))
      replace(begin, "!f.qsubchannel");
    auto known = aliases.find(name);
    if (known == aliases.end())
      return;
    AliasCost cost = known->second;
    noteNesting(begin, stack.size() + cost.nesting);
    if (inAlias && (aliases[alias].parts += cost.parts) > maxAliasParts)
      refuse(begin, "alias stands for more than " + llvm::Twine(maxAliasParts) +
                        " parts");
  }

  void beginAlias(StringRef name, size_t valueBegin) {
    inAlias = true;
    alias = name;
    aliases[name] = AliasCost();
    if (name.starts_with("!"))
      types.define(name, text.substr(valueBegin));
  }

  void noteNesting(size_t offset, size_t depth) {
    if (depth > maxAliasNesting)
      refuse(offset, "nested deeper than " + llvm::Twine(maxAliasNesting) +
                         " levels through aliases");
    if (!inAlias)
      return;
    unsigned &nesting = aliases[alias].nesting;
    nesting = std::max(nesting, unsigned(depth) + 1);
  }

  void stepNumber() {
    // MLIR 19 stores nothing for such an element and reads past the end.
    if (!stack.empty() && stack.back().isBoolArray)
      refuse(pos, "array of i1 must hold true and false");
    noteNumber();
    size_t begin = pos;
    if (text[pos] == '0' && at(pos + 1) == 'x' && llvm::isHexDigit(at(pos + 2)))
      pos = std::min(text.find_if_not(llvm::isHexDigit, pos + 2), text.size());
    else
      pos = std::min(text.find_if_not(llvm::isDigit, pos), text.size());
    if (pos - begin > maxDigits)
      refuse(begin, "number of more than " + llvm::Twine(maxDigits) +
                        " digits: " + llvm::Twine(pos - begin));
  }

  void noteNumber() {
    if (!stack.empty() && stack.back().isDense)
      stack.back().hasNumbers = true;
  }

  void stepWord() {
    size_t begin = pos;
    while (pos < text.size() && (llvm::isAlnum(text[pos]) || text[pos] == '_' ||
                                 text[pos] == '$' || text[pos] == '.'))
      ++pos;
    StringRef word = text.slice(begin, pos);
    // In `4xf8E3M4` the x belongs to the dimension.
    if (word.starts_with("x") && begin &&
        (llvm::isDigit(text[begin - 1]) ||
         StringRef("?*]").contains(text[begin - 1]))) {
      word = word.drop_front();
      // `4x8xf32` comes apart at every x.
      if (!word.empty() && llvm::isDigit(word.front())) {
        pos = begin + 1;
        return;
      }
      ++begin;
    }
    if (StringRef stand = getStandIn(word); !stand.empty()) {
      if (!isKey() && !adaptNumber(begin, stand))
        replace(begin, stand);
      return;
    }
    if (isAbsurdInteger(word) && !inAffine() && !isKey())
      refuse(begin, "integer type must have 1 to 128 bits: " + word);
    if (word == "mod" || word == "floordiv" || word == "ceildiv")
      countOperator();
    if (word == "true" || word == "false")
      noteNumber();
    if (at(pos) != '<')
      return;
    if (word == "sparse") {
      // MLIR 19 crashes on indices that its parser has just refused.
      refuse(begin, "sparse literals are not supported");
    } else if (word == "dense") {
      pendingDense = begin;
    } else if (word == "array") {
      open('<');
      ++pos;
      StringRef type = text.substr(pos).ltrim(" \t\r\n");
      stack.back().isBoolArray = type.consume_front("i1") &&
                                 !llvm::isDigit(type.empty() ? ' ' : type[0]);
    } else if (word == "affine_map" || word == "affine_set") {
      pendingAffine = true;
    } else if (word == "tensor" || word == "vector" || word == "memref") {
      ShapeScan shape = scanShape(text.substr(pos + 1));
      // The dimensions are skipped as one: `0xf32` is no hexadecimal number.
      open('<');
      pos += 1 + shape.size;
      if (!shape.problem.empty())
        refuse(begin, word + " type: " + shape.problem);
    }
  }

  /// `i0`, whose elements MLIR 19 reads past their end, or a type so wide that
  /// a few characters of text fill the memory.
  static bool isAbsurdInteger(StringRef word) {
    if (!word.consume_front("si") && !word.consume_front("ui") &&
        !word.consume_front("i"))
      return false;
    unsigned width;
    return !word.empty() && llvm::all_of(word, llvm::isDigit) &&
           (word.getAsInteger(10, width) || width == 0 || width > 128);
  }

  /// `1.0 : f8E3M4` becomes `#f.8e3<1.0>`, which is shorter if there is a space
  /// at the colon.
  bool adaptNumber(size_t typeBegin, StringRef stand) {
    StringRef before = text.take_front(typeBegin).rtrim(' ');
    if (!before.consume_back(":"))
      return false;
    before = before.rtrim(' ');
    size_t begin = before.find_last_not_of("0123456789abcdefABCDEFx.+-");
    begin = begin == StringRef::npos ? 0 : begin + 1;
    StringRef number = before.substr(begin);
    StringRef digits = number.ltrim('-');
    bool isNumber = !digits.empty() && llvm::isDigit(digits.front()) &&
                    (digits.starts_with("0x") || digits.contains('.'));
    // A name, a version, anything that is more than a number.
    bool isPart = begin && (llvm::isAlnum(text[begin - 1]) ||
                            StringRef("%#@!^_$\"").contains(text[begin - 1]));
    std::string literal = ("#" + stand.drop_front() + "<" + number + ">").str();
    if (!isNumber || isPart || literal.size() > pos - begin)
      return false;
    literal.resize(pos - begin, ' ');
    replace(begin, literal);
    return true;
  }

  /// Whether the word just read is the name of an entry: `f8E3M4 = 1`.
  bool isKey() const {
    size_t next = std::min(text.find_first_not_of(" \n", pos), text.size());
    return at(next) == '=' && at(next + 1) != '=';
  }

  void stepPunctuation(char c) {
    if (c == '-' && at(pos + 1) == '>') {
      pos += 2;
      return;
    }
    // Comparisons of affine sets.
    if ((c == '<' || c == '>' || c == '=') && at(pos + 1) == '=' &&
        inAffine()) {
      pos += 2;
      return;
    }
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      open(c);
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      close(c);
    } else if (c == '+' || c == '-' || c == '*') {
      countOperator();
    }
    ++pos;
  }

  bool inAffine() const { return !stack.empty() && stack.back().isAffine; }

  void countOperator() {
    if (inAffine() && ++stack.back().operators > maxAffineOperators)
      refuse(pos, "affine expression has more than " +
                      llvm::Twine(maxAffineOperators) + " operators");
  }

  void open(char c) {
    Open entry;
    entry.bracket = c;
    if (c == '<') {
      entry.dense = pendingDense;
      entry.isAffine = pendingAffine;
    }
    if (inAffine())
      entry.isAffine = true;
    entry.isDense = entry.dense != StringRef::npos;
    if (!stack.empty() && stack.back().isDense) {
      entry.isDense = c == '[';
      stack.back().hasPairs |= c == '(';
    }
    pendingDense = StringRef::npos;
    pendingAffine = false;
    stack.push_back(entry);
    if (stack.size() > maxNesting)
      refuse(pos, "nested deeper than " + llvm::Twine(maxNesting) + " levels");
    else
      noteNesting(pos, stack.size());
  }

  void close(char c) {
    static constexpr StringRef pairs = "<>()[]{}";
    // A bracket without its partner is the parser's to report.
    if (stack.empty() || pairs[pairs.find(stack.back().bracket) + 1] != c)
      return;
    Open entry = stack.pop_back_val();
    if (inAffine() && entry.isAffine)
      stack.back().operators += entry.operators;
    if (entry.isDense && entry.bracket == '[') {
      stack.back().hasNumbers |= entry.hasNumbers;
      stack.back().hasPairs |= entry.hasPairs;
    }
    if (entry.dense != StringRef::npos)
      adaptDense(entry);
  }

  /// `dense<…> : type` of a type that MLIR 19 can't give it.
  void adaptDense(const Open &entry) {
    size_t next = text.find_first_not_of(" \n\t\r", pos + 1);
    if (next == StringRef::npos || text[next] != ':')
      return;
    TypeFacts facts = types.read(text.substr(next + 1));
    // MLIR 19 counts numbers, not elements, and reads past their end.
    if (facts.isComplex && entry.hasNumbers)
      refuse(entry.dense, "dense literal: elements of a complex type must be "
                          "pairs of numbers");
    else if (facts.isSingle && entry.hasPairs)
      refuse(entry.dense, "dense literal: only elements of a complex type may "
                          "be pairs of numbers");
    if (facts.isBridged ||
        (facts.isBool && isByteHex(entry.onlyString, facts.elements)))
      replace(entry.dense, "#f.dn");
  }

  /// Whether hex for i1 has a byte for each element, as newer MLIR writes it.
  static bool isByteHex(StringRef hex, int64_t elements) {
    if (!hex.consume_front("0x"))
      return false;
    int64_t bytes = int64_t(hex.size() / 2);
    return elements > 1 && (bytes == elements || (bytes == 1 && hex == "01"));
  }

  StringRef text;
  size_t pos = 0;
  Adaptation result;
  llvm::SmallVector<Open> stack;
  size_t pendingDense = StringRef::npos;
  bool pendingAffine = false;
  /// The first character of the last token.
  char last = '\0';

  TypeAliases types;
  /// What an alias costs where it is used, aliases inside it followed.
  struct AliasCost {
    unsigned nesting = 1;
    uint64_t parts = 1;
  };
  llvm::StringMap<AliasCost> aliases;
  bool inAlias = false;
  StringRef alias;
};

} // namespace

Adaptation alula::newer::adapt(StringRef text) { return Adapter(text).run(); }

void alula::newer::applyEdits(llvm::ArrayRef<Edit> edits, char *text) {
  for (const Edit &edit : edits)
    llvm::copy(edit.text, text + edit.offset);
}

std::string alula::newer::adaptText(StringRef text) {
  std::string adapted = text.str();
  applyEdits(adapt(text).edits, adapted.data());
  return adapted;
}
