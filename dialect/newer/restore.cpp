#include "dialect/newer/restore.h"
#include "dialect/newer/float_format.h"
#include "dialect/newer/type_scan.h"

#include "llvm/ADT/StringExtras.h"

using namespace alula::newer;
using llvm::StringRef;

/// The index after the string that begins at `begin`.
static size_t skipString(StringRef text, size_t begin) {
  size_t pos = begin + 1;
  while ((pos = text.find_first_of("\"\\\n", pos)) < text.size() &&
         text[pos] == '\\')
    pos += 2;
  return pos < text.size() ? pos + 1 : text.size();
}

/// Writes `dense<"0x…">` of an i1 tensor with one byte an element, given the
/// text from `dense` on. Returns how much of it that was, 0 if it is nothing
/// of the kind.
static size_t restoreBoolHex(StringRef text, llvm::raw_ostream &os) {
  static constexpr StringRef head = "dense<\"0x";
  static constexpr StringRef tail = "\"> : ";
  if (!text.starts_with(head))
    return 0;
  StringRef hex = text.drop_front(head.size()).take_while(llvm::isHexDigit);
  StringRef rest = text.drop_front(head.size() + hex.size());
  if (!rest.consume_front(tail))
    return 0;
  TypeFacts facts = TypeAliases().read(rest);
  int64_t bytes = int64_t(hex.size() / 2);
  if (!facts.isBool || facts.elements < 2 || bytes != (facts.elements + 7) / 8)
    return 0;
  os << head;
  for (int64_t i = 0; i < facts.elements; ++i) {
    // Each byte holds its first element in the lowest bit.
    unsigned byte = llvm::hexDigitValue(hex[2 * (i / 8)]) * 16 +
                    llvm::hexDigitValue(hex[2 * (i / 8) + 1]);
    os << ((byte >> (i % 8)) & 1 ? "01" : "00");
  }
  os << tail;
  return text.size() - rest.size();
}

/// Writes the official spelling of the stand-in that `text` begins with;
/// returns its length, 0 if there is none.
static size_t restoreStandIn(StringRef text, llvm::raw_ostream &os) {
  if (text.starts_with("#f.dense<"))
    return StringRef("#f.").size();
  if (text.starts_with("#f.number<")) {
    StringRef number = text.drop_front(10).take_until(
        [](char c) { return c == '>' || c == '\n'; });
    os << number;
    return 10 + number.size() + 1;
  }
  if (!text.starts_with("!f."))
    return 0;
  StringRef name = text.drop_front(3);
  if (name.starts_with("uniform<")) {
    os << "!quant.";
    return 3;
  }
  return parseFloatFormat(name.take_while(llvm::isAlnum)) ? 3 : 0;
}

void alula::newer::restoreText(StringRef text, llvm::raw_ostream &os) {
  size_t copied = 0, pos = 0;
  auto copyUpTo = [&](size_t end) {
    os << text.slice(copied, end);
    copied = end;
  };
  while ((pos = text.find_first_of("\"!#d", pos)) != StringRef::npos) {
    char c = text[pos];
    if (c == '"') {
      pos = skipString(text, pos);
      continue;
    }
    bool isInsideWord = pos && (llvm::isAlnum(text[pos - 1]) ||
                                StringRef("._$").contains(text[pos - 1]));
    if (c == 'd' && isInsideWord) {
      ++pos;
      continue;
    }
    StringRef rest = text.substr(pos);
    if (c == 'd' ? !rest.starts_with("dense<\"0x")
                 : !rest.drop_front().starts_with("f.")) {
      ++pos;
      continue;
    }
    copyUpTo(pos);
    size_t size =
        c == 'd' ? restoreBoolHex(rest, os) : restoreStandIn(rest, os);
    copied += size;
    pos += std::max<size_t>(size, 1);
  }
  copyUpTo(text.size());
}

RestoringStream::~RestoringStream() {
  flush();
  restoreText(line, os);
}

void RestoringStream::write_impl(const char *data, size_t size) {
  StringRef text(data, size);
  written += size;
  size_t end = text.rfind('\n');
  if (end == StringRef::npos) {
    line += text;
    return;
  }
  line += text.take_front(end + 1);
  restoreText(line, os);
  line = text.drop_front(end + 1).str();
}
