#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace alula::pjrt {

/// A list of a size that is known when it is made. A short one takes no memory
/// from the heap: a small call is done before its lists would be allocated.
template <typename T> class ShortList {
public:
  ShortList() = default;
  explicit ShortList(size_t size) : count(size) {
    if (size > few)
      many.resize(size);
  }
  ShortList(const ShortList &) = default;
  ShortList &operator=(const ShortList &) = default;
  ShortList(ShortList &&other) noexcept { *this = std::move(other); }
  ShortList &operator=(ShortList &&other) noexcept {
    count = std::exchange(other.count, 0);
    std::swap(many, other.many);
    for (size_t i = 0; i < few; ++i)
      own[i] = std::exchange(other.own[i], T());
    return *this;
  }

  size_t size() const { return count; }
  T *data() { return count > few ? many.data() : own; }
  const T *data() const { return count > few ? many.data() : own; }
  T &operator[](size_t i) { return data()[i]; }
  const T &operator[](size_t i) const { return data()[i]; }
  T *begin() { return data(); }
  T *end() { return data() + count; }
  const T *begin() const { return data(); }
  const T *end() const { return data() + count; }
  void clear() { *this = ShortList(); }

private:
  static constexpr size_t few = 6;
  size_t count = 0;
  T own[few] = {};
  std::vector<T> many;
};

} // namespace alula::pjrt
