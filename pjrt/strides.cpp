#include "pjrt/strides.h"

#include "pjrt/border.h"
#include "pjrt/host_view.h"

#include <algorithm>
#include <cstring>

using namespace alula::pjrt;

bool alula::pjrt::countBytes(const int64_t *dims, size_t rank,
                             alula_dtype dtype, size_t &bytes) {
  size_t total = alula_dtype_get_bytes(dtype);
  bool isEmpty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return false;
    isEmpty |= dims[i] == 0;
    if (dims[i] > 1 &&
        __builtin_mul_overflow(total, static_cast<size_t>(dims[i]), &total))
      return false;
  }
  bytes = isEmpty ? 0 : total;
  return isEmpty || total <= (size_t(1) << 48);
}

Layout alula::pjrt::simplifyLayout(Layout layout) {
  size_t rank = layout.size();
  for (size_t i = 0; i < rank; ++i)
    if (layout[i] != static_cast<int64_t>(rank - 1 - i))
      return layout;
  return {};
}

std::vector<int64_t> alula::pjrt::getStrides(const int64_t *dims, size_t rank,
                                             size_t elementBytes,
                                             const Layout &layout) {
  std::vector<int64_t> strides(rank, 0);
  auto stride = static_cast<int64_t>(elementBytes);
  for (size_t i = 0; i < rank; ++i) {
    int64_t dim =
        layout.empty() ? static_cast<int64_t>(rank - 1 - i) : layout[i];
    if (dim < 0 || dim >= static_cast<int64_t>(rank) ||
        strides[static_cast<size_t>(dim)])
      return {};
    strides[static_cast<size_t>(dim)] = stride;
    stride *= dims[dim] > 0 ? dims[dim] : 1;
  }
  return strides;
}

bool alula::pjrt::findLayout(const int64_t *dims, const int64_t *strides,
                             size_t rank, size_t elementBytes, Layout &layout) {
  layout.clear();
  for (size_t i = rank; i-- > 0;)
    layout.push_back(static_cast<int64_t>(i));
  auto rowMajor = getStrides(dims, rank, elementBytes, {});
  if (!isSamePlaces(dims, strides, rowMajor.data(), rank))
    std::stable_sort(layout.begin(), layout.end(), [&](int64_t a, int64_t b) {
      return strides[a] < strides[b];
    });
  layout = simplifyLayout(std::move(layout));
  auto found = getStrides(dims, rank, elementBytes, layout);
  return isSamePlaces(dims, strides, found.data(), rank);
}

bool alula::pjrt::isSamePlaces(const int64_t *dims, const int64_t *some,
                               const int64_t *others, size_t rank) {
  // Where nothing is, every order is right.
  if (std::find(dims, dims + rank, 0) != dims + rank)
    return true;
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] != 1 && some[i] != others[i])
      return false;
  return true;
}

std::vector<int64_t> alula::pjrt::getDimsInMemory(const int64_t *dims,
                                                  size_t rank,
                                                  const Layout &layout) {
  std::vector<int64_t> result(dims, dims + rank);
  for (size_t i = 0; i < layout.size(); ++i)
    result[rank - 1 - i] = dims[layout[i]];
  return result;
}

std::vector<int64_t> alula::pjrt::getDimsOfProgram(const int64_t *dimsInMemory,
                                                   size_t rank,
                                                   const Layout &layout) {
  std::vector<int64_t> result(dimsInMemory, dimsInMemory + rank);
  for (size_t i = 0; i < layout.size(); ++i)
    result[static_cast<size_t>(layout[i])] = dimsInMemory[rank - 1 - i];
  return result;
}

