// PTX, as far as the host must know it: directives and signatures of kernels.

#include "compiler/objects/ptx_text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace alula::objects;

namespace {
/// Words, numbers and single characters, without comments.
std::vector<StringRef> split(StringRef text) {
  std::vector<StringRef> words;
  auto isWord = [](char c) {
    return isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '%';
  };
  while (!(text = text.ltrim(StringRef(" \t\r\n\0", 5))).empty()) {
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      text = end == StringRef::npos ? "" : text.drop_front(end + 2);
    } else if (text.front() == '"') {
      size_t end = text.find('"', 1);
      size_t size = end == StringRef::npos ? text.size() : end + 1;
      words.push_back(text.take_front(size));
      text = text.drop_front(size);
    } else {
      size_t size = std::max<size_t>(text.take_while(isWord).size(), 1);
      words.push_back(text.take_front(size));
      text = text.drop_front(size);
    }
  }
  return words;
}

bool isType(StringRef word) {
  return word.size() > 2 && word.front() == '.' &&
         StringRef("usbf").contains(word[1]) && isDigit(word[2]);
}

class Reader {
public:
  explicit Reader(StringRef text) : words(split(text)) {}

  PtxText read(Problems &problems) {
    for (at = 0; at < words.size(); ++at)
      readDirective();
    if (isTruncated || depth != 0)
      problems.push_back({"obj-ptx-truncated",
                          "is truncated: a bracket is not closed at its end"});
    return std::move(result);
  }

private:
  StringRef peek(size_t ahead = 1) {
    return at + ahead < words.size() ? words[at + ahead] : StringRef();
  }

  void readDirective() {
    StringRef word = words[at];
    if (word == "{" || word == "(")
      ++depth;
    else if (word == "}" || word == ")")
      --depth;
    else if (depth != 0)
      return;
    else if (word == ".version")
      readVersion();
    else if (word == ".target")
      result.target = peek().str();
    else if (word == ".address_size")
      (void)peek().getAsInteger(10, result.addressBits);
    else if (word == ".entry")
      readEntry();
    else if (word == ".extern" && peek() == ".func")
      readExtern();
  }

  void readVersion() {
    auto [major, minor] = peek().split('.');
    (void)major.getAsInteger(10, result.major);
    (void)minor.getAsInteger(10, result.minor);
  }

  void readEntry() {
    bool isVisible = at && words[at - 1] == ".visible";
    std::string name = peek().str();
    PtxEntry entry;
    at += 2;
    if (at < words.size() && words[at] == "(")
      readParameters(entry);
    // What follows the parameters, up to the body.
    for (; at < words.size() && words[at] != "{" && words[at] != ";"; ++at)
      if (words[at] == ".reqntid")
        readBlock(entry);
    if (at >= words.size()) {
      isTruncated = true;
      return;
    }
    if (words[at] == "{")
      ++depth;
    if (isVisible)
      result.entries[name] = std::move(entry);
  }

  void readParameters(PtxEntry &entry) {
    std::string type;
    for (++at; at < words.size(); ++at) {
      StringRef word = words[at];
      if (isType(word) && type.empty())
        type = word.drop_front().str();
      else if (word == "[")
        type = "bytes";
      if (word != "," && word != ")")
        continue;
      if (!type.empty())
        entry.parameters.push_back(std::move(type));
      type.clear();
      if (word == ")") {
        ++at;
        return;
      }
    }
    isTruncated = true;
  }

  void readBlock(PtxEntry &entry) {
    std::array<int64_t, 3> block = {1, 1, 1};
    for (int64_t &size : block) {
      if (peek().getAsInteger(10, size))
        return;
      ++at;
      if (peek() != ",")
        break;
      ++at;
    }
    entry.block = block;
  }

  /// `.extern .func (.param .b32 result) name (…)`
  void readExtern() {
    ++at;
    if (peek() == "(")
      while (at < words.size() && words[at] != ")")
        ++at;
    result.externs.push_back(peek().str());
  }

  std::vector<StringRef> words;
  size_t at = 0;
  int depth = 0;
  bool isTruncated = false;
  PtxText result;
};

/// "sm_90a": 90 and "a".
std::optional<std::pair<unsigned, StringRef>> splitTarget(StringRef name) {
  unsigned number = 0;
  if (!name.consume_front("sm_") || name.consumeInteger(10, number))
    return std::nullopt;
  return std::pair(number, name);
}

std::string describeBlock(const std::array<int64_t, 3> &block) {
  return llvm::formatv("{0} x {1} x {2}", block[0], block[1], block[2]).str();
}
} // namespace

PtxText alula::objects::readPtx(StringRef text, Problems &problems) {
  return Reader(text).read(problems);
}

