#include "runtime/device/cuda/emulator/parser.h"

#include "runtime/device/cuda/emulator/small_floats.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace alula::ptx {

Type readType(std::string_view word) {
  static const struct {
    std::string_view name;
    Type type;
  } types[] = {{"pred", {Type::pred, 1}},
               {"b8", {Type::bits, 8}},
               {"b16", {Type::bits, 16}},
               {"b32", {Type::bits, 32}},
               {"b64", {Type::bits, 64}},
               {"b128", {Type::bits, 128}},
               {"u8", {Type::uint, 8}},
               {"u16", {Type::uint, 16}},
               {"u32", {Type::uint, 32}},
               {"u64", {Type::uint, 64}},
               {"s8", {Type::sint, 8}},
               {"s16", {Type::sint, 16}},
               {"s32", {Type::sint, 32}},
               {"s64", {Type::sint, 64}},
               {"f16", {Type::half, 16}},
               {"f32", {Type::real, 32}},
               {"f64", {Type::real, 64}},
               {"bf16", {Type::bfloat, 16}},
               {"f16x2", {Type::half, 32, true}},
               {"bf16x2", {Type::bfloat, 32, true}},
               {"tf32", {Type::tf32, 32}},
               {"e4m3", {Type::e4m3, 8}},
               {"e5m2", {Type::e5m2, 8}},
               {"e4m3x2", {Type::e4m3, 16, true}},
               {"e5m2x2", {Type::e5m2, 16, true}},
               {"s4", {Type::sint, 4}},
               {"u4", {Type::uint, 4}}};
  for (const auto &known : types)
    if (known.name == word)
      return known.type;
  return {};
}

static bool isWord(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

bool readTokens(std::string_view text, std::vector<Token> &tokens,
                std::string &error) {
  uint32_t line = 1;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '\n')
      ++line;
    if (isspace(static_cast<unsigned char>(c)) || c == '\0') {
      ++i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      while (i < text.size() && text[i] != '\n')
        ++i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      size_t end = text.find("*/", i + 2);
      if (end == text.npos) {
        error = "line " + std::to_string(line) + ": a comment without an end";
        return false;
      }
      for (size_t j = i; j < end; ++j)
        line += text[j] == '\n';
      i = end + 2;
    } else if (c == '"') {
      size_t end = text.find('"', i + 1);
      if (end == text.npos) {
        error = "line " + std::to_string(line) + ": a string without an end";
        return false;
      }
      tokens.push_back({text.substr(i, end + 1 - i), line});
      i = end + 1;
    } else if (isWord(c)) {
      size_t end = i;
      while (end < text.size() && isWord(text[end]))
        ++end;
      // Scopes in opcodes: ld.shared::cta.
      while (end + 2 < text.size() && text[end] == ':' &&
             text[end + 1] == ':' && isWord(text[end + 2])) {
        end += 2;
        while (end < text.size() && isWord(text[end]))
          ++end;
      }
      tokens.push_back({text.substr(i, end - i), line});
      i = end;
    } else {
      tokens.push_back({text.substr(i, 1), line});
      ++i;
    }
  }
  return true;
}

bool readNumber(std::string_view text, Type type, uint64_t &bits) {
  std::string word(text);
  if (word.empty())
    return false;
  bool isNegative = word[0] == '-';
  if (isNegative || word[0] == '+')
    word.erase(0, 1);
  if (word.empty() || !isdigit(static_cast<unsigned char>(word[0])))
    return false;
  if (word.size() == 10 && (word[1] == 'f' || word[1] == 'F') &&
      word[0] == '0') {
    char *end;
    auto raw = uint32_t(strtoul(word.c_str() + 2, &end, 16));
    if (*end)
      return false;
    if (isNegative)
      raw ^= 0x80000000u;
    if (type.kind == Type::real && type.size == 64)
      bits = std::bit_cast<uint64_t>(double(std::bit_cast<float>(raw)));
    else
      bits = raw;
    return true;
  }
  if (word.size() == 18 && (word[1] == 'd' || word[1] == 'D') &&
      word[0] == '0') {
    char *end;
    bits = strtoull(word.c_str() + 2, &end, 16);
    if (isNegative)
      bits ^= uint64_t(1) << 63;
    if (type.kind == Type::real && type.size == 32)
      bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(bits)));
    return *end == 0;
  }
  bool isHex = word.size() > 2 && (word[1] == 'x' || word[1] == 'X');
  if (!isHex && word.find('.') != word.npos) {
    char *end;
    double value = strtod(word.c_str(), &end);
    if (*end)
      return false;
    if (isNegative)
      value = -value;
    bits = type.size == 64 ? std::bit_cast<uint64_t>(value)
                           : std::bit_cast<uint32_t>(float(value));
    return true;
  }
  if (word.back() == 'U')
    word.pop_back();
  char *end;
  bool isBinary = word.size() > 2 && (word[1] == 'b' || word[1] == 'B');
  uint64_t value = isBinary ? strtoull(word.c_str() + 2, &end, 2)
                            : strtoull(word.c_str(), &end, 0);
  if (*end)
    return false;
  bits = isNegative ? 0 - value : value;
  if (type.kind == Type::real)
    bits = type.size == 64 ? std::bit_cast<uint64_t>(double(int64_t(bits)))
                           : std::bit_cast<uint32_t>(float(int64_t(bits)));
  return true;
}

} // namespace alula::ptx
