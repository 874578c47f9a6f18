#pragma once

#include "pjrt/pjrt_abi.h"

#include "alula/runtime.h"

#include <cstring>
#include <string>
#include <string_view>

// How arguments cross the C border. A caller may be older or newer than we
// are: each struct says its size, and fields beyond it are neither read nor
// written.

namespace alula::pjrt {

/// What a PJRT_Error points to.
struct Error {
  alula_status_code code;
  std::string message;
};

/// An error for the caller to own. Null stands for success everywhere.
inline void *makeError(alula_status_code code, std::string message) {
  return new Error{code, std::move(message)};
}

/// Takes a runtime's error over.
inline void *makeError(alula_error *error) {
  if (!error)
    return nullptr;
  void *result =
      makeError(alula_error_get_code(error), alula_error_get_message(error));
  alula_error_destroy(error);
  return result;
}

template <typename Args, typename Field>
bool hasField(const Args *args, Field Args::*field) {
  Args probe;
  auto end = reinterpret_cast<char *>(&(probe.*field) + 1) -
             reinterpret_cast<char *>(&probe);
  return args->struct_size >= static_cast<size_t>(end);
}

/// Writes a result if the caller's struct has room for it.
template <typename Args, typename Field, typename Value>
void put(Args *args, Field Args::*field, Value value) {
  if (!hasField(args, field))
    return;
  if constexpr (std::is_pointer_v<Field> && std::is_pointer_v<Value>)
    args->*field = const_cast<void *>(static_cast<const void *>(value));
  else
    args->*field = static_cast<Field>(value);
}

/// Reads an argument; one that the caller does not know is `otherwise`.
template <typename Args, typename Field>
Field take(const Args *args, Field Args::*field, Field otherwise = {}) {
  return hasField(args, field) ? args->*field : otherwise;
}

/// A text result: pointer and size.
template <typename Args>
void putText(Args *args, void *Args::*text, uint64_t Args::*size,
             std::string_view value) {
  put(args, text, value.data());
  put(args, size, value.size());
}

template <typename Object> Object *as(void *pointer) {
  return static_cast<Object *>(pointer);
}

} // namespace alula::pjrt
