#include "tools/values/text.h"

#include "tools/values/float_codes.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace alula::values {
namespace {

uint64_t loadBits(const uint8_t *from, size_t bytes) {
  uint64_t bits = 0;
  memcpy(&bits, from, bytes);
  return bits;
}

/// The type of one half of a complex number, or the type itself.
alula_dtype getPartType(alula_dtype type) {
  if (type == ALULA_DTYPE_C64)
    return ALULA_DTYPE_F32;
  return type == ALULA_DTYPE_C128 ? ALULA_DTYPE_F64 : type;
}

bool isHex(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

bool parseUnsigned(std::string_view text, uint64_t &number) {
  int base = 10;
  if (isHex(text)) {
    base = 16;
    text.remove_prefix(2);
  }
  const char *last = text.data() + text.size();
  auto [end, failure] = std::from_chars(text.data(), last, number, base);
  return failure == std::errc() && end == last && !text.empty();
}

/// Integers and i1; two's complement in the low `bits`, sign-extended to bytes.
bool parseInteger(alula_dtype type, std::string_view text, uint64_t &bits) {
  unsigned width = alula_dtype_get_bits(type);
  if (type == ALULA_DTYPE_I1 && (text == "true" || text == "false")) {
    bits = text == "true";
    return true;
  }
  bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (negative || text[0] == '+'))
    text.remove_prefix(1);
  uint64_t magnitude;
  if (!parseUnsigned(text, magnitude))
    return false;
  bool isSigned = alula_dtype_get_kind(type) == ALULA_KIND_INT;
  uint64_t limit = (uint64_t(1) << (width - 1)); // of a negative number
  if (!isSigned)
    limit = negative ? 0 : limit - 1 + limit;
  else if (!negative)
    limit -= 1;
  if (magnitude > limit)
    return false;
  bits = negative ? 0 - magnitude : magnitude;
  return true;
}

bool parseFloat(alula_dtype type, std::string_view text, uint64_t &bits) {
  if (isHex(text)) {
    unsigned width = alula_dtype_get_bits(type);
    return parseUnsigned(text, bits) && (width == 64 || bits >> width == 0);
  }
  if (!text.empty() && text[0] == '+')
    text.remove_prefix(1);
  // strtod takes more than decimal numbers: spaces, signs and powers of two.
  if (text.empty() || isspace(uint8_t(text[0])) || text[0] == '+' ||
      text.find_first_of("xX") != text.npos)
    return false;
  std::string copy(text);
  char *end;
  if (type == ALULA_DTYPE_F32) {
    // Through double would round twice.
    float number = strtof(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size())
      return false;
    memcpy(&(bits = 0), &number, sizeof number);
    return true;
  }
  double number = strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size())
    return false;
  bits = encodeFloat(type, number);
  return true;
}

/// "(1,2)", "1+2j", "2j" or a real number.
bool parseComplex(alula_dtype part, std::string_view text, uint64_t parts[2]) {
  parts[0] = parts[1] = 0;
  if (!text.empty() && text.front() == '(') {
    size_t comma = text.find(',');
    if (comma == text.npos || text.back() != ')')
      return false;
    auto trim = [](std::string_view piece) {
      while (!piece.empty() && piece.front() == ' ')
        piece.remove_prefix(1);
      while (!piece.empty() && piece.back() == ' ')
        piece.remove_suffix(1);
      return piece;
    };
    return parseFloat(part, trim(text.substr(1, comma - 1)), parts[0]) &&
           parseFloat(part, trim(text.substr(comma + 1, text.size() - comma - 2)),
                      parts[1]);
  }
  if (text.empty() || text.back() != 'j')
    return parseFloat(part, text, parts[0]);
  text.remove_suffix(1);
  // The sign that divides the parts is the last one not after an exponent.
  size_t split = text.find_last_of("+-");
  while (split != text.npos && split > 0 &&
         (text[split - 1] == 'e' || text[split - 1] == 'E'))
    split = text.find_last_of("+-", split - 1);
  if (split == text.npos || split == 0)
    return parseFloat(part, text, parts[1]);
  return parseFloat(part, text.substr(0, split), parts[0]) &&
         parseFloat(part, text.substr(split), parts[1]);
}

bool parseElement(alula_dtype type, std::string_view text, uint8_t *element) {
  alula_dtype part = getPartType(type);
  size_t bytes = alula_dtype_get_bytes(part);
  uint64_t bits[2] = {0, 0};
  switch (alula_dtype_get_kind(type)) {
  case ALULA_KIND_BOOL:
  case ALULA_KIND_INT:
  case ALULA_KIND_UINT:
    if (!parseInteger(type, text, bits[0]))
      return false;
    break;
  case ALULA_KIND_FLOAT:
    if (!parseFloat(type, text, bits[0]))
      return false;
    break;
  case ALULA_KIND_COMPLEX:
    if (!parseComplex(part, text, bits))
      return false;
    memcpy(element + bytes, &bits[1], bytes);
    break;
  case ALULA_KIND_TOKEN:
  case ALULA_KIND_INVALID:
    return false;
  }
  memcpy(element, &bits[0], bytes);
  return true;
}

