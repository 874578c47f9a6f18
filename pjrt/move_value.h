#pragma once

#include "pjrt/objects.h"

namespace alula::pjrt {

/// Sets `to` to a copy of the data, or the error, of a value that is ready, and
/// completes `to`'s event.
void copyValue(Ref<Value> from, Value &to);
/// The same, but moves the memory if this is the only reference.
void moveValue(Ref<Value> from, Value &to);
/// Ends `to` in an error.
void failValue(Value &to, Error error);

} // namespace alula::pjrt
