#pragma once

#include "pjrt/border.h"

namespace alula::pjrt {

/// A function behind the checks that all of them need.
template <typename Args, void *(*function)(Args *)> void *guarded(Args *args) {
  if (!args)
    return invalid("alula: the arguments are null");
  if (args->struct_size < sizeof args->struct_size)
    return invalid("alula: the arguments' struct has " +
                   std::to_string(args->struct_size) + " bytes");
  return function(args);
}

template <typename Args> Args *getArgs(void *(*)(Args *));

/// The same as the pointer that a table holds.
template <auto function> void *guardedSlot() {
  using Args = std::remove_pointer_t<decltype(getArgs(function))>;
  return reinterpret_cast<void *>(&guarded<Args, function>);
}

} // namespace alula::pjrt
