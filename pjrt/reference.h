#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace alula::pjrt {

/// The count of an object's users. Starts with the one who makes it.
class Counted {
public:
  Counted() = default;
  Counted(const Counted &) = delete;
  Counted &operator=(const Counted &) = delete;

  void retain() const { users.fetch_add(1, std::memory_order_relaxed); }
  /// True if that was the last use: the caller then destroys the object.
  bool release() const {
    return users.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Nobody else uses the object; what others did with it has happened.
  bool isUnique() const { return users.load(std::memory_order_acquire) == 1; }

private:
  mutable std::atomic<uint32_t> users{1};
};

/// One use of a Counted object. Not std::shared_ptr: whether a use is the last
/// one must be known with the order of memory that writing in place asks for,
/// and objects cross the C border as plain pointers.
template <typename T> class Ref {
public:
  Ref() = default;
  /// Takes over one use.
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
  /// Gives the use away.
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

/// One more use of an object that is in use.
template <typename T> Ref<T> share(T *object) {
  object->retain();
  return Ref<T>(object);
}

} // namespace alula::pjrt
