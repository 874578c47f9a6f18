#include "dialect/newer/type_scan.h"
#include "dialect/newer/limits.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace alula::newer;
using llvm::StringRef;

static constexpr StringRef space = " \t\r\n";

StringRef alula::newer::getStandIn(StringRef word) {
  return llvm::StringSwitch<StringRef>(word)
      .Case("f8E3M4", "!f.8e3")
      .Case("f8E8M0FNU", "!f.8E8M0U")
      .Case("f6E2M3FN", "!f.6E2M3")
      .Case("f6E3M2FN", "!f.6E3M2")
      .Case("f4E2M1FN", "!f.4E2M1")
      .Default("");
}

ShapeScan alula::newer::scanShape(StringRef text) {
  ShapeScan scan;
  unsigned rank = 0;
  int64_t product = 1;
  bool isDynamic = false, isEmpty = false;
  StringRef rest = text;
  while (true) {
    rest = rest.ltrim(space);
    int64_t dim = -1;
    if (!rest.consume_front("?") && !rest.consume_front("*")) {
      StringRef digits = rest.take_while(llvm::isDigit);
      if (digits.empty())
        return scan;
      if (digits.getAsInteger(10, dim)) {
        scan.problem = "dimension does not fit 64 bits: " + digits.str();
        return scan;
      }
      rest = rest.drop_front(digits.size());
    }
    rest = rest.ltrim(space);
    if (!rest.consume_front("x"))
      return scan;
    scan.size = text.size() - rest.size();
    if (++rank > maxRank) {
      scan.problem = "rank is more than " + std::to_string(maxRank);
      return scan;
    }
    isDynamic |= dim < 0;
    isEmpty |= dim == 0;
    // What is dynamic or zero does not excuse the other dimensions: passes
    // multiply them in any order.
    if (dim > 0) {
      if (dim > maxElements / product) {
        scan.problem = "more than 2^55 elements";
        return scan;
      }
      product *= dim;
    }
    scan.elements = isDynamic ? -1 : isEmpty ? 0 : product;
  }
}

TypeFacts TypeAliases::readElement(StringRef text) const {
  TypeFacts result;
  text = text.ltrim(space);
  if (text.starts_with("!")) {
    StringRef name = text.take_front(text.find_if([](char c) {
      return !llvm::isAlnum(c) && !StringRef("!$._-").contains(c);
    }));
    if (name.starts_with("!f.")) {
      result.isBridged = true;
      return result;
    }
    auto known = facts.find(name);
    return known == facts.end() ? result : known->second;
  }
  StringRef word = text.take_while([](char c) { return llvm::isAlnum(c); });
  result.isBridged = !getStandIn(word).empty();
  result.isBool = word == "i1";
  result.isComplex = word == "complex";
  result.isSingle = !word.empty() && !result.isComplex;
  return result;
}

TypeFacts TypeAliases::read(StringRef text) const {
  text = text.ltrim(space);
  if (!text.consume_front("tensor<") && !text.consume_front("vector<"))
    return readElement(text);
  ShapeScan shape = scanShape(text);
  TypeFacts result = readElement(text.drop_front(shape.size));
  result.elements = shape.elements;
  return result;
}

bool alula::newer::hasBlockSizes(StringRef text) {
  // storage ':' expressed ':' '{'
  unsigned depth = 0, colons = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '<':
      ++depth;
      break;
    case '>':
      if (--depth == 0)
        return false;
      break;
    case ':':
      if (depth == 1 && ++colons == 2)
        return text.substr(i + 1).ltrim(space).starts_with("{");
      break;
    case ',':
    case '\n':
    case '"':
      return false;
    default:
      break;
    }
  }
  return false;
}
