/* The C++ twin of runtime.h: owning handles, C++17, header only, no exceptions.
 *
 *   alula::Error error;
 *   auto instance = alula::Instance::create(nullptr, error);
 *   auto model = alula::Executable::loadFile(instance, "model.alula", error);
 *   …
 *   if (error) fprintf(stderr, "%s\n", error.message());
 *
 * A function that finds `error` already set does nothing, so one check at the
 * end of a chain is enough. */
#pragma once

#include "alula/runtime.h"

#include <memory>
#include <utility>
#include <vector>

namespace alula {

/* Holds at most one error. */
class Error {
public:
  explicit operator bool() const { return handle != nullptr; }
  alula_status_code code() const {
    return handle ? alula_error_get_code(handle.get()) : ALULA_STATUS_OK;
  }
  const char *message() const {
    return handle ? alula_error_get_message(handle.get()) : "";
  }
  void clear() { handle.reset(); }
  /* Takes what a C function returned; true if that was no error. */
  bool take(alula_error *error) {
    handle.reset(error);
    return !error;
  }

private:
  struct Destroy {
    void operator()(alula_error *error) const { alula_error_destroy(error); }
  };
  std::unique_ptr<alula_error, Destroy> handle;
};

namespace detail {
template <class T, void (*destroy)(T *)> struct Destroy {
  void operator()(T *object) const { destroy(object); }
};
template <class T, void (*destroy)(T *)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;
} // namespace detail

class Instance {
public:
  static Instance create(const alula_instance_options *options, Error &error) {
    alula_instance *made = nullptr;
    if (!error)
      error.take(alula_instance_create(options, &made));
    Instance instance;
    instance.handle.reset(made);
    return instance;
  }
  alula_instance *get() const { return handle.get(); }

private:
  detail::Handle<alula_instance, alula_instance_destroy> handle;
};

/* Shares its memory with its copies. */
class Buffer {
public:
  Buffer() = default;
  /* Takes over one use of the handle. */
  explicit Buffer(alula_buffer *buffer) : handle(buffer) {}
  Buffer(const Buffer &other) : handle(other.handle) {
    if (handle)
      alula_buffer_retain(handle);
  }
  Buffer(Buffer &&other) noexcept
      : handle(std::exchange(other.handle, nullptr)) {}
  Buffer &operator=(Buffer other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Buffer() {
    if (handle)
      alula_buffer_release(handle);
  }

  static Buffer create(const Instance &instance, alula_dtype dtype,
                       const std::vector<int64_t> &dims, Error &error) {
    alula_buffer *made = nullptr;
    if (!error)
      error.take(alula_buffer_create(
          instance.get(), dtype, uint32_t(dims.size()), dims.data(), &made));
    return Buffer(made);
  }
  /* The caller's memory, which must outlive the buffer. */
  static Buffer wrap(const Instance &instance, alula_dtype dtype,
                     const std::vector<int64_t> &dims, void *data, size_t bytes,
                     Error &error) {
    alula_buffer *made = nullptr;
    if (!error)
      error.take(alula_buffer_wrap(instance.get(), dtype, uint32_t(dims.size()),
                                   dims.data(), data, bytes, nullptr, nullptr,
                                   &made));
    return Buffer(made);
  }

  explicit operator bool() const { return handle != nullptr; }
  alula_buffer *get() const { return handle; }
  template <class T = void> T *data() const {
    return static_cast<T *>(alula_buffer_get_data(handle));
  }
  size_t bytes() const { return alula_buffer_get_bytes(handle); }
  /* Copies all of it to or from the host's memory, wherever it lies. */
  void read(void *to, Error &error) const {
    if (!error)
      error.take(alula_buffer_read(handle, 0, to, bytes(), nullptr));
  }
  void write(const void *from, Error &error) const {
    if (!error)
      error.take(alula_buffer_write(handle, 0, from, bytes(), nullptr));
  }
  alula_dtype dtype() const { return alula_buffer_get_dtype(handle); }
  std::vector<int64_t> dims() const {
    const int64_t *first = alula_buffer_get_dims(handle);
    return std::vector<int64_t>(first, first + alula_buffer_get_rank(handle));
  }

private:
  alula_buffer *handle = nullptr;
};

class Executable {
public:
  static Executable loadFile(const Instance &instance, const char *path,
                             Error &error,
                             const alula_load_options *options = nullptr) {
    alula_executable *made = nullptr;
    if (!error)
      error.take(
          alula_executable_load_file(instance.get(), path, options, &made));
    return Executable(made);
  }
  static Executable loadMemory(const Instance &instance, const void *bytes,
                               size_t size, Error &error,
                               const alula_load_options *options = nullptr) {
    alula_executable *made = nullptr;
    if (!error)
      error.take(alula_executable_load_memory(instance.get(), bytes, size,
                                              options, &made));
    return Executable(made);
  }

  explicit operator bool() const { return handle != nullptr; }
  alula_executable *get() const { return handle.get(); }

  uint32_t find(const char *function, Error &error) const {
    uint32_t number = 0;
    if (!error)
      error.take(
          alula_executable_find_function(handle.get(), function, &number));
    return number;
  }

  /* Allocates the results. */
  std::vector<Buffer> call(uint32_t function,
                           const std::vector<Buffer> &arguments, Error &error,
                           const alula_call_options *options = nullptr) const {
    std::vector<Buffer> results;
    if (error)
      return results;
    std::vector<alula_buffer *> in;
    for (const Buffer &argument : arguments)
      in.push_back(argument.get());
    std::vector<alula_buffer *> out(
        alula_executable_get_result_count(handle.get(), function), nullptr);
    if (error.take(alula_call(handle.get(), function, options, in.data(),
                              in.size(), out.data(), out.size())))
      for (alula_buffer *result : out)
        results.emplace_back(result);
    return results;
  }

private:
  explicit Executable(alula_executable *made) : handle(made) {}
  detail::Handle<alula_executable, alula_executable_destroy> handle;
};

} // namespace alula
