// libcublasLt.so.13 for machines without a GPU: products in double precision,
// as kernels of the fake driver. Descriptions must be right in all that the
// real library looks at. FAKE_CUBLASLT is what it does wrong: "old", "decline",
// "wrong", "crash", "hang", "fail".

#include "runtime/device/cuda/fake/control.h"
#include "runtime/device/cuda/libraries/cublaslt_api.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace alula::cublaslt {

struct HandleTag {
  int unused;
};
struct LayoutTag {
  Type type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t offset = 0;
};
struct ProductTag {
  Compute compute;
  Type scale;
  int32_t transposeA = plain, transposeB = plain;
  uint32_t epilogue = noEpilogue;
  const void *bias = nullptr;
  int32_t biasType = -1;
};
struct PreferenceTag {
  uint64_t workspace = 0;
  uint32_t alignments[4] = {256, 256, 256, 256};
};

namespace {
std::atomic<uint64_t> products{0}, objects{0};

bool isMode(const char *mode) {
  const char *asked = getenv("FAKE_CUBLASLT");
  return asked && strcmp(asked, mode) == 0;
}

// ---- Elements ----

size_t getBytes(int type) {
  switch (type) {
  case f64:
    return 8;
  case f32:
  case i32:
    return 4;
  case f16:
  case bf16:
    return 2;
  default:
    return 1;
  }
}

/// With `mantissa` bits behind the point and exponents around `bias`.
double readSmall(uint8_t bits, int mantissa, int bias) {
  int exponent = (bits & 0x7F) >> mantissa, rest = bits & ((1 << mantissa) - 1);
  double value =
      exponent ? std::ldexp(1 + std::ldexp(rest, -mantissa), exponent - bias)
               : std::ldexp(rest, 1 - bias - mantissa);
  bool isNan = mantissa == 3 ? (bits & 0x7F) == 0x7F : exponent == 31 && rest;
  if (mantissa == 2 && exponent == 31)
    value = INFINITY;
  return isNan ? NAN : bits & 0x80 ? -value : value;
}

double read(const void *memory, int type, int64_t index) {
  const auto *at =
      static_cast<const char *>(memory) + index * int64_t(getBytes(type));
  auto load = [&](auto value) {
    memcpy(&value, at, sizeof value);
    return double(value);
  };
  switch (type) {
  case f64:
    return load(double());
  case f32:
    return load(float());
  case i32:
    return load(int32_t());
  case i8:
    return load(int8_t());
  case f16:
    return load(_Float16());
  case bf16: {
    uint32_t bits = 0;
    memcpy(reinterpret_cast<char *>(&bits) + 2, at, 2);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  case f8E4M3:
    return readSmall(uint8_t(*at), 3, 7);
  default:
    return readSmall(uint8_t(*at), 2, 15);
  }
}

void write(void *memory, int type, int64_t index, double value) {
  auto *at = static_cast<char *>(memory) + index * int64_t(getBytes(type));
  auto store = [&](auto rounded) { memcpy(at, &rounded, sizeof rounded); };
  switch (type) {
  case f64:
    return store(value);
  case f32:
    return store(float(value));
  case i32:
    return store(int32_t(uint32_t(int64_t(value))));
  case f16:
    return store(static_cast<_Float16>(value));
  case bf16: {
    auto single = float(value);
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (single == single)
      bits += 0x7FFF + (bits >> 16 & 1);
    return store(uint16_t(bits >> 16));
  }
  default:
    abort();
  }
}

// ---- Products ----

struct Launch {
  ProductTag product;
  LayoutTag a, b, d;
  const void *aMemory, *bMemory;
  void *dMemory;
  void *workspace;
  uint64_t workspaceBytes;
};

struct Sizes {
  int64_t m, n, k;
};

uint64_t countBytes(const LayoutTag &layout) {
  return (uint64_t(layout.batch - 1) * uint64_t(layout.offset) +
          (layout.columns - 1) * uint64_t(layout.leading) + layout.rows) *
         getBytes(layout.type);
}

/// Whether the descriptions fit together.
bool measure(const ProductTag &product, const LayoutTag &a, const LayoutTag &b,
             const LayoutTag &d, Sizes &sizes) {
  uint64_t aRows = product.transposeA ? a.columns : a.rows,
           aColumns = product.transposeA ? a.rows : a.columns,
           bRows = product.transposeB ? b.columns : b.rows,
           bColumns = product.transposeB ? b.rows : b.columns;
  sizes = {int64_t(d.rows), int64_t(d.columns), int64_t(aColumns)};
  for (const LayoutTag *each : {&a, &b, &d})
    if (!each->rows || !each->columns || each->leading < int64_t(each->rows) ||
        each->batch != d.batch || each->batch < 1)
      return false;
  return aRows == d.rows && bColumns == d.columns && aColumns == bRows &&
         product.transposeA <= transposed && product.transposeB <= transposed;
}

/// Whether there is a kernel for such types.
bool isSupported(const ProductTag &product, const LayoutTag &a,
                 const LayoutTag &b, const LayoutTag &d) {
  bool isFloat8 = a.type == f8E4M3 || a.type == f8E5M2;
  if (product.epilogue != noEpilogue) {
    if (product.epilogue & ~(relu | bias | gelu) ||
        (product.epilogue & relu && product.epilogue & gelu) || d.type == f64 ||
        d.type == i32)
      return false;
    if (product.epilogue & bias &&
        (!product.bias || reinterpret_cast<uint64_t>(product.bias) % 16 ||
         product.biasType != d.type || (isFloat8 && d.type == f32)))
      return false;
  }
  if (isFloat8)
    return (b.type == f8E4M3 || (b.type == f8E5M2 && a.type == f8E4M3)) &&
           (d.type == f16 || d.type == bf16 || d.type == f32) &&
           product.transposeA && !product.transposeB && a.leading % 16 == 0 &&
           b.leading % 16 == 0 && product.compute == computeF32 &&
           product.scale == f32;
  if (a.type != b.type)
    return false;
  switch (a.type) {
  case f64:
    return d.type == f64 && product.compute == computeF64 &&
           product.scale == f64;
  case f32:
    return d.type == f32 && product.compute == computeF32 &&
           product.scale == f32;
  case f16:
  case bf16:
    return (d.type == a.type || d.type == f32) &&
           product.compute == computeF32 && product.scale == f32;
  case i8:
    return d.type == i32 && product.compute == computeI32 &&
           product.scale == i32 && a.leading % 4 == 0 && b.leading % 4 == 0 &&
           d.leading % 4 == 0;
  default:
    return false;
  }
}

void multiply(const void *data) {
  const auto &launch = *static_cast<const Launch *>(data);
  const ProductTag &product = launch.product;
  Sizes sizes;
  measure(product, launch.a, launch.b, launch.d, sizes);
  bool hasBias = product.epilogue & bias;
  auto isThere = [](const void *memory, uint64_t bytes) {
    return fakeCudaHasMemory(reinterpret_cast<uint64_t>(memory), bytes);
  };
  // A GPU would stop, or write over what is somebody else's.
  if (!isThere(launch.aMemory, countBytes(launch.a)) ||
      !isThere(launch.bMemory, countBytes(launch.b)) ||
      !isThere(launch.dMemory, countBytes(launch.d)) ||
      (hasBias &&
       !isThere(product.bias, launch.d.rows * getBytes(product.biasType))) ||
      (launch.workspaceBytes &&
       !isThere(launch.workspace, launch.workspaceBytes)))
    abort();
  if (launch.workspaceBytes)
    memset(launch.workspace, 0xA5, launch.workspaceBytes);
  auto place = [](const LayoutTag &layout, bool isTransposed, int64_t batch,
                  int64_t row, int64_t column) {
    if (isTransposed)
      std::swap(row, column);
    return batch * layout.offset + column * layout.leading + row;
  };
  for (int64_t batch = 0; batch < launch.d.batch; ++batch)
    for (int64_t i = 0; i < sizes.m; ++i)
      for (int64_t j = 0; j < sizes.n; ++j) {
        double sum = isMode("wrong") ? 0.5 : 0;
        for (int64_t at = 0; at < sizes.k; ++at)
          sum += read(launch.aMemory, launch.a.type,
                      place(launch.a, product.transposeA, batch, i, at)) *
                 read(launch.bMemory, launch.b.type,
                      place(launch.b, product.transposeB, batch, at, j));
        if (hasBias)
          sum += read(product.bias, product.biasType, i);
        if (product.epilogue & relu)
          sum = std::max(sum, 0.0);
        if (product.epilogue & gelu)
          sum = 0.5 * sum *
                (1 + std::tanh(std::sqrt(2 / M_PI) *
                               (sum + 0.044715 * sum * sum * sum)));
        write(launch.dMemory, launch.d.type,
              place(launch.d, false, batch, i, j), sum);
      }
  ++products;
}

/// What an algorithm was found for.
uint64_t mix(const ProductTag &product, const LayoutTag &a, const LayoutTag &b,
             const LayoutTag &d) {
  uint64_t mixed = 14695981039346656037u;
  auto add = [&](uint64_t value) { mixed = (mixed ^ value) * 1099511628211u; };
  for (uint64_t each :
       {uint64_t(product.compute), uint64_t(product.scale),
        uint64_t(product.transposeA), uint64_t(product.transposeB),
        uint64_t(product.epilogue), uint64_t(product.biasType)})
    add(each);
  for (const LayoutTag *each : {&a, &b, &d})
    for (uint64_t value : {uint64_t(each->type), each->rows, each->columns,
                           uint64_t(each->leading), uint64_t(each->batch),
                           uint64_t(each->offset)})
      add(value);
  return mixed;
}

template <class T> Status make(T **made, T value) {
  *made = new T(value);
  ++objects;
  return success;
}
template <class T> Status destroy(T *object) {
  delete object;
  --objects;
  return success;
}
template <class T> bool take(T &field, const void *value, size_t bytes) {
  if (!value || bytes != sizeof field)
    return false;
  memcpy(&field, value, bytes);
  return true;
}
} // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#define X(name, result, parameters) FAKE result cublasLt##name parameters;
ALULA_FOR_EACH_CUBLASLT_FUNCTION(X)
#undef X

size_t cublasLtGetVersion(void) { return isMode("old") ? 111103 : 130100; }
const char *cublasLtGetStatusName(Status status) {
  return status == success         ? "CUBLAS_STATUS_SUCCESS"
         : status == invalidValue  ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == notSupported  ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == allocFailed   ? "CUBLAS_STATUS_ALLOC_FAILED"
         : status == internalError ? "CUBLAS_STATUS_INTERNAL_ERROR"
                                   : "CUBLAS_STATUS_EXECUTION_FAILED";
}
Status cublasLtCreate(Handle *handle) { return make(handle, HandleTag{0}); }
Status cublasLtDestroy(Handle handle) { return destroy(handle); }
Status cublasLtMatrixLayoutCreate(Layout *layout, Type type, uint64_t rows,
                                  uint64_t columns, int64_t leading) {
  return make(layout, LayoutTag{type, rows, columns, leading});
}
Status cublasLtMatrixLayoutDestroy(Layout layout) { return destroy(layout); }
Status cublasLtMatrixLayoutSetAttribute(Layout layout,
                                        LayoutAttribute attribute,
                                        const void *value, size_t bytes) {
  bool isGood = attribute == batchCount    ? take(layout->batch, value, bytes)
                : attribute == batchOffset ? take(layout->offset, value, bytes)
                                           : false;
  return isGood ? success : invalidValue;
}
Status cublasLtMatmulDescCreate(Product *product, Compute compute, Type scale) {
  return make(product, ProductTag{compute, scale});
}
Status cublasLtMatmulDescDestroy(Product product) { return destroy(product); }
Status cublasLtMatmulDescSetAttribute(Product product,
                                      ProductAttribute attribute,
                                      const void *value, size_t bytes) {
  auto set = [&](auto &field) {
    return take(field, value, bytes) ? success : invalidValue;
  };
  switch (attribute) {
  case transposeA:
    return set(product->transposeA);
  case transposeB:
    return set(product->transposeB);
  case epilogue:
    return set(product->epilogue);
  case biasPointer:
    return set(product->bias);
  case biasType:
    return set(product->biasType);
  }
  return invalidValue;
}
Status cublasLtMatmulPreferenceCreate(Preference *preference) {
  return make(preference, PreferenceTag());
}
Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  return destroy(preference);
}
Status cublasLtMatmulPreferenceSetAttribute(Preference preference,
                                            PreferenceAttribute attribute,
                                            const void *value, size_t bytes) {
  if (attribute == mostWorkspace)
    return take(preference->workspace, value, bytes) ? success : invalidValue;
  if (attribute < alignmentA || attribute > alignmentD)
    return invalidValue;
  return take(preference->alignments[attribute - alignmentA], value, bytes)
             ? success
             : invalidValue;
}
Status cublasLtMatmulAlgoGetHeuristic(Handle handle, Product product, Layout a,
                                      Layout b, Layout c, Layout d,
                                      Preference preference, int wanted,
                                      Found *found, int *count) {
  Sizes sizes;
  *count = 0;
  if (!handle || wanted < 1 || c != d || !measure(*product, *a, *b, *d, sizes))
    return invalidValue;
  // More is promised than is kept.
  for (uint32_t alignment : preference->alignments)
    if (alignment != 16)
      return invalidValue;
  if (isMode("decline") || !isSupported(*product, *a, *b, *d))
    return notSupported;
  *found = {};
  found->algorithm.data[0] = mix(*product, *a, *b, *d);
  // A long sum is cut, and its parts are added up.
  found->workspaceBytes = sizes.k >= 64 ? 1 << 20 : 0;
  if (found->workspaceBytes > preference->workspace)
    return notSupported;
  *count = 1;
  return success;
}
Status cublasLtMatmul(Handle handle, Product product, const void *alpha,
                      const void *a, Layout aLayout, const void *b,
                      Layout bLayout, const void *beta, const void *c,
                      Layout cLayout, void *d, Layout dLayout,
                      const Algorithm *algorithm, void *workspace,
                      size_t workspaceBytes, void *stream) {
  if (isMode("crash"))
    _exit(139);
  while (isMode("hang"))
    pause();
  if (isMode("fail"))
    return executionFailed;
  if (!handle || c != d || cLayout != dLayout ||
      read(alpha, product->scale, 0) != 1 ||
      read(beta, product->scale, 0) != 0 ||
      algorithm->data[0] != mix(*product, *aLayout, *bLayout, *dLayout))
    return invalidValue;
  auto isAligned = [](const void *memory, uint64_t alignment) {
    return reinterpret_cast<uint64_t>(memory) % alignment == 0;
  };
  if (!isAligned(a, 16) || !isAligned(b, 16) || !isAligned(d, 16) ||
      !isAligned(workspace, 256))
    return invalidValue;
  uint64_t needed =
      (product->transposeA ? aLayout->rows : aLayout->columns) >= 64 ? 1 << 20
                                                                     : 0;
  if (workspaceBytes < needed ||
      (product->epilogue & bias && !isAligned(product->bias, 16)))
    return invalidValue;
  Launch launch = {*product, *aLayout, *bLayout,  *dLayout, a,
                   b,        d,        workspace, needed};
  return fakeCudaLaunch(stream, multiply, &launch, sizeof launch) == 0
             ? success
             : executionFailed;
}

/// "products" that have run; else the objects that live.
FAKE uint64_t fakeCublasLtCount(const char *what);
uint64_t fakeCublasLtCount(const char *what) {
  return strcmp(what, "products") == 0 ? products : objects;
}

} // namespace alula::cublaslt