/// Takes the next element off `rest`; false at the end. Checks brackets.
bool takeToken(std::string_view &rest, std::string_view &token, int &depth) {
  while (!rest.empty()) {
    char c = rest[0];
    if (c == '[')
      ++depth;
    else if (c == ']')
      --depth;
    else if (c != ',' && c != ' ' && c != '\t' && c != '\n' && c != '\r')
      break;
    if (depth < 0)
      return false;
    rest.remove_prefix(1);
  }
  if (rest.empty())
    return false;
  size_t end = rest[0] == '(' ? rest.find(')') : rest.find_first_of(", \t\r\n[]");
  if (rest[0] == '(' && end != rest.npos)
    ++end;
  token = rest.substr(0, end);
  rest.remove_prefix(token.size());
  return true;
}

/// As short as it reads back as the same: "120000", "1.2e+20". The library's
/// own function for this would be a fifth of alula-run.
std::string printShortest(double number,
                          bool (*readsBack)(const char *text, double number)) {
  char scientific[64], fixed[512];
  int digits = 0;
  do
    snprintf(scientific, sizeof scientific, "%.*e", digits, number);
  while (!readsBack(scientific, number) && ++digits < 17);
  const char *power = strchr(scientific, 'e');
  if (!power)
    return scientific;
  snprintf(fixed, sizeof fixed, "%.*f", std::max(0, digits - atoi(power + 1)),
           number);
  return strlen(fixed) <= strlen(scientific) ? fixed : scientific;
}

std::string printFloat(alula_dtype type, uint64_t bits) {
  char buffer[64];
  double number = decodeFloat(type, bits);
  if (std::isnan(number)) {
    double nan = std::numeric_limits<double>::quiet_NaN();
    if (bits == encodeFloat(type, nan))
      return "nan";
    if (bits == encodeFloat(type, -nan))
      return "-nan";
    snprintf(buffer, sizeof buffer, "0x%" PRIx64, bits);
    return buffer;
  }
  if (type == ALULA_DTYPE_F64)
    return printShortest(number, [](const char *text, double number) {
      return strtod(text, nullptr) == number;
    });
  if (type == ALULA_DTYPE_F32)
    return printShortest(number, [](const char *text, double number) {
      return strtof(text, nullptr) == float(number);
    });
  for (int digits = 1;; ++digits) {
    snprintf(buffer, sizeof buffer, "%.*g", digits, number);
    if (digits == 17 || encodeFloat(type, strtod(buffer, nullptr)) == bits)
      return buffer;
  }
}

void printDim(const Value &value, size_t dim, size_t &element,
              std::string &text) {
  size_t bytes = alula_dtype_get_bytes(value.type);
  if (dim == value.shape.size()) {
    text += printElement(value.type, value.data.get() + element++ * bytes);
    return;
  }
  if (value.shape.size() > 1)
    text += '[';
  for (int64_t i = 0; i < value.shape[dim]; ++i) {
    if (i)
      text += ',';
    printDim(value, dim + 1, element, text);
  }
  if (value.shape.size() > 1)
    text += ']';
}

} // namespace

bool parseElements(std::string_view text, Value &value, std::string &error) {
  std::string type = printType(value.type, value.shape);
  int64_t count = value.getNumElements(), given = 0;
  size_t bytes = alula_dtype_get_bytes(value.type);
  std::string_view rest = text, token;
  int depth = 0;
  if (value.type == ALULA_DTYPE_TOKEN) {
    error = "a token takes no value";
    return false;
  }
  uint8_t scratch[16];
  for (; takeToken(rest, token, depth); ++given) {
    uint8_t *element =
        given < count ? value.data.get() + size_t(given) * bytes : scratch;
    if (!parseElement(value.type, token, element)) {
      error = type + ": '" + std::string(token) + "' is not a value of " +
              alula_dtype_get_name(value.type);
      return false;
    }
  }
  if (depth != 0) {
    error = type + ": brackets do not match";
    return false;
  }
  if (given == 1 && count > 1) {
    for (int64_t i = 1; i < count; ++i)
      memcpy(value.data.get() + size_t(i) * bytes, value.data.get(), bytes);
    return true;
  }
  if (given != count) {
    error = type + ": has " + std::to_string(count) + " elements, but " +
            std::to_string(given) + " values are given";
    return false;
  }
  return true;
}

std::string printElement(alula_dtype type, const uint8_t *element) {
  alula_dtype part = getPartType(type);
  size_t bytes = alula_dtype_get_bytes(part);
  uint64_t bits = loadBits(element, bytes);
  switch (alula_dtype_get_kind(type)) {
  case ALULA_KIND_BOOL:
    return bits == 0 ? "false" : "true";
  case ALULA_KIND_INT: {
    unsigned unused = 64 - unsigned(bytes) * 8;
    return std::to_string(int64_t(bits << unused) >> unused);
  }
  case ALULA_KIND_UINT:
    return std::to_string(bits);
  case ALULA_KIND_FLOAT:
    return printFloat(type, bits);
  case ALULA_KIND_COMPLEX:
    return "(" + printFloat(part, bits) + "," +
           printFloat(part, loadBits(element + bytes, bytes)) + ")";
  case ALULA_KIND_TOKEN:
  case ALULA_KIND_INVALID:
    break;
  }
  return "token";
}

std::string printValue(const Value &value) {
  std::string text = printType(value.type, value.shape);
  if (value.type == ALULA_DTYPE_TOKEN)
    return text;
  text += '=';
  size_t element = 0;
  // An empty tensor may have a huge dimension beside the zero.
  if (value.size != 0)
    printDim(value, 0, element, text);
  return text;
}

} // namespace alula::values
