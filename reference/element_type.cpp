#include "reference/element_type.h"

#include "dialect/newer/types.h"

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cstring>

using namespace mlir;

namespace alula::reference {
namespace {

std::optional<Kind> getIntegerKind(unsigned width, bool isUnsigned) {
  switch (width) {
  case 1:
    return Kind::Bool;
  case 2:
    return isUnsigned ? Kind::U2 : Kind::S2;
  case 4:
    return isUnsigned ? Kind::U4 : Kind::S4;
  case 8:
    return isUnsigned ? Kind::U8 : Kind::S8;
  case 16:
    return isUnsigned ? Kind::U16 : Kind::S16;
  case 32:
    return isUnsigned ? Kind::U32 : Kind::S32;
  case 64:
    return isUnsigned ? Kind::U64 : Kind::S64;
  default:
    return std::nullopt;
  }
}

struct KindFacts {
  const char *name;
  uint8_t bits;
  uint8_t bytes;
  Domain domain;
};

constexpr KindFacts facts[numKinds] = {
    {"i1", 1, 1, Domain::Bool},
    {"i2", 2, 1, Domain::Signed},
    {"i4", 4, 1, Domain::Signed},
    {"i8", 8, 1, Domain::Signed},
    {"i16", 16, 2, Domain::Signed},
    {"i32", 32, 4, Domain::Signed},
    {"i64", 64, 8, Domain::Signed},
    {"ui2", 2, 1, Domain::Unsigned},
    {"ui4", 4, 1, Domain::Unsigned},
    {"ui8", 8, 1, Domain::Unsigned},
    {"ui16", 16, 2, Domain::Unsigned},
    {"ui32", 32, 4, Domain::Unsigned},
    {"ui64", 64, 8, Domain::Unsigned},
    {"f4E2M1FN", 4, 1, Domain::Float},
    {"f6E2M3FN", 6, 1, Domain::Float},
    {"f6E3M2FN", 6, 1, Domain::Float},
    {"f8E3M4", 8, 1, Domain::Float},
    {"f8E4M3", 8, 1, Domain::Float},
    {"f8E4M3FN", 8, 1, Domain::Float},
    {"f8E4M3FNUZ", 8, 1, Domain::Float},
    {"f8E4M3B11FNUZ", 8, 1, Domain::Float},
    {"f8E5M2", 8, 1, Domain::Float},
    {"f8E5M2FNUZ", 8, 1, Domain::Float},
    {"f8E8M0FNU", 8, 1, Domain::Float},
    {"bf16", 16, 2, Domain::Float},
    {"f16", 16, 2, Domain::Float},
    {"f32", 32, 4, Domain::Float},
    {"f64", 64, 8, Domain::Float},
    {"complex<f32>", 64, 8, Domain::Complex},
    {"complex<f64>", 128, 16, Domain::Complex},
};

template <typename T> T read(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T> void write(uint8_t *bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

int64_t signExtend(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits == 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

/// Calls `body` with a function that reads the element at an offset.
template <typename Body> void withReader(Kind kind, Body body) {
  switch (kind) {
  case Kind::Bool:
    return body([](const uint8_t *p, int64_t at, Cell &c) { c.u = p[at] & 1; });
  case Kind::S2:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.i = signExtend(p[at], 2);
    });
  case Kind::S4:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.i = signExtend(p[at], 4);
    });
  case Kind::S8:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.i = int8_t(p[at]);
    });
  case Kind::S16:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.i = read<int16_t>(p + 2 * at);
    });
  case Kind::S32:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.i = read<int32_t>(p + 4 * at);
    });
  case Kind::S64:
  case Kind::U64:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.i = read<int64_t>(p + 8 * at);
    });
  case Kind::U2:
    return body([](const uint8_t *p, int64_t at, Cell &c) { c.u = p[at] & 3; });
  case Kind::U4:
    return body(
        [](const uint8_t *p, int64_t at, Cell &c) { c.u = p[at] & 15; });
  case Kind::U8:
    return body([](const uint8_t *p, int64_t at, Cell &c) { c.u = p[at]; });
  case Kind::U16:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.u = read<uint16_t>(p + 2 * at);
    });
  case Kind::U32:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.u = read<uint32_t>(p + 4 * at);
    });
  case Kind::BF16:
  case Kind::F16:
    return body([kind](const uint8_t *p, int64_t at, Cell &c) {
      c.re = decodeFloat(kind, read<uint16_t>(p + 2 * at));
    });
  case Kind::F32:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.re = read<float>(p + 4 * at);
    });
  case Kind::F64:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.re = read<double>(p + 8 * at);
    });
  case Kind::C64:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.re = read<float>(p + 8 * at);
      c.im = read<float>(p + 8 * at + 4);
    });
  case Kind::C128:
    return body([](const uint8_t *p, int64_t at, Cell &c) {
      c.re = read<double>(p + 16 * at);
      c.im = read<double>(p + 16 * at + 8);
    });
  default:
    return body([kind](const uint8_t *p, int64_t at, Cell &c) {
      c.re = decodeFloat(kind, p[at]);
    });
  }
}

} // namespace