void alula::objects::checkPtx(const PtxText &text, StringRef device,
                              Problems &problems) {
  if (text.addressBits != 64)
    problems.push_back(
        {"obj-ptx-address", "must have .address_size 64: has " +
                                std::to_string(text.addressBits)});
  auto wanted = splitTarget(text.target), has = splitTarget(device);
  // a: for one device only; f: for its family.
  bool fits = wanted && has && wanted->first <= has->first &&
              (wanted->second != "a" || text.target == device) &&
              (wanted->second != "f" || wanted->first / 10 == has->first / 10);
  if (!fits)
    problems.push_back({"obj-ptx-target", "is for " + text.target + ", which " +
                                              device.str() + " can't run"});
  static constexpr StringLiteral provided[] = {"vprintf", "malloc", "free",
                                               "__assertfail"};
  std::string missing;
  for (const std::string &name : text.externs)
    if (!is_contained(provided, StringRef(name)))
      missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty())
    problems.push_back(
        {"obj-undefined", "calls what is not there: " + missing});
}

std::array<int64_t, 3> alula::objects::checkPtxEntry(const PtxText &text,
                                                     const PtxWish &wish,
                                                     Problems &problems) {
  std::array<int64_t, 3> block =
      wish.block.value_or(std::array<int64_t, 3>{1, 1, 1});
  auto found = text.entries.find(wish.entry);
  if (found == text.entries.end()) {
    std::string names;
    for (auto &[name, entry] : text.entries)
      names += (names.empty() ? "" : ", ") + name;
    problems.push_back({"obj-entry", "has no kernel '" + wish.entry +
                                         "': has " +
                                         (names.empty() ? "none" : names)});
    return block;
  }
  const PtxEntry &entry = found->second;
  size_t wanted = wish.bindings + wish.constants;
  if (entry.parameters.size() != wanted)
    problems.push_back(
        {"obj-ptx-parameters",
         "kernel '" + wish.entry + "' must take " +
             std::to_string(wish.bindings) + " pointers and " +
             std::to_string(wish.constants) + " numbers: takes " +
             std::to_string(entry.parameters.size()) + " parameters"});
  else
    for (auto [i, type] : llvm::enumerate(entry.parameters)) {
      bool isPointer = i < wish.bindings;
      static constexpr StringLiteral pointers[] = {"u64", "b64", "s64"};
      static constexpr StringLiteral numbers[] = {"u32", "b32", "s32"};
      if (isPointer ? is_contained(pointers, StringRef(type))
                    : is_contained(numbers, StringRef(type)))
        continue;
      problems.push_back({"obj-ptx-order",
                          "parameter " + std::to_string(i) + " of kernel '" +
                              wish.entry + "' must be a " +
                              (isPointer ? "64-bit pointer" : "32-bit number") +
                              ", pointers come first: is " + type});
      break;
    }
  if (entry.block && wish.block && *entry.block != *wish.block)
    problems.push_back(
        {"obj-ptx-block", "kernel '" + wish.entry + "' has .reqntid " +
                              describeBlock(*entry.block) +
                              ", the executable asks for blocks of " +
                              describeBlock(*wish.block)});
  if (!entry.block && !wish.block)
    problems.push_back(
        {"obj-ptx-block",
         "kernel '" + wish.entry +
             "' must have .reqntid, as the executable has no workgroup_size"});
  if (entry.block)
    block = *entry.block;
  if (block[0] < 1 || block[1] < 1 || block[2] < 1 || block[0] > 1024 ||
      block[1] > 1024 || block[2] > 64 || block[0] * block[1] * block[2] > 1024)
    problems.push_back(
        {"obj-ptx-block", "blocks must have 1 to 1024 threads: kernel '" +
                              wish.entry + "' has " + describeBlock(block)});
  return block;
}

std::optional<std::pair<unsigned, unsigned>>
alula::objects::findPtxVersion(StringRef driver) {
  struct Row {
    StringLiteral driver;
    unsigned major, minor;
  };
  static constexpr Row rows[] = {
      {"11.0", 7, 0}, {"11.1", 7, 1}, {"11.2", 7, 2}, {"11.3", 7, 3},
      {"11.4", 7, 4}, {"11.5", 7, 5}, {"11.6", 7, 6}, {"11.7", 7, 7},
      {"11.8", 7, 8}, {"12.0", 8, 0}, {"12.1", 8, 1}, {"12.2", 8, 2},
      {"12.3", 8, 3}, {"12.4", 8, 4}, {"12.5", 8, 5}, {"12.6", 8, 5},
      {"12.7", 8, 6}, {"12.8", 8, 7}, {"12.9", 8, 8}, {"13.0", 9, 0},
      {"13.1", 9, 1}};
  for (const Row &row : rows)
    if (row.driver == driver)
      return std::pair(row.major, row.minor);
  return std::nullopt;
}
