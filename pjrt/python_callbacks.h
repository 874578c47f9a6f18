#pragma once

#include "pjrt/border.h"

#include <mutex>
#include <vector>

namespace alula::pjrt {

/// One array that crosses to Python.
struct PythonArray {
  void *data;
  const int64_t *dims;
  uint32_t rank;
  /// Its alula_dtype.
  uint32_t dtype;
};

/// What the Python function is called with. python/jax_plugins/alula declares
/// the same for ctypes: change both.
struct PythonCall {
  /// 0: run the function with this number. 1: a program that calls it was
  /// loaded. 2: the number is the address of a C function without arguments,
  /// to be called when the process ends and JAX gives up its clients.
  int64_t kind, id;
  uint32_t operandCount, resultCount;
  const PythonArray *operands, *results;
  /// Room for an error's sentence.
  char *message;
  uint64_t messageBytes;
  /// Numbers whose programs are gone, one for each program.
  const int64_t *unloaded;
  uint64_t unloadedCount;
};

/// What custom calls that go to Python are named.
inline constexpr const char *pythonCallName = "alula.python_callback";

/// Runs those custom calls. The program holds an id
/// and the token of the process that made it, never an address: a program from
/// a cache or another process fails in words.
struct PythonCallbacks {
  /// `address` is the one function that Python offers, 0 if there is none; it
  /// stays as long as the process.
  PythonCallbacks(int64_t address, int64_t token);
  PythonCallbacks(const PythonCallbacks &) = delete;
  PythonCallbacks &operator=(const PythonCallbacks &) = delete;

  /// Programs of the instance reach it from now on; it must outlive them.
  void *connect(alula_instance *instance);

  /// A program with these configurations of custom calls is loaded, is gone.
  /// Python hears of the latter with its next call: a destructor may run where
  /// no Python must.
  void load(const std::vector<std::string> &configs);
  void unload(const std::vector<std::string> &configs);

  /// When the process ends and JAX gives up its clients.
  void callAtExit(void (*function)());

  /// 0, or the message says what went wrong.
  int32_t call(PythonCall &call);

  int32_t (*const function)(const PythonCall *call);
  const int64_t token;

private:
  void tell(int64_t kind, int64_t id);

  std::mutex mutex;
  std::vector<int64_t> unloaded;
};

/// The number and the token of a configuration.
struct PythonTarget {
  explicit PythonTarget(const std::string &config);
  int64_t id, token;
};

} // namespace alula::pjrt
