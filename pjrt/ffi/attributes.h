#pragma once

#include "pjrt/ffi/handler.h"

#include <deque>
#include <memory>
#include <vector>

namespace alula::pjrt::ffi {

/// XLA's number of an element type, or 0.
uint32_t getDataType(uint32_t dtype);

/// An operand or result of a call, as its configuration says it.
struct CallValue {
  enum class Kind : uint8_t { Token = 0, Array = 1, Sizes = 2 };
  Kind kind;
  /// Dimension i in memory is the program's dimension order[i].
  std::vector<uint8_t> order;
};

/// Reads a configuration; artifact/SPEC.md describes it. After the end it reads
/// zeros and is no longer good.
class ConfigReader {
public:
  ConfigReader(const void *bytes, size_t size)
      : next(static_cast<const uint8_t *>(bytes)), end(next + size) {}

  bool isGood() const { return good; }
  bool isAtEnd() const { return next == end; }
  uint8_t readByte() { return read<uint8_t>(); }
  uint32_t readCount() { return read<uint32_t>(); }
  std::string_view readBytes(size_t size);
  std::string_view readText() { return readBytes(readCount()); }
  /// Operands or results. An error if a value is of no kind.
  void *readValues(std::vector<CallValue> &values);

private:
  template <typename T> T read() {
    T value = {};
    std::string_view bytes = readBytes(sizeof value);
    if (!bytes.empty())
      memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  const uint8_t *next, *end;
  bool good = true;
};

/// A dictionary as handlers read it. Texts are the configuration's bytes, which
/// must live as long.
class Attributes {
public:
  Attributes() = default;
  Attributes(const Attributes &) = delete;
  Attributes &operator=(const Attributes &) = delete;

  /// An error if an attribute has no form in XLA's FFI. Handlers search by
  /// name: they stay sorted.
  void *read(ConfigReader &reader, int depth = 0);
  const XLA_FFI_Attrs &get() const { return table; }

private:
  void *readAttribute(ConfigReader &reader, std::string_view name, int depth);
  void *readElements(ConfigReader &reader, std::string_view name,
                     bool isScalar);
  void add(uint32_t type, void *attribute);

  std::vector<uint32_t> types;
  std::vector<void *> names, attributes;
  std::deque<XLA_FFI_ByteSpan> texts;
  std::deque<XLA_FFI_Scalar> scalars;
  std::deque<XLA_FFI_Array> arrays;
  /// Elements, aligned for all types.
  std::deque<std::vector<uint64_t>> elements;
  std::vector<std::unique_ptr<Attributes>> inner;
  XLA_FFI_Attrs table = {};
};

} // namespace alula::pjrt::ffi
