#include "pjrt/layout.h"

using namespace alula::pjrt;

namespace {
/// Values of PJRT_Buffer_MemoryLayout_Type.
enum { Tiled = 0, Strides = 1 };
} // namespace

void *alula::pjrt::readLayout(const void *given, const int64_t *dims,
                              size_t rank, size_t elementBytes,
                              std::vector<int64_t> &strides) {
  strides = getStrides(dims, rank, elementBytes, nullptr);
  if (!given)
    return nullptr;
  auto *layout = static_cast<const PJRT_Buffer_MemoryLayout *>(given);
  // Its size is not looked at: it never had fewer fields, and torch_xla leaves
  // the size as it finds it.
  if (layout->type == Strides) {
    const PJRT_Buffer_MemoryLayout_Strides &list = layout->_anon2.strides;
    if (list.num_byte_strides != rank || (rank && !list.byte_strides))
      return invalid("alula: the layout has " +
                     std::to_string(list.num_byte_strides) +
                     " strides for an array of rank " + std::to_string(rank));
    auto *first = static_cast<const int64_t *>(list.byte_strides);
    strides.assign(first, first + rank);
    return nullptr;
  }
  if (layout->type != Tiled)
    return invalid("alula: no layout has the type " +
                   std::to_string(layout->type));
  const PJRT_Buffer_MemoryLayout_Tiled &tiled = layout->_anon2.tiled;
  if (tiled.num_tiles)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "alula: arrays have no tiles, the layout has " +
                         std::to_string(tiled.num_tiles));
  if (tiled.minor_to_major_size != rank || (rank && !tiled.minor_to_major))
    return invalid("alula: the layout orders " +
                   std::to_string(tiled.minor_to_major_size) +
                   " dimensions of an array of rank " + std::to_string(rank));
  if (!rank)
    return nullptr;
  strides = getStrides(dims, rank, elementBytes,
                       static_cast<const int64_t *>(tiled.minor_to_major));
  if (strides.empty())
    return invalid("alula: the layout's order of dimensions is no permutation");
  return nullptr;
}

void *alula::pjrt::checkDeviceLayout(const void *given, const int64_t *dims,
                                     size_t rank, size_t elementBytes) {
  std::vector<int64_t> strides;
  if (void *error = readLayout(given, dims, rank, elementBytes, strides))
    return error;
  if (isDense(dims, strides.data(), rank, elementBytes))
    return nullptr;
  return makeError(ALULA_STATUS_UNIMPLEMENTED,
                   "alula: arrays on a device are row-major, another layout is "
                   "asked for");
}
