/* The C++ twin of runtime.h: owning handles, C++17, header only, no exceptions.
 *
 *   alula::Error error;
 *   auto instance = alula::Instance::create(nullptr, error);
 *   auto model = alula::Executable::loadFile(instance, "model.alula", error);
 *   …
 *   if (error) fprintf(stderr, "%s\n", error.message());
 *
 * A function that finds `error` already set does nothing, so one check at the
 * end of a chain is enough. Handles that a failed function returns are empty;
 * functions without an `error` want handles that are not.
 *
 * Structs of runtime.h that are passed on are made by alula::makeStruct:
 *
 *   auto options = alula::makeStruct<alula_call_options>();
 *   options.state = state.get(); */
#pragma once

#include "alula/runtime.h"

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace alula {

/* A struct of runtime.h with its size set and all else zero. */
template <class T> T makeStruct() {
  T made = {};
  made.struct_bytes = sizeof made;
  return made;
}

inline uint32_t runtimeVersion() { return alula_runtime_version(); }

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
  /* For custom calls that fail: `message` is copied. */
  void set(alula_status_code code, const char *message) {
    handle.reset(alula_error_create(code, message));
  }
  /* Gives it to whoever destroys it; NULL if there is none. */
  alula_error *release() { return handle.release(); }

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

/* ---- Custom calls ---- */

/* An operand or a result of a custom call. */
class CustomCallBuffer {
public:
  explicit CustomCallBuffer(const alula_custom_call_buffer &given)
      : buffer(given) {}
  template <class T = void> T *data() const {
    return static_cast<T *>(buffer.data);
  }
  size_t bytes() const { return size_t(buffer.bytes); }
  alula_dtype dtype() const { return buffer.dtype; }
  uint32_t rank() const { return buffer.rank; }
  int64_t dim(uint32_t index) const { return buffer.dims[index]; }

private:
  const alula_custom_call_buffer &buffer;
};

/* What a custom call is given; lives until it returns. */
class CustomCall {
public:
  explicit CustomCall(const alula_custom_call_args &given) : args(given) {}
  const char *name() const { return args.name; }
  uint32_t apiVersion() const { return args.api_version; }
  uint32_t operandCount() const { return args.operand_count; }
  uint32_t resultCount() const { return args.result_count; }
  CustomCallBuffer operand(uint32_t index) const {
    return CustomCallBuffer(args.operands[index]);
  }
  CustomCallBuffer result(uint32_t index) const {
    return CustomCallBuffer(args.results[index]);
  }
  std::string_view config() const {
    return {static_cast<const char *>(args.config), args.config_bytes};
  }
  /* A JSON object, or nothing. */
  std::string_view attributes() const {
    return {args.attributes, args.attribute_bytes};
  }
  bool isCancelled() const { return args.cancel && *args.cancel; }

private:
  const alula_custom_call_args &args;
};

/* ---- Instances ---- */

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

  explicit operator bool() const { return handle != nullptr; }
  alula_instance *get() const { return handle.get(); }
  uint32_t threadCount() const {
    return alula_instance_get_thread_count(handle.get());
  }
  const char *device() const { return alula_instance_get_device(handle.get()); }
  const char *chip() const { return alula_instance_get_chip(handle.get()); }
  bool sharesMemory() const {
    return alula_instance_shares_memory(handle.get()) != 0;
  }
  /* None if the instance keeps no released memory. */
  std::optional<alula_memory_statistics> memoryStatistics() const {
    auto read = makeStruct<alula_memory_statistics>();
    if (!alula_instance_get_memory_statistics(handle.get(), &read))
      return std::nullopt;
    return read;
  }
  void trimMemory() const { alula_instance_trim_memory(handle.get()); }

  /* Programs that call `name` call `function`, which lives as long as the
   * instance and what was made from it:
   *
   *   auto scale = [](const alula::CustomCall &call, alula::Error &error) {…};
   *   instance.registerCustomCall("scale", &scale, error); */
  template <class F>
  void registerCustomCall(const char *name, F *function, Error &error) const {
    alula_custom_call call = [](void *user,
                                const alula_custom_call_args *args) {
      Error failed;
      (*static_cast<F *>(user))(CustomCall(*args), failed);
      return failed.release();
    };
    if (!error)
      error.take(alula_instance_register_custom_call(handle.get(), name, call,
                                                     function));
  }
  void registerCustomCall(const char *name, alula_custom_call function,
                          void *user, Error &error) const {
    if (!error)
      error.take(alula_instance_register_custom_call(handle.get(), name,
                                                     function, user));
  }
  /* A plugin of alula/import.h. */
  void addImports(const alula_import_plugin *(*query)(uint16_t, uint16_t),
                  const alula_import_setting *settings, size_t count,
                  Error &error) const {
    if (!error)
      error.take(
          alula_instance_add_imports(handle.get(), query, settings, count));
  }

private:
  detail::Handle<alula_instance, alula_instance_destroy> handle;
};

