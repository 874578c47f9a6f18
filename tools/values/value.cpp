#include "tools/values/value.h"

#include <charconv>
#include <unistd.h>

namespace alula::values {

int64_t Value::getNumElements() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

/// More than the machine's memory can only end in the kernel killing us.
static uint64_t getMemoryLimit() {
  long pages = sysconf(_SC_PHYS_PAGES), pageBytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageBytes <= 0)
    return UINT64_MAX;
  return uint64_t(pages) * uint64_t(pageBytes);
}

bool createValue(alula_dtype type, std::vector<int64_t> shape, Value &value,
                 std::string &error) {
  uint64_t bytes = alula_dtype_get_bytes(type);
  bool empty = false, overflow = false;
  for (int64_t dim : shape) {
    empty |= dim == 0;
    overflow |= dim < 0 || __builtin_mul_overflow(bytes, uint64_t(dim), &bytes);
  }
  if (empty)
    bytes = 0;
  else if (overflow || bytes > getMemoryLimit()) {
    error = printType(type, shape) + ": more bytes than this machine's memory";
    return false;
  }
  // aligned_alloc wants a multiple of the alignment.
  size_t rounded = (size_t(bytes) + 63) / 64 * 64;
  auto *memory =
      static_cast<uint8_t *>(aligned_alloc(64, rounded ? rounded : 64));
  if (!memory) {
    error = printType(type, shape) + ": out of memory";
    return false;
  }
  memset(memory, 0, size_t(bytes));
  value.type = type;
  value.shape = std::move(shape);
  value.data.reset(memory);
  value.size = size_t(bytes);
  return true;
}

bool parseType(std::string_view text, alula_dtype &type,
               std::vector<int64_t> &shape, std::string &error) {
  std::string_view rest = text;
  shape.clear();
  while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
    int64_t dim = 0;
    auto [end, failure] =
        std::from_chars(rest.data(), rest.data() + rest.size(), dim);
    if (failure != std::errc()) {
      error = "'" + std::string(text) + "': dimension too large";
      return false;
    }
    rest.remove_prefix(size_t(end - rest.data()));
    if (rest.empty() || rest[0] != 'x') {
      error = "'" + std::string(text) + "': expected 'x' after a dimension";
      return false;
    }
    rest.remove_prefix(1);
    shape.push_back(dim);
  }
  type = alula_dtype_from_name(rest.data(), rest.size());
  if (type == ALULA_DTYPE_INVALID) {
    error = "'" + std::string(text) + "': unknown element type '" +
            std::string(rest) + "'";
    return false;
  }
  if (type == ALULA_DTYPE_TOKEN && !shape.empty()) {
    error = "'" + std::string(text) + "': a token has no shape";
    return false;
  }
  return true;
}

std::string printType(alula_dtype type, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t dim : shape)
    text += (dim < 0 ? "?" : std::to_string(dim)) + "x";
  const char *name = alula_dtype_get_name(type);
  return text + (name ? name : "invalid");
}

} // namespace alula::values
