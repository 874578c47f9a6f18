#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace alula::pjrt {

/// An intrusive reference count. Starts at 1, for the creator.
class Counted {
public:
  Counted() = default;
  Counted(const Counted &) = delete;
  Counted &operator=(const Counted &) = delete;

  void retain() const { users.fetch_add(1, std::memory_order_relaxed); }
  /// True if that was the last reference: the caller destroys the object.
  bool release() const {
    return users.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// No other reference is left; others' accesses happened before (acquire).
  bool isUnique() const { return users.load(std::memory_order_acquire) == 1; }

private:
  mutable std::atomic<uint32_t> users{1};
};

/// A reference to a Counted object. Not std::shared_ptr: an update in place has
/// to know, with acquire order, that its reference is the only one, and objects
/// cross the C API as plain pointers.
template <typename T> class Ref {
public:
  Ref() = default;
  /// Adopts one reference.
  explicit Ref(T *object) : object(object) {}
  Ref(const Ref &other) : object(other.object) {
    if (object)
      object->retain();
  }
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { reset(); }

  void reset() {
    T *old = std::exchange(object, nullptr);
    if (old && old->release())
      delete old;
  }
  /// Releases the reference to the caller.
  T *leak() { return std::exchange(object, nullptr); }
  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }

private:
  T *object = nullptr;
};

template <typename T, typename... Args> Ref<T> make(Args &&...args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

/// One more reference to a referenced object.
template <typename T> Ref<T> share(T *object) {
  object->retain();
  return Ref<T>(object);
}

} // namespace alula::pjrt