/* ---- Events: an asynchronous call or copy ---- */

class Event {
public:
  Event() = default;
  explicit Event(alula_event *event) : handle(event) {}
  explicit operator bool() const { return handle != nullptr; }
  alula_event *get() const { return handle.get(); }
  bool isDone() const { return alula_event_is_done(handle.get()) != 0; }
  /* Gives the error of the call or copy the first time. */
  void wait(Error &error) const {
    if (!error)
      error.take(alula_event_wait(handle.get()));
  }
  /* Calls `done()` once, from the thread that ran the call, or from this one if
   * it has ended; one for each event. */
  template <class F> void onDone(F done) const {
    alula_event_on_done(
        handle.get(),
        [](void *user) {
          std::unique_ptr<F> function(static_cast<F *>(user));
          (*function)();
        },
        std::make_unique<F>(std::move(done)).release());
  }

private:
  /* The call goes on if it has not ended. */
  detail::Handle<alula_event, alula_event_destroy> handle;
};

/* ---- Buffers ---- */

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
  /* In memory of the host that kernels of the device reach too. */
  static Buffer createOnHost(const Instance &instance, alula_dtype dtype,
                             const std::vector<int64_t> &dims, Error &error) {
    alula_buffer *made = nullptr;
    if (!error)
      error.take(alula_buffer_create_on_host(
          instance.get(), dtype, uint32_t(dims.size()), dims.data(), &made));
    return Buffer(made);
  }
  /* The caller's memory, which must outlive the buffer: `release`, if there is
   * one, is called when the last user is gone. */
  static Buffer wrap(const Instance &instance, alula_dtype dtype,
                     const std::vector<int64_t> &dims, void *data, size_t bytes,
                     Error &error,
                     void (*release)(void *user, void *data) = nullptr,
                     void *user = nullptr) {
    alula_buffer *made = nullptr;
    if (!error)
      error.take(alula_buffer_wrap(instance.get(), dtype, uint32_t(dims.size()),
                                   dims.data(), data, bytes, release, user,
                                   &made));
    return Buffer(made);
  }

  explicit operator bool() const { return handle != nullptr; }
  alula_buffer *get() const { return handle; }
  /* NULL if the host can't reach the memory, or after donation. */
  template <class T = void> T *data() const {
    return static_cast<T *>(alula_buffer_get_data(handle));
  }
  uint64_t address() const { return alula_buffer_get_address(handle); }
  size_t bytes() const { return alula_buffer_get_bytes(handle); }
  alula_dtype dtype() const { return alula_buffer_get_dtype(handle); }
  uint32_t rank() const { return alula_buffer_get_rank(handle); }
  std::vector<int64_t> dims() const {
    const int64_t *first = alula_buffer_get_dims(handle);
    return std::vector<int64_t>(first, first + alula_buffer_get_rank(handle));
  }

  /* Copies all of it to or from the host's memory, wherever it lies. */
  void read(void *to, Error &error) const {
    if (!error)
      error.take(alula_buffer_read(handle, 0, to, bytes(), nullptr));
  }
  void write(const void *from, Error &error) const {
    if (!error)
      error.take(alula_buffer_write(handle, 0, from, bytes(), nullptr));
  }
  /* Ranges of bytes; `event`, if not NULL, is set and the copy runs later. */
  void readRange(size_t offset, void *to, size_t size, Error &error,
                 Event *event = nullptr) const {
    copyRange(error, event, [&](alula_event **made) {
      return alula_buffer_read(handle, offset, to, size, made);
    });
  }
  void writeRange(size_t offset, const void *from, size_t size, Error &error,
                  Event *event = nullptr) const {
    copyRange(error, event, [&](alula_event **made) {
      return alula_buffer_write(handle, offset, from, size, made);
    });
  }
  void copyFrom(const Buffer &from, size_t fromOffset, size_t offset,
                size_t size, Error &error, Event *event = nullptr) const {
    copyRange(error, event, [&](alula_event **made) {
      return alula_buffer_copy(handle, offset, from.handle, fromOffset, size,
                               made);
    });
  }

