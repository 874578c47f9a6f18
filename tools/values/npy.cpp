#include "tools/values/npy.h"

#include <algorithm>
#include <charconv>

namespace alula::values {
namespace {

struct Header {
  bool bigEndian = false, fortranOrder = false;
  char kind = 0;
  int64_t itemBytes = 0;
  std::vector<int64_t> shape;
  std::string_view descr;
};

/// What follows `'key':` in the header's dictionary, without leading blanks.
bool findKey(std::string_view dict, std::string_view key,
             std::string_view &rest) {
  std::string quoted = "'" + std::string(key) + "'";
  size_t at = dict.find(quoted);
  if (at == dict.npos)
    return false;
  rest = dict.substr(at + quoted.size());
  at = rest.find_first_not_of(" :");
  if (at == rest.npos)
    return false;
  rest.remove_prefix(at);
  return true;
}

bool parseShape(std::string_view text, std::vector<int64_t> &shape) {
  if (text.empty() || text[0] != '(')
    return false;
  text.remove_prefix(1);
  while (true) {
    size_t at = text.find_first_not_of(" ,");
    if (at == text.npos)
      return false;
    text.remove_prefix(at);
    if (text[0] == ')')
      return true;
    int64_t dim;
    auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), dim);
    if (failure != std::errc() || dim < 0)
      return false;
    text.remove_prefix(size_t(end - text.data()));
    shape.push_back(dim);
  }
}

bool parseHeader(std::string_view dict, Header &header) {
  std::string_view rest;
  if (!findKey(dict, "descr", rest) || rest[0] != '\'')
    return false;
  rest.remove_prefix(1);
  size_t end = rest.find('\'');
  if (end == rest.npos || end < 3)
    return false;
  header.descr = rest.substr(0, end);
  header.bigEndian = header.descr[0] == '>';
  header.kind = header.descr[1];
  std::string_view digits = header.descr.substr(2);
  auto [last, failure] = std::from_chars(
      digits.data(), digits.data() + digits.size(), header.itemBytes);
  if (failure != std::errc() || last != digits.data() + digits.size())
    return false;
  if (!findKey(dict, "fortran_order", rest))
    return false;
  header.fortranOrder = rest.starts_with("True");
  if (!header.fortranOrder && !rest.starts_with("False"))
    return false;
  return findKey(dict, "shape", rest) && parseShape(rest, header.shape);
}

/// The letter numpy has for a type; 'V' for those that it has not.
char getNumpyKind(alula_dtype type) {
  uint32_t bits = alula_dtype_get_bits(type);
  switch (alula_dtype_get_kind(type)) {
  case ALULA_KIND_BOOL:
    return 'b';
  case ALULA_KIND_INT:
    return bits >= 8 ? 'i' : 'V';
  case ALULA_KIND_UINT:
    return bits >= 8 ? 'u' : 'V';
  case ALULA_KIND_FLOAT:
    return bits >= 16 && type != ALULA_DTYPE_BF16 ? 'f' : 'V';
  case ALULA_KIND_COMPLEX:
    return 'c';
  case ALULA_KIND_TOKEN:
  case ALULA_KIND_INVALID:
    return 0;
  }
  return 0;
}

alula_dtype findType(const Header &header) {
  for (uint32_t type = 1; type <= ALULA_DTYPE_LAST; ++type)
    if (getNumpyKind(alula_dtype(type)) == header.kind &&
        header.kind != 'V' && alula_dtype_get_bytes(type) == header.itemBytes)
      return alula_dtype(type);
  return ALULA_DTYPE_INVALID;
}

