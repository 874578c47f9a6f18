#include "pjrt/ffi/current_call.h"

using namespace alula::pjrt::ffi;

namespace {
thread_local const CurrentCall *current = nullptr;
} // namespace

InCall::InCall(const CurrentCall &call) : outer(current) { current = &call; }
InCall::~InCall() { current = outer; }
const CurrentCall *InCall::get() { return current; }