std::optional<Kind> getKind(Type type) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(type)) {
    auto width = quantized.getStorageTypeIntegralWidth();
    return getIntegerKind(width, !quantized.isSigned());
  }
  if (auto quantized = dyn_cast<newer::SubChannelQuantizedType>(type)) {
    const newer::SubChannelQuantization &facts = quantized.getQuantization();
    return getIntegerKind(facts.storageType.getIntOrFloatBitWidth(),
                          !facts.isSigned);
  }
  if (auto bridged = dyn_cast<newer::BridgedFloatType>(type)) {
    switch (bridged.getFormat()) {
    case newer::FloatFormat::F8E3M4:
      return Kind::F8E3M4;
    case newer::FloatFormat::F8E8M0FNU:
      return Kind::F8E8M0FNU;
    case newer::FloatFormat::F6E2M3FN:
      return Kind::F6E2M3FN;
    case newer::FloatFormat::F6E3M2FN:
      return Kind::F6E3M2FN;
    case newer::FloatFormat::F4E2M1FN:
      return Kind::F4E2M1FN;
    }
  }
  if (auto integer = dyn_cast<IntegerType>(type))
    return getIntegerKind(integer.getWidth(), integer.isUnsigned());
  if (isa<IndexType>(type))
    return Kind::S64;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    if (complex.getElementType().isF32())
      return Kind::C64;
    if (complex.getElementType().isF64())
      return Kind::C128;
    return std::nullopt;
  }
  if (type.isF32())
    return Kind::F32;
  if (type.isF64())
    return Kind::F64;
  if (type.isF16())
    return Kind::F16;
  if (type.isBF16())
    return Kind::BF16;
  if (isa<Float8E5M2Type>(type))
    return Kind::F8E5M2;
  if (isa<Float8E4M3Type>(type))
    return Kind::F8E4M3;
  if (isa<Float8E4M3FNType>(type))
    return Kind::F8E4M3FN;
  if (isa<Float8E5M2FNUZType>(type))
    return Kind::F8E5M2FNUZ;
  if (isa<Float8E4M3FNUZType>(type))
    return Kind::F8E4M3FNUZ;
  if (isa<Float8E4M3B11FNUZType>(type))
    return Kind::F8E4M3B11FNUZ;
  return std::nullopt;
}

Domain getDomain(Kind kind) { return facts[unsigned(kind)].domain; }
size_t getByteWidth(Kind kind) { return facts[unsigned(kind)].bytes; }
unsigned getBitWidth(Kind kind) { return facts[unsigned(kind)].bits; }
llvm::StringRef getName(Kind kind) { return facts[unsigned(kind)].name; }

Kind getRealKind(Kind kind) {
  if (kind == Kind::C64)
    return Kind::F32;
  return kind == Kind::C128 ? Kind::F64 : kind;
}

void load(Kind kind, const uint8_t *bytes, Cell *cells, size_t n,
          int64_t stride) {
  withReader(kind, [&](auto readAt) {
    int64_t at = 0;
    for (size_t k = 0; k < n; ++k, at += stride)
      readAt(bytes, at, cells[k]);
  });
}

