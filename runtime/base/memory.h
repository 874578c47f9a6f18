// The allocator that everything of an instance uses, and the few containers
// that can fail without exceptions.

#pragma once

#include "alula/runtime.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace alula::runtime {

constexpr size_t memoryAlignment = 64;
/// From so many bytes on page faults cost more than the rounding to huge pages.
constexpr size_t hugeBytes = size_t(4) << 20, hugePage = size_t(2) << 20;

/// The embedder's allocator, or the C library's. Large blocks of the latter
/// ask for huge pages.
class Allocator {
public:
  Allocator() = default;
  explicit Allocator(const alula_allocator &hooks) : hooks(hooks) {}

  /// 64-byte aligned; NULL if there is no memory. 0 bytes give a valid pointer.
  void *allocate(size_t bytes) const;
  void release(void *memory, size_t bytes) const;
  bool isEmbedders() const { return hooks.allocate; }

private:
  alula_allocator hooks = {};
};

/// Makes an object on the C heap; NULL if there is no memory.
template <class T, class... Args> T *create(Args &&...args) {
  void *memory = alignof(T) > alignof(max_align_t)
                     ? aligned_alloc(alignof(T), sizeof(T))
                     : malloc(sizeof(T));
  return memory ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}
template <class T> void destroy(T *object) {
  if (object) {
    object->~T();
    free(object);
  }
}

/// A growing array of plain records on the C heap.
template <class T> class Array {
public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { free(items); }

  /// Zeros; false if there is no memory.
  [[nodiscard]] bool resize(size_t size) {
    if (size > capacity) {
      void *memory = realloc(items, size * sizeof(T));
      if (!memory)
        return false;
      items = static_cast<T *>(memory);
      capacity = size;
    }
    if (size > count)
      memset(static_cast<void *>(items + count), 0, (size - count) * sizeof(T));
    count = size;
    return true;
  }
  [[nodiscard]] bool push(const T &item) {
    if (count == capacity) {
      size_t grown = capacity ? capacity * 2 : 8;
      void *memory = realloc(items, grown * sizeof(T));
      if (!memory)
        return false;
      items = static_cast<T *>(memory);
      capacity = grown;
    }
    items[count++] = item;
    return true;
  }
  size_t size() const { return count; }
  T *data() const { return items; }
  T &operator[](size_t index) const { return items[index]; }
  T *begin() const { return items; }
  T *end() const { return items + count; }

private:
  T *items = nullptr;
  size_t count = 0, capacity = 0;
};

} // namespace alula::runtime
