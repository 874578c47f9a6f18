#pragma once

#include "pjrt/border.h"

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
  int64_t id;
  uint32_t operandCount, resultCount;
  const PythonArray *operands, *results;
  /// Room for an error's sentence.
  char *message;
  uint64_t messageBytes;
};

/// Runs custom calls named `alula.python_callback`. The program holds an id
/// and the token of the process that made it, never an address: a program from
/// a cache or another process fails in words.
struct PythonCallbacks {
  /// `address` is the one function that Python offers, 0 if there is none; it
  /// stays as long as the process.
  void *connect(alula_instance *instance, int64_t address, int64_t token);

  /// 0, or that the message says what went wrong.
  int32_t (*function)(const PythonCall *call) = nullptr;
  int64_t token = 0;
};

} // namespace alula::pjrt
