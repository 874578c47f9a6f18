#include "tools/values/value_io.h"

#include "tools/values/npy.h"
#include "tools/values/text.h"

#include <cerrno>
#include <cstdio>

namespace alula::values {

static std::string describeErrno(const std::string &path) {
  return path + ": " + strerror(errno);
}

bool readFile(const std::string &path, std::string &bytes, std::string &error) {
  FILE *file = path == "-" ? stdin : fopen(path.c_str(), "rb");
  if (!file) {
    error = describeErrno(path);
    return false;
  }
  char buffer[65536];
  size_t count;
  bytes.clear();
  while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
    bytes.append(buffer, count);
  bool failed = ferror(file) != 0;
  if (failed)
    error = describeErrno(path);
  if (file != stdin)
    fclose(file);
  return !failed;
}

bool writeFile(const std::string &path, std::string_view bytes,
               std::string &error) {
  FILE *file = fopen(path.c_str(), "wb");
  if (!file) {
    error = describeErrno(path);
    return false;
  }
  bool failed = fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size();
  // A full disk may only show when the buffer is flushed.
  failed |= fclose(file) != 0;
  if (failed)
    error = describeErrno(path);
  return !failed;
}

bool readValue(std::string_view spec, Value &value, std::string &error) {
  Value wanted;
  bool typed = spec.empty() || spec[0] != '@';
  std::string_view rest = spec;
  if (typed) {
    size_t equals = spec.find('=');
    alula_dtype type;
    std::vector<int64_t> shape;
    if (!parseType(spec.substr(0, equals), type, shape, error) ||
        !createValue(type, std::move(shape), wanted, error))
      return false;
    if (equals == spec.npos) {
      value = std::move(wanted);
      return true;
    }
    rest = spec.substr(equals + 1);
    if (rest.empty() || rest[0] != '@') {
      value = std::move(wanted);
      return parseElements(rest, value, error);
    }
  }
  std::string path(rest.substr(1)), bytes;
  if (!readFile(path, bytes, error))
    return false;
  if (path.ends_with(".npy")) {
    if (readNpy(bytes, typed ? &wanted : nullptr, value, error))
      return true;
    error = path + ": " + error;
    return false;
  }
  if (!typed) {
    error = path + ": a raw file needs its type in front, as in 2x3xf32=@" +
            path;
    return false;
  }
  if (bytes.size() != wanted.size) {
    error = path + ": has " + std::to_string(bytes.size()) + " bytes, but " +
            printType(wanted.type, wanted.shape) + " takes " +
            std::to_string(wanted.size);
    return false;
  }
  if (!bytes.empty())
    memcpy(wanted.data.get(), bytes.data(), bytes.size());
  value = std::move(wanted);
  return true;
}

bool writeValue(std::string_view spec, const Value &value, std::string &error) {
  if (spec == "-") {
    std::string text = printValue(value) + "\n";
    if (fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
        fflush(stdout) == 0)
      return true;
    error = describeErrno("stdout");
    return false;
  }
  if (spec.starts_with("@"))
    spec.remove_prefix(1);
  if (spec.empty()) {
    error = "expected '-' or a file name";
    return false;
  }
  if (spec.ends_with(".npy"))
    return writeFile(std::string(spec), writeNpy(value), error);
  return writeFile(
      std::string(spec),
      {reinterpret_cast<const char *>(value.data.get()), value.size}, error);
}

} // namespace alula::values
