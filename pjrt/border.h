#pragma once

#include "pjrt/pjrt_abi.h"

#include "alula/runtime.h"

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

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

inline void *invalid(std::string message) {
  return makeError(ALULA_STATUS_INVALID_ARGUMENT, std::move(message));
}

/// What a code and a text of the caller say, made safe.
inline Error readError(uint32_t code, const void *text, size_t bytes) {
  bool isKnown = code >= 1 && code <= ALULA_STATUS_UNAUTHENTICATED;
  return {isKnown ? static_cast<alula_status_code>(code) : ALULA_STATUS_UNKNOWN,
          text ? std::string(static_cast<const char *>(text), bytes) : ""};
}

template <typename Args, typename Field>
bool hasField(const Args *args, Field Args::*field) {
  // The address of a member is a constant offset: nothing is read.
  auto base = reinterpret_cast<uintptr_t>(args);
  auto end = reinterpret_cast<uintptr_t>(&(args->*field) + 1);
  return args->struct_size >= end - base;
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
Field take(const Args *args, Field Args::*field,
           std::type_identity_t<Field> otherwise = {}) {
  return hasField(args, field) ? args->*field : otherwise;
}

/// A text result: pointer and size.
template <typename Args>
void putText(Args *args, void *Args::*text, uint64_t Args::*size,
             std::string_view value) {
  put(args, text, value.data());
  put(args, size, value.size());
}

/// Bytes that the caller frees through a function of ours.
template <typename Args>
void putOwned(Args *args, void *Args::*bytes, uint64_t Args::*size,
              void *Args::*owner, void *Args::*deleter, std::string value) {
  if (!hasField(args, deleter))
    return;
  auto *held = new std::string(std::move(value));
  put(args, bytes, held->data());
  put(args, size, held->size());
  put(args, owner, held);
  auto release =
      +[](void *given) { delete static_cast<std::string *>(given); };
  put(args, deleter, reinterpret_cast<void *>(release));
}

template <typename Object> Object *as(void *pointer) {
  return static_cast<Object *>(pointer);
}

inline void *missing(const char *field) {
  return invalid(std::string("alula: the argument '") + field + "' is null");
}

/// The type of `args` in a function of the table.
#define ALULA_ARGS std::remove_pointer_t<decltype(args)>

/// Declares `field` as the object that the argument of this name points to;
/// returns an error from the function if there is none.
#define ALULA_TAKE(Type, field)                                                \
  auto *field = as<Type>(take(args, &ALULA_ARGS::field));                      \
  if (!field)                                                                  \
  return missing(#field)

} // namespace alula::pjrt