void loadAt(Kind kind, const uint8_t *bytes, const int64_t *offsets,
            Cell *cells, size_t n) {
  withReader(kind, [&](auto readAt) {
    for (size_t k = 0; k < n; ++k)
      readAt(bytes, offsets[k], cells[k]);
  });
}

void store(Kind kind, const Cell *cells, uint8_t *bytes, size_t n) {
  switch (kind) {
  case Kind::S2:
  case Kind::S4: {
    // As include/alula/dtype.h has it: sign-extended, so equal values have
    // equal bytes.
    unsigned bits = getBitWidth(kind);
    for (size_t k = 0; k < n; ++k)
      bytes[k] = uint8_t(signExtend(cells[k].u, bits));
    return;
  }
  case Kind::Bool:
  case Kind::S8:
  case Kind::U2:
  case Kind::U4:
  case Kind::U8: {
    uint64_t mask = (uint64_t(1) << getBitWidth(kind)) - 1;
    for (size_t k = 0; k < n; ++k)
      bytes[k] = uint8_t(cells[k].u & mask);
    return;
  }
  case Kind::S16:
  case Kind::U16:
    for (size_t k = 0; k < n; ++k)
      write(bytes + 2 * k, uint16_t(cells[k].u));
    return;
  case Kind::S32:
  case Kind::U32:
    for (size_t k = 0; k < n; ++k)
      write(bytes + 4 * k, uint32_t(cells[k].u));
    return;
  case Kind::S64:
  case Kind::U64:
    for (size_t k = 0; k < n; ++k)
      write(bytes + 8 * k, cells[k].u);
    return;
  case Kind::BF16:
  case Kind::F16:
    for (size_t k = 0; k < n; ++k)
      write(bytes + 2 * k, uint16_t(encodeFloat(kind, cells[k].re)));
    return;
  case Kind::F32:
    for (size_t k = 0; k < n; ++k)
      write(bytes + 4 * k, float(cells[k].re));
    return;
  case Kind::F64:
    for (size_t k = 0; k < n; ++k)
      write(bytes + 8 * k, cells[k].re);
    return;
  case Kind::C64:
    for (size_t k = 0; k < n; ++k) {
      write(bytes + 8 * k, float(cells[k].re));
      write(bytes + 8 * k + 4, float(cells[k].im));
    }
    return;
  case Kind::C128:
    for (size_t k = 0; k < n; ++k) {
      write(bytes + 16 * k, cells[k].re);
      write(bytes + 16 * k + 8, cells[k].im);
    }
    return;
  default:
    for (size_t k = 0; k < n; ++k)
      bytes[k] = uint8_t(encodeFloat(kind, cells[k].re));
    return;
  }
}

void roundTo(Kind kind, Cell *cells, size_t n) {
  switch (getDomain(kind)) {
  case Domain::Bool:
    for (size_t k = 0; k < n; ++k)
      cells[k].u &= 1;
    return;
  case Domain::Signed:
    if (unsigned bits = getBitWidth(kind); bits < 64)
      for (size_t k = 0; k < n; ++k)
        cells[k].i = signExtend(cells[k].u, bits);
    return;
  case Domain::Unsigned:
    if (unsigned bits = getBitWidth(kind); bits < 64)
      for (size_t k = 0; k < n; ++k)
        cells[k].u = lowBits(cells[k].u, bits);
    return;
  case Domain::Float:
    if (kind == Kind::F64)
      return;
    if (kind == Kind::F32) {
      for (size_t k = 0; k < n; ++k)
        cells[k].re = float(cells[k].re);
      return;
    }
    for (size_t k = 0; k < n; ++k)
      cells[k].re = decodeFloat(kind, encodeFloat(kind, cells[k].re));
    return;
  case Domain::Complex:
    if (kind == Kind::C64)
      for (size_t k = 0; k < n; ++k) {
        cells[k].re = float(cells[k].re);
        cells[k].im = float(cells[k].im);
      }
    return;
  }
}

} // namespace alula::reference