private:
  template <class F> static void copyRange(Error &error, Event *event, F copy) {
    alula_event *made = nullptr;
    if (!error && error.take(copy(event ? &made : nullptr)) && event)
      *event = Event(made);
  }

  alula_buffer *handle = nullptr;
};

static_assert(sizeof(Buffer) == sizeof(alula_buffer *) &&
                  std::is_standard_layout_v<Buffer>,
              "arrays of buffers are arrays of handles");

/* ---- Collectives ---- */

/* Processes that run programs together. */
class Processes {
public:
  static Processes connect(const alula_processes_options &options,
                           Error &error) {
    alula_processes *made = nullptr;
    if (!error)
      error.take(alula_processes_connect(&options, &made));
    Processes processes;
    processes.handle.reset(made);
    return processes;
  }
  explicit operator bool() const { return handle != nullptr; }
  /* For alula_collectives_options; lives longer than collectives with it. */
  alula_processes *get() const { return handle.get(); }
  uint32_t number() const { return alula_processes_get_number(handle.get()); }
  uint32_t count() const { return alula_processes_get_count(handle.get()); }

private:
  detail::Handle<alula_processes, alula_processes_disconnect> handle;
};

class Collectives {
public:
  /* `options`, which may be NULL, without the count of participants. */
  static Collectives
  create(uint32_t participantCount, Error &error,
         const alula_collectives_options *options = nullptr) {
    auto given = options ? *options : makeStruct<alula_collectives_options>();
    given.participant_count = participantCount;
    alula_collectives *made = nullptr;
    if (!error)
      error.take(alula_collectives_create(&given, &made));
    Collectives collectives;
    collectives.handle.reset(made);
    return collectives;
  }
  explicit operator bool() const { return handle != nullptr; }
  alula_collectives *get() const { return handle.get(); }
  void abort(const char *reason) const {
    alula_collectives_abort(handle.get(), reason);
  }

private:
  detail::Handle<alula_collectives, alula_collectives_destroy> handle;
};

/* ---- Executables ---- */

class Executable;

/* Values of an executable's globals: a set of its own, or, from
 * Executable::ownState, the executable's. Must not outlive the executable. */
class State {
public:
  static State create(const Executable &executable, Error &error);

  explicit operator bool() const { return executable != nullptr; }
  /* NULL means the executable's own. */
  alula_state *get() const { return handle.get(); }
  void read(uint32_t global, void *data, size_t bytes, Error &error) const {
    if (!error)
      error.take(alula_global_get(executable, get(), global, data, bytes));
  }
  void write(uint32_t global, const void *data, size_t bytes,
             Error &error) const {
    if (!error)
      error.take(alula_global_set(executable, get(), global, data, bytes));
  }

private:
  friend class Executable;
  alula_executable *executable = nullptr;
  detail::Handle<alula_state, alula_state_destroy> handle;
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

  /* The same program for another instance of the same driver. */
  Executable share(const Instance &instance, Error &error) const {
    alula_executable *made = nullptr;
    if (!error)
      error.take(alula_executable_share(handle.get(), instance.get(), &made));
    return Executable(made);
  }

  explicit operator bool() const { return handle != nullptr; }
  alula_executable *get() const { return handle.get(); }

  /* What it is. Strings and dims live as long as the executable; nothing for a
   * number that there isn't. */
  uint64_t hash() const { return alula_executable_get_hash(handle.get()); }
  const char *variant() const {
    return alula_executable_get_variant(handle.get());
  }
  uint32_t participantCount() const {
    return alula_executable_get_participant_count(handle.get());
  }
  /* Key and value. */
  std::optional<std::pair<const char *, const char *>>
  fact(uint32_t index) const {
    const char *key = nullptr, *value = nullptr;
    if (!alula_executable_get_fact(handle.get(), index, &key, &value))
      return std::nullopt;
    return std::make_pair(key, value);
  }
  std::optional<alula_import_info> importedFunction(uint32_t index) const {
    return ask<alula_import_info>(alula_executable_get_import, index);
  }
  std::optional<alula_custom_call_info> customCall(uint32_t index) const {
    return ask<alula_custom_call_info>(alula_executable_get_custom_call, index);
  }

