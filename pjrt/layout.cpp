#include "pjrt/layout.h"

#include <utility>

using namespace alula::pjrt;

namespace {
/// Values of PJRT_Buffer_MemoryLayout_Type.
enum { Tiled = 0, Strides = 1 };
} // namespace

std::string alula::pjrt::printLayout(const Layout &layout, size_t rank) {
  std::string text = "{";
  for (size_t i = 0; i < rank; ++i) {
    auto rowMajor = static_cast<int64_t>(rank - 1 - i);
    text += i ? "," : "";
    text += std::to_string(layout.empty() ? rowMajor : layout[i]);
  }
  return text + "}";
}

Layout alula::pjrt::parseLayout(std::string_view text) {
  Layout layout;
  int64_t dim = 0;
  for (char character : text) {
    if (character >= '0' && character <= '9')
      dim = dim * 10 + (character - '0');
    else if (character != '{')
      layout.push_back(std::exchange(dim, 0));
  }
  return simplifyLayout(std::move(layout));
}

void *alula::pjrt::readLayout(const void *given, const int64_t *dims,
                              size_t rank, size_t elementBytes,
                              const Layout &otherwise,
                              std::vector<int64_t> &strides) {
  strides = getStrides(dims, rank, elementBytes, otherwise);
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
  auto *first = static_cast<const int64_t *>(tiled.minor_to_major);
  strides = getStrides(dims, rank, elementBytes, Layout(first, first + rank));
  if (strides.empty())
    return invalid("alula: the layout's order of dimensions is no permutation");
  return nullptr;
}

void *alula::pjrt::readDeviceLayout(const void *given, const int64_t *dims,
                                    size_t rank, size_t elementBytes,
                                    Layout &layout) {
  layout.clear();
  if (!given)
    return nullptr;
  std::vector<int64_t> strides;
  if (void *error = readLayout(given, dims, rank, elementBytes, {}, strides))
    return error;
  auto *said = static_cast<const PJRT_Buffer_MemoryLayout *>(given);
  if (said->type == Tiled) {
    auto *first =
        static_cast<const int64_t *>(said->_anon2.tiled.minor_to_major);
    layout = simplifyLayout(Layout(first, first + rank));
    return nullptr;
  }
  if (findLayout(dims, strides.data(), rank, elementBytes, layout))
    return nullptr;
  return makeError(
      ALULA_STATUS_UNIMPLEMENTED,
      "alula: the elements of arrays on a device lie one after the "
      "other, strides with gaps are asked for");
}
