#pragma once

#include "pjrt/objects.h"

namespace alula::pjrt {

/// Gives `to` a copy of the data, or the error, of a value that is ready, and
/// finishes `to`'s event.
void copyValue(Ref<Value> from, Value &to);
/// The same, but takes the memory itself if nobody else uses it.
void moveValue(Ref<Value> from, Value &to);
/// Ends `to` in an error.
void failValue(Value &to, Error error);

} // namespace alula::pjrt
