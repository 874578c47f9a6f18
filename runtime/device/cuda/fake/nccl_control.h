// What tests ask the fake NCCL, beside NCCL's own functions.

#pragma once

#include <cstdint>

extern "C" {
/// How often the function of this name (without nccl) was called;
/// "communicators" that live; "misuses", which are errors of who calls.
__attribute__((visibility("default"))) uint64_t fakeNcclCount(const char *what);
}
