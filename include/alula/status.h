/* Status codes: the sixteen that absl, gRPC and PJRT use, with their numbers. */
#pragma once

/* Any number can come in where an enum is expected, so in C++ the enums have a
 * fixed type: no value of it is undefined behaviour. */
#ifndef ALULA_ENUM_TYPE
#ifdef __cplusplus
#define ALULA_ENUM_TYPE : unsigned
#else
#define ALULA_ENUM_TYPE
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, code, "name") */
#define ALULA_FOR_EACH_STATUS(X)                                               \
  X(CANCELLED, 1, "cancelled")                                                 \
  X(UNKNOWN, 2, "unknown")                                                     \
  X(INVALID_ARGUMENT, 3, "invalid argument")                                   \
  X(DEADLINE_EXCEEDED, 4, "deadline exceeded")                                 \
  X(NOT_FOUND, 5, "not found")                                                 \
  X(ALREADY_EXISTS, 6, "already exists")                                       \
  X(PERMISSION_DENIED, 7, "permission denied")                                 \
  X(RESOURCE_EXHAUSTED, 8, "resource exhausted")                               \
  X(FAILED_PRECONDITION, 9, "failed precondition")                             \
  X(ABORTED, 10, "aborted")                                                    \
  X(OUT_OF_RANGE, 11, "out of range")                                          \
  X(UNIMPLEMENTED, 12, "unimplemented")                                        \
  X(INTERNAL, 13, "internal")                                                  \
  X(UNAVAILABLE, 14, "unavailable")                                            \
  X(DATA_LOSS, 15, "data loss")                                                \
  X(UNAUTHENTICATED, 16, "unauthenticated")

typedef enum alula_status_code ALULA_ENUM_TYPE {
  ALULA_STATUS_OK = 0,
#define X(NAME, code, name) ALULA_STATUS_##NAME = code,
  ALULA_FOR_EACH_STATUS(X)
#undef X
} alula_status_code;

/* "invalid argument" and so on; "ok" for 0, "unknown" for anything else. */
static inline const char *alula_status_code_name(int code) {
  switch (code) {
  case 0:
    return "ok";
#define X(NAME, value, name)                                                   \
  case value:                                                                  \
    return name;
    ALULA_FOR_EACH_STATUS(X)
#undef X
  default:
    return "unknown";
  }
}

#ifdef __cplusplus
} /* extern "C" */
#endif