namespace {
/// One dimension that is left after merging.
struct Loop {
  int64_t size, toStride, fromStride;
};

template <size_t bytes>
void copyRow(char *to, const char *from, const Loop &loop) {
  for (int64_t i = 0; i < loop.size; ++i)
    memcpy(to + i * loop.toStride, from + i * loop.fromStride, bytes);
}

void copyRow(char *to, const char *from, const Loop &loop, size_t bytes) {
  auto dense = static_cast<int64_t>(bytes);
  if (loop.toStride == dense && loop.fromStride == dense) {
    memcpy(to, from, static_cast<size_t>(loop.size) * bytes);
    return;
  }
  switch (bytes) {
  case 1:
    return copyRow<1>(to, from, loop);
  case 2:
    return copyRow<2>(to, from, loop);
  case 4:
    return copyRow<4>(to, from, loop);
  case 8:
    return copyRow<8>(to, from, loop);
  case 16:
    return copyRow<16>(to, from, loop);
  }
}

void copyLoops(char *to, const char *from, const Loop *loops, size_t count,
               size_t bytes) {
  if (count == 1)
    return copyRow(to, from, *loops, bytes);
  for (int64_t i = 0; i < loops->size; ++i)
    copyLoops(to + i * loops->toStride, from + i * loops->fromStride, loops + 1,
              count - 1, bytes);
}
} // namespace

void alula::pjrt::copyStrided(char *to, const int64_t *toStrides,
                              const char *from, const int64_t *fromStrides,
                              const int64_t *dims, size_t rank,
                              size_t elementBytes) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < rank; ++i) {
    Loop next{dims[i], toStrides[i], fromStrides[i]};
    if (next.size == 0)
      return;
    if (next.size == 1)
      continue;
    // Two dimensions without a gap between them are one.
    if (!loops.empty() && loops.back().toStride == next.size * next.toStride &&
        loops.back().fromStride == next.size * next.fromStride)
      loops.back() = {loops.back().size * next.size, next.toStride,
                      next.fromStride};
    else
      loops.push_back(next);
  }
  if (loops.empty())
    loops.push_back({1, 0, 0});
  copyLoops(to, from, loops.data(), loops.size(), elementBytes);
}

bool alula::pjrt::isCanonical(alula_dtype dtype, const void *data,
                              size_t count) {
  uint32_t bits = alula_dtype_get_bits(dtype);
  if (bits >= 8 || bits == 0)
    return true;
  auto *bytes = static_cast<const uint8_t *>(data);
  uint8_t wrong = 0;
  if (alula_dtype_get_kind(dtype) == ALULA_KIND_INT) {
    for (size_t i = 0; i < count; ++i) {
      auto extended = static_cast<int8_t>(
          static_cast<int8_t>(bytes[i] << (8 - bits)) >> (8 - bits));
      wrong |= static_cast<uint8_t>(extended) ^ bytes[i];
    }
    return wrong == 0;
  }
  for (size_t i = 0; i < count; ++i)
    wrong |= static_cast<uint8_t>(bytes[i] >> bits);
  return wrong == 0;
}

void alula::pjrt::canonicalize(alula_dtype dtype, void *data, size_t count) {
  uint32_t bits = alula_dtype_get_bits(dtype);
  if (bits >= 8 || bits == 0)
    return;
  auto *bytes = static_cast<uint8_t *>(data);
  auto mask = static_cast<uint8_t>((1u << bits) - 1);
  auto sign = static_cast<uint8_t>(1u << (bits - 1));
  switch (alula_dtype_get_kind(dtype)) {
  case ALULA_KIND_BOOL:
    for (size_t i = 0; i < count; ++i)
      bytes[i] = bytes[i] != 0;
    return;
  case ALULA_KIND_INT:
    for (size_t i = 0; i < count; ++i)
      bytes[i] = static_cast<uint8_t>(((bytes[i] & mask) ^ sign) - sign);
    return;
  default:
    for (size_t i = 0; i < count; ++i)
      bytes[i] &= mask;
  }
}

void *alula::pjrt::canonicalize(alula_buffer *buffer) {
  alula_dtype dtype = alula_buffer_get_dtype(buffer);
  uint32_t bits = alula_dtype_get_bits(dtype);
  if (bits >= 8 || bits == 0)
    return nullptr;
  HostView view(buffer, HostView::Use::change);
  canonicalize(dtype, view.data(), view.countElements());
  return makeError(view.finish());
}
