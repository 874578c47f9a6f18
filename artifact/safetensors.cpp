// A file is the length of its header (8 bytes), a JSON object that gives type,
// shape and place of each tensor, and the tensors' bytes.

#include "artifact/safetensors.h"

#include <cinttypes>
#include <cstring>

namespace alula::artifact {
namespace {

/// Reads JSON in place; every function returns false at what it does not
/// expect, and leaves `why` behind.
class HeaderReader {
public:
  HeaderReader(const char *at, const char *end) : at(at), end(end) {}

  const char *at, *end;
  const char *why = "it is no JSON object of tensors";

  struct Text {
    const char *begin, *end;
  };

  void skipBlanks() {
    while (at != end &&
           (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
      ++at;
  }

  bool take(char c) {
    skipBlanks();
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }

  /// What stands between the quotes, escapes included.
  bool readString(Text &text) {
    if (!take('"'))
      return false;
    text.begin = at;
    for (; at != end && *at != '"'; ++at)
      if (uint8_t(*at) < 32 || (*at == '\\' && ++at == end))
        return false;
    text.end = at;
    return take('"');
  }

  bool readNumber(uint64_t &number) {
    skipBlanks();
    if (at == end || *at < '0' || *at > '9')
      return false;
    for (number = 0; at != end && *at >= '0' && *at <= '9'; ++at)
      if (__builtin_mul_overflow(number, uint64_t(10), &number) ||
          __builtin_add_overflow(number, uint64_t(*at - '0'), &number) ||
          number > INT64_MAX)
        return false;
    return true;
  }

  bool readShape(SafetensorsTensor &tensor) {
    tensor.rank = 0;
    if (!take('['))
      return false;
    if (take(']'))
      return true;
    do {
      uint64_t size;
      if (tensor.rank == ALULA_MAX_RANK || !readNumber(size))
        return false;
      tensor.dims[tensor.rank++] = int64_t(size);
    } while (take(','));
    return take(']');
  }

  /// The free text that files may carry.
  bool skipMetadata() {
    if (!take('{'))
      return false;
    if (take('}'))
      return true;
    Text key, value;
    do
      if (!readString(key) || !take(':') || !readString(value))
        return false;
    while (take(','));
    return take('}');
  }

  /// One tensor's object.
  bool readTensor(const Safetensors &file, SafetensorsTensor &tensor) {
    enum { Dtype = 1, Shape = 2, Offsets = 4 };
    unsigned seen = 0;
    uint64_t from = 0, to = 0;
    if (!take('{'))
      return false;
    do {
      Text key, type;
      if (!readString(key) || !take(':'))
        return false;
      unsigned field;
      if (is(key, "dtype")) {
        field = Dtype;
        if (!readString(type) ||
            size_t(type.end - type.begin) >= sizeof tensor.type)
          return false;
        memcpy(tensor.type, type.begin, size_t(type.end - type.begin));
        tensor.type[type.end - type.begin] = 0;
      } else if (is(key, "shape")) {
        field = Shape;
        if (!readShape(tensor))
          return false;
      } else if (is(key, "data_offsets")) {
        field = Offsets;
        if (!take('[') || !readNumber(from) || !take(',') || !readNumber(to) ||
            !take(']'))
          return false;
      } else
        return false;
      if (seen & field)
        return false;
      seen |= field;
    } while (take(','));
    if (!take('}') || seen != (Dtype | Shape | Offsets))
      return false;
    if (from > to || to > file.dataBytes) {
      why = "a tensor lies outside the file";
      return false;
    }
    tensor.data = file.data + from;
    tensor.bytes = to - from;
    return true;
  }

  static bool is(Text text, const char *word) {
    size_t size = strlen(word);
    return size_t(text.end - text.begin) == size &&
           memcmp(text.begin, word, size) == 0;
  }
};

int readHex(const char *from, const char *end) {
  int code = 0;
  if (end - from < 4)
    return -1;
  for (int i = 0; i < 4; ++i) {
    char c = from[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return -1;
    code = code * 16 + digit;
  }
  return code;
}

/// The UTF-8 bytes of the character at `from`, which is moved on; 0 if there
/// is none.
int readCharacter(const char *&from, const char *end, char bytes[4]) {
  if (*from != '\\') {
    bytes[0] = *from++;
    return 1;
  }
  if (end - from < 2)
    return 0;
  static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
  char kind = from[1];
  if (kind != 'u') {
    from += 2;
    for (const char *escape = escapes; *escape; escape += 2)
      if (*escape == kind) {
        bytes[0] = escape[1];
        return 1;
      }
    return 0;
  }
  int code = readHex(from + 2, end);
  if (code < 0)
    return 0;
  from += 6;
  if (code >= 0xD800 && code < 0xDC00) {
    int low = end - from >= 6 && from[0] == '\\' && from[1] == 'u'
                  ? readHex(from + 2, end)
                  : -1;
    if (low < 0xDC00 || low > 0xDFFF)
      return 0;
    from += 6;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  int count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const int marks[] = {0, 0xC0, 0xE0, 0xF0};
  for (int i = count - 1; i > 0; --i, code >>= 6)
    bytes[i] = char(0x80 | (code & 0x3F));
  bytes[0] = char(marks[count - 1] | code);
  return count;
}

bool equals(HeaderReader::Text text, const char *name) {
  while (text.begin != text.end) {
    char bytes[4];
    int count = readCharacter(text.begin, text.end, bytes);
    if (count == 0)
      return false;
    for (int i = 0; i < count; ++i)
      if (*name == 0 || *name++ != bytes[i])
        return false;
  }
  return *name == 0;
}

} // namespace

bool openSafetensors(const void *bytes, uint64_t size, Safetensors &file,
                     Diagnostic &diagnostic) {
  auto fail = [&](const char *why) {
    return diagnostic.fail(ALULA_STATUS_DATA_LOSS,
                           "not a good safetensors file: %s", why);
  };
  uint64_t headerBytes;
  if (size < sizeof headerBytes)
    return fail("it is truncated");
  memcpy(&headerBytes, bytes, sizeof headerBytes);
  if (headerBytes > size - sizeof headerBytes)
    return fail("its header leaves the file");
  file.header = static_cast<const char *>(bytes) + sizeof headerBytes;
  file.headerEnd = file.header + headerBytes;
  file.data = reinterpret_cast<const uint8_t *>(file.headerEnd);
  file.dataBytes = size - sizeof headerBytes - headerBytes;

  HeaderReader reader(file.header, file.headerEnd);
  bool good = reader.take('{');
  file.header = file.next = reader.at;
  if (good && !reader.take('}')) {
    do {
      HeaderReader::Text name;
      SafetensorsTensor tensor;
      good = reader.readString(name) && reader.take(':') &&
             (HeaderReader::is(name, "__metadata__")
                  ? reader.skipMetadata()
                  : reader.readTensor(file, tensor));
    } while (good && reader.take(','));
    good = good && reader.take('}');
  }
  reader.skipBlanks();
  if (!good || reader.at != reader.end)
    return fail(reader.why);
  return true;
}

bool findTensor(Safetensors &file, const char *name,
                SafetensorsTensor &tensor) {
  // The header was read once as a whole: it is good.
  const char *start = file.next;
  HeaderReader reader(start, file.headerEnd);
  bool again = start == file.header;
  while (true) {
    reader.skipBlanks();
    if (reader.at == reader.end || *reader.at == '}') {
      if (again)
        return false;
      again = true;
      reader.at = file.header;
      continue;
    }
    HeaderReader::Text key;
    reader.readString(key);
    reader.take(':');
    if (HeaderReader::is(key, "__metadata__")) {
      reader.skipMetadata();
    } else {
      reader.readTensor(file, tensor);
      if (equals(key, name)) {
        reader.take(',');
        file.next = reader.at;
        return true;
      }
    }
    reader.take(',');
  }
}

const char *getSafetensorsName(uint32_t dtype) {
  switch (dtype) {
  case ALULA_DTYPE_I1:
    return "BOOL";
  case ALULA_DTYPE_I8:
    return "I8";
  case ALULA_DTYPE_I16:
    return "I16";
  case ALULA_DTYPE_I32:
    return "I32";
  case ALULA_DTYPE_I64:
    return "I64";
  case ALULA_DTYPE_UI8:
    return "U8";
  case ALULA_DTYPE_UI16:
    return "U16";
  case ALULA_DTYPE_UI32:
    return "U32";
  case ALULA_DTYPE_UI64:
    return "U64";
  case ALULA_DTYPE_BF16:
    return "BF16";
  case ALULA_DTYPE_F16:
    return "F16";
  case ALULA_DTYPE_F32:
    return "F32";
  case ALULA_DTYPE_F64:
    return "F64";
  case ALULA_DTYPE_F8E4M3FN:
    return "F8_E4M3";
  case ALULA_DTYPE_F8E5M2:
    return "F8_E5M2";
  case ALULA_DTYPE_F8E8M0FNU:
    return "F8_E8M0";
  case ALULA_DTYPE_C64:
    return "C64";
  default:
    return nullptr;
  }
}

} // namespace alula::artifact