/// Copies elements stored with the first dimension fastest.
void copyFortran(const uint8_t *from, size_t bytes, Value &value) {
  const std::vector<int64_t> &shape = value.shape;
  size_t rank = shape.size();
  std::vector<size_t> stride(rank);
  for (size_t i = 0, step = bytes; i < rank; ++i) {
    stride[i] = step;
    step *= size_t(shape[i]);
  }
  std::vector<int64_t> index(rank, 0);
  for (uint8_t *to = value.data.get(), *end = to + value.size; to != end;
       to += bytes) {
    size_t offset = 0;
    for (size_t i = 0; i < rank; ++i)
      offset += size_t(index[i]) * stride[i];
    memcpy(to, from + offset, bytes);
    for (size_t i = rank; i-- > 0 && ++index[i] == shape[i];)
      index[i] = 0;
  }
}

} // namespace

bool readNpy(std::string_view bytes, const Value *wanted, Value &value,
             std::string &error) {
  auto fail = [&](std::string text) {
    error = std::move(text);
    return false;
  };
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY"))
    return fail("not an .npy file");
  size_t lengthBytes = bytes[6] == 1 ? 2 : 4;
  if (bytes[6] < 1 || bytes[6] > 3)
    return fail("unknown .npy version " + std::to_string(int(bytes[6])));
  size_t length = 0, start = 8 + lengthBytes;
  if (bytes.size() < start)
    return fail("truncated .npy header");
  memcpy(&length, bytes.data() + 8, lengthBytes);
  if (length > bytes.size() - start)
    return fail("truncated .npy header");
  Header header;
  if (!parseHeader(bytes.substr(start, length), header))
    return fail("unsupported .npy header: " +
                std::string(bytes.substr(start, length)));
  alula_dtype type = findType(header);
  if (wanted) {
    // numpy spells ml_dtypes' float8_e5m2 "f1", the others "V1" and "V2".
    bool isRaw = getNumpyKind(wanted->type) == 'V' && type == ALULA_DTYPE_INVALID;
    if (isRaw && alula_dtype_get_bytes(wanted->type) == header.itemBytes)
      type = wanted->type;
    if (type != wanted->type || header.shape != wanted->shape)
      return fail("file holds numpy type '" + std::string(header.descr) +
                  "' of shape " + printType(type, header.shape) +
                  ", expected " + printType(wanted->type, wanted->shape));
  }
  if (type == ALULA_DTYPE_INVALID)
    return fail("numpy type '" + std::string(header.descr) +
                "' does not say which element type it is: write it in front, "
                "as in 2x3xbf16=@x.npy");
  if (!createValue(type, header.shape, value, error))
    return false;
  std::string_view data = bytes.substr(start + length);
  if (data.size() < value.size)
    return fail("truncated .npy data: " + std::to_string(data.size()) +
                " bytes, " + std::to_string(value.size) + " needed");
  const auto *from = reinterpret_cast<const uint8_t *>(data.data());
  size_t item = alula_dtype_get_bytes(type);
  if (header.fortranOrder && value.size)
    copyFortran(from, item, value);
  else if (value.size)
    memcpy(value.data.get(), from, value.size);
  size_t part =
      alula_dtype_get_kind(type) == ALULA_KIND_COMPLEX ? item / 2 : item;
  if (header.bigEndian)
    for (size_t at = 0; at < value.size; at += part)
      std::reverse(value.data.get() + at, value.data.get() + at + part);
  return true;
}

std::string writeNpy(const Value &value) {
  char kind = getNumpyKind(value.type);
  size_t item = alula_dtype_get_bytes(value.type);
  std::string descr = item == 1 && kind != 'V' ? "|" : "<";
  descr += kind + std::to_string(item);
  std::string shape;
  for (int64_t dim : value.shape)
    shape += std::to_string(dim) + ", ";
  if (value.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (!shape.empty())
    shape.pop_back();
  std::string dict = "{'descr': '" + descr +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Blanks and a newline bring the data to a multiple of 64.
  size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(total - 11, ' ');
  dict += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += char(dict.size() & 0xFF);
  file += char(dict.size() >> 8);
  file += dict;
  file.append(reinterpret_cast<const char *>(value.data.get()), value.size);
  return file;
}

} // namespace alula::values