  /* Functions. */
  uint32_t functionCount() const {
    return alula_executable_get_function_count(handle.get());
  }
  uint32_t find(const char *function, Error &error) const {
    uint32_t number = 0;
    if (!error)
      error.take(
          alula_executable_find_function(handle.get(), function, &number));
    return number;
  }
  const char *functionName(uint32_t function) const {
    return alula_executable_get_function_name(handle.get(), function);
  }
  uint32_t argumentCount(uint32_t function) const {
    return alula_executable_get_argument_count(handle.get(), function);
  }
  uint32_t resultCount(uint32_t function) const {
    return alula_executable_get_result_count(handle.get(), function);
  }
  std::optional<alula_memory_info> memory(uint32_t function) const {
    return ask<alula_memory_info>(alula_executable_get_memory, function);
  }
  std::optional<alula_value_info> argument(uint32_t function,
                                           uint32_t index) const {
    return ask<alula_value_info>(alula_executable_get_argument, function,
                                 index);
  }
  std::optional<alula_value_info> result(uint32_t function,
                                         uint32_t index) const {
    return ask<alula_value_info>(alula_executable_get_result, function, index);
  }
  std::optional<alula_dim_info> argumentDim(uint32_t function, uint32_t index,
                                            uint32_t dim) const {
    return ask<alula_dim_info>(alula_executable_get_argument_dim, function,
                               index, dim);
  }
  std::optional<alula_dim_info> resultDim(uint32_t function, uint32_t index,
                                          uint32_t dim) const {
    return ask<alula_dim_info>(alula_executable_get_result_dim, function, index,
                               dim);
  }

  /* Globals: what there is. State has their values. */
  uint32_t globalCount() const {
    return alula_executable_get_global_count(handle.get());
  }
  std::optional<alula_value_info> global(uint32_t index) const {
    return ask<alula_value_info>(alula_executable_get_global, index);
  }
  uint32_t findGlobal(const char *name, Error &error) const {
    uint32_t number = 0;
    if (!error)
      error.take(alula_executable_find_global(handle.get(), name, &number));
    return number;
  }
  State ownState() const {
    State state;
    state.executable = handle.get();
    return state;
  }

  /* Allocates the results. */
  std::vector<Buffer> call(uint32_t function,
                           const std::vector<Buffer> &arguments, Error &error,
                           const alula_call_options *options = nullptr) const {
    std::vector<Buffer> results;
    if (!error)
      results.resize(resultCount(function));
    callInto(function, arguments, results, error, options);
    if (error)
      results.clear();
    return results;
  }
  /* Writes results in place; an empty buffer becomes a new one. A call that has
   * all of them allocates nothing once it is warm. */
  void callInto(uint32_t function, const std::vector<Buffer> &arguments,
                std::vector<Buffer> &results, Error &error,
                const alula_call_options *options = nullptr) const {
    if (!error)
      error.take(alula_call(handle.get(), function, options, handles(arguments),
                            arguments.size(), handles(results),
                            results.size()));
  }
  /* The same on a thread of the instance, in the order of these calls.
   * `results` must stay where it is until the event is done. */
  Event callAsync(uint32_t function, const std::vector<Buffer> &arguments,
                  std::vector<Buffer> &results, Error &error,
                  const alula_call_options *options = nullptr) const {
    alula_event *event = nullptr;
    if (!error)
      error.take(alula_call_async(handle.get(), function, options,
                                  handles(arguments), arguments.size(),
                                  handles(results), results.size(), &event));
    return Event(event);
  }

private:
  explicit Executable(alula_executable *made) : handle(made) {}

  template <class Info, class Get, class... Numbers>
  std::optional<Info> ask(Get tell, Numbers... numbers) const {
    Info info = makeStruct<Info>();
    if (!tell(handle.get(), numbers..., &info))
      return std::nullopt;
    return info;
  }
  static alula_buffer *const *handles(const std::vector<Buffer> &buffers) {
    return reinterpret_cast<alula_buffer *const *>(buffers.data());
  }
  static alula_buffer **handles(std::vector<Buffer> &buffers) {
    return reinterpret_cast<alula_buffer **>(buffers.data());
  }

  detail::Handle<alula_executable, alula_executable_destroy> handle;
};

inline State State::create(const Executable &executable, Error &error) {
  State state;
  alula_state *made = nullptr;
  if (!error && error.take(alula_state_create(executable.get(), &made))) {
    state.handle.reset(made);
    state.executable = executable.get();
  }
  return state;
}

/* Calls `(*function)(event)` for each command of calls with these options.
 * `function` lives as long as they. */
template <class F> void trace(alula_call_options &options, F *function) {
  options.trace_user = function;
  options.trace = [](void *user, const alula_trace_event *event) {
    (*static_cast<F *>(user))(*event);
  };
}

} // namespace alula
