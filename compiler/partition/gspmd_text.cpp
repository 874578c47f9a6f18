// Shardings as XLA writes them, which is how clients that don't speak Shardy
// say where arrays lie: a grid of devices, whose sizes count the pieces.

#include "compiler/partition/gspmd_text.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace alula::partition;

namespace {
using Numbers = SmallVector<int64_t>;

class Reader {
public:
  explicit Reader(StringRef text) : rest(text) {}

  bool take(StringRef word) { return rest.consume_front(word); }
  bool isAtEnd() const { return rest.empty(); }

  /// Numbers with commas between them; false if there is none.
  bool takeNumbers(Numbers &numbers) {
    do {
      if (rest.consumeInteger(10, numbers.emplace_back()))
        return false;
    } while (take(","));
    return true;
  }
  bool takeList(StringRef open, Numbers &numbers, StringRef close) {
    return take(open) && takeNumbers(numbers) && take(close);
  }

private:
  StringRef rest;
};

int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    // More devices than there are in the world.
    if (size < 1 || size > (int64_t(1) << 30) / product)
      return 0;
    product *= size;
  }
  return product;
}

/// The numbers 0, 1, … as an array of `sizes` with its dimensions permuted.
std::optional<Numbers> permute(ArrayRef<int64_t> sizes,
                               ArrayRef<int64_t> permutation) {
  Numbers seen(permutation), strides(sizes.size(), 1), devices;
  llvm::sort(seen);
  for (auto [i, dim] : llvm::enumerate(seen))
    if (dim != static_cast<int64_t>(i))
      return std::nullopt;
  if (seen.size() != sizes.size())
    return std::nullopt;
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * sizes[i];
  for (int64_t at = 0, count = multiply(sizes); at < count; ++at) {
    int64_t left = at, device = 0;
    for (int64_t dim : llvm::reverse(permutation)) {
      auto d = static_cast<size_t>(dim);
      device += left % sizes[d] * strides[d];
      left /= sizes[d];
    }
    devices.push_back(device);
  }
  return devices;
}

/// "<=[4,2]T(1,0)" or "0,1,…".
std::optional<Numbers> readDevices(Reader &reader) {
  Numbers devices;
  if (!reader.take("<="))
    return reader.takeNumbers(devices) ? std::optional(devices) : std::nullopt;
  Numbers sizes, permutation;
  if (!reader.takeList("[", sizes, "]") || !multiply(sizes))
    return std::nullopt;
  if (!reader.take("T(")) {
    permutation.resize(sizes.size());
    std::iota(permutation.begin(), permutation.end(), 0);
  } else if (!reader.takeNumbers(permutation) || !reader.take(")")) {
    return std::nullopt;
  }
  return permute(sizes, permutation);
}
} // namespace

std::optional<Placement> alula::partition::readGspmdText(StringRef text,
                                                         unsigned rank,
                                                         MLIRContext *context) {
  Placement placement;
  if (text == "{replicated}")
    return placement;
  Reader reader(text);
  Numbers grid;
  if (!reader.take("{devices=") || !reader.takeList("[", grid, "]"))
    return std::nullopt;
  std::optional<Numbers> devices = readDevices(reader);
  if (!devices || multiply(grid) != static_cast<int64_t>(devices->size()))
    return std::nullopt;
  bool isCopied = reader.take(" last_tile_dim_replicate") ||
                  reader.take(" last_tile_dims={replicated}");
  if (!reader.take("}") || !reader.isAtEnd() || grid.size() != rank + isCopied)
    return std::nullopt;
  Numbers sorted(*devices);
  llvm::sort(sorted);
  for (auto [i, device] : llvm::enumerate(sorted))
    if (device != static_cast<int64_t>(i))
      return std::nullopt;

  SmallVector<sdy::MeshAxisAttr> axes;
  for (auto [i, size] : llvm::enumerate(grid))
    axes.push_back(
        sdy::MeshAxisAttr::get(context, "grid" + std::to_string(i), size));
  if (llvm::is_sorted(*devices))
    devices->clear();
  placement.mesh = sdy::MeshAttr::get(context, axes, *devices);
  for (unsigned dim = 0; dim < rank; ++dim) {
    auto &split = placement.dims.emplace_back();
    if (grid[dim] > 1)
      split.push_back(sdy::AxisRefAttr::get(context, axes[dim].getName()));
  }
  return placement;
}
