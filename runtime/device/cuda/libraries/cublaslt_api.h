// NVIDIA's cuBLASLt: what of its functions is used. Types and numbers are those
// of versions 12 and 13.

#pragma once

#include <cstddef>
#include <cstdint>

namespace alula::cublaslt {

using Status = int;
using Handle = struct HandleTag *;
using Layout = struct LayoutTag *;
using Product = struct ProductTag *;
using Preference = struct PreferenceTag *;

enum : Status {
  success = 0,
  notInitialized = 1,
  allocFailed = 3,
  invalidValue = 7,
  archMismatch = 8,
  executionFailed = 13,
  internalError = 14,
  notSupported = 15
};
/// cudaDataType
enum Type : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i8 = 3,
  i32 = 10,
  bf16 = 14,
  f8E4M3 = 28,
  f8E5M2 = 29
};
/// cublasComputeType_t
enum Compute : int { computeF32 = 68, computeF64 = 70, computeI32 = 72 };
/// cublasOperation_t
enum : int32_t { plain = 0, transposed = 1 };
/// cublasLtMatrixLayoutAttribute_t; 32 and 64 bits.
enum LayoutAttribute : int { batchCount = 5, batchOffset = 6 };
/// cublasLtMatmulDescAttributes_t: int32_t, int32_t, uint32_t, a pointer,
/// int32_t.
enum ProductAttribute : int {
  transposeA = 3,
  transposeB = 4,
  epilogue = 7,
  biasPointer = 8,
  biasType = 26
};
/// cublasLtEpilogue_t
enum : uint32_t { noEpilogue = 1, relu = 2, bias = 4, gelu = 32 };
/// cublasLtMatmulPreferenceAttributes_t: uint64_t, then uint32_t.
enum PreferenceAttribute : int {
  mostWorkspace = 1,
  alignmentA = 5,
  alignmentB = 6,
  alignmentC = 7,
  alignmentD = 8
};

struct Algorithm {
  uint64_t data[8];
};
struct Found {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Found) == 96);

/// X(name without cublasLt, result, parameters)
#define ALULA_FOR_EACH_CUBLASLT_FUNCTION(X)                                    \
  X(GetVersion, size_t, (void))                                                \
  X(GetStatusName, const char *, (Status status))                              \
  X(Create, Status, (Handle * handle))                                         \
  X(Destroy, Status, (Handle handle))                                          \
  X(MatrixLayoutCreate, Status,                                                \
    (Layout * layout, Type type, uint64_t rows, uint64_t columns,              \
     int64_t leading))                                                         \
  X(MatrixLayoutDestroy, Status, (Layout layout))                              \
  X(MatrixLayoutSetAttribute, Status,                                          \
    (Layout layout, LayoutAttribute attribute, const void *value,              \
     size_t bytes))                                                            \
  X(MatmulDescCreate, Status,                                                  \
    (Product * product, Compute compute, Type scale))                          \
  X(MatmulDescDestroy, Status, (Product product))                              \
  X(MatmulDescSetAttribute, Status,                                            \
    (Product product, ProductAttribute attribute, const void *value,           \
     size_t bytes))                                                            \
  X(MatmulPreferenceCreate, Status, (Preference * preference))                 \
  X(MatmulPreferenceDestroy, Status, (Preference preference))                  \
  X(MatmulPreferenceSetAttribute, Status,                                      \
    (Preference preference, PreferenceAttribute attribute, const void *value,  \
     size_t bytes))                                                            \
  X(MatmulAlgoGetHeuristic, Status,                                            \
    (Handle handle, Product product, Layout a, Layout b, Layout c, Layout d,   \
     Preference preference, int wanted, Found *found, int *count))             \
  X(Matmul, Status,                                                            \
    (Handle handle, Product product, const void *alpha, const void *a,         \
     Layout aLayout, const void *b, Layout bLayout, const void *beta,          \
     const void *c, Layout cLayout, void *d, Layout dLayout,                   \
     const Algorithm *algorithm, void *workspace, size_t workspaceBytes,       \
     void *stream))

struct Api {
#define X(name, result, parameters) result(*name) parameters;
  ALULA_FOR_EACH_CUBLASLT_FUNCTION(X)
#undef X
};

} // namespace alula::cublaslt
