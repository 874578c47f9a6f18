// What the commands that compute with integers do.

#pragma once

#include "alula/artifact.h"

#include <cstdint>

namespace alula::runtime {

/// False if there is no result: division by zero, overflow, a wrong shift.
inline bool computeInteger(uint32_t op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case ALULA_OPERATOR_MOVE:
    result = a;
    return true;
  case ALULA_OPERATOR_ADD:
    return !__builtin_add_overflow(a, b, &result);
  case ALULA_OPERATOR_SUB:
    return !__builtin_sub_overflow(a, b, &result);
  case ALULA_OPERATOR_MUL:
    return !__builtin_mul_overflow(a, b, &result);
  case ALULA_OPERATOR_DIV:
  case ALULA_OPERATOR_CEIL_DIV:
  case ALULA_OPERATOR_REM: {
    if (b == 0 || (a == INT64_MIN && b == -1))
      return false;
    int64_t quotient = a / b, rest = a % b;
    bool isInexact = rest != 0, isNegative = (rest < 0) != (b < 0);
    if (op == ALULA_OPERATOR_DIV)
      result = quotient - (isInexact && isNegative);
    else if (op == ALULA_OPERATOR_CEIL_DIV)
      result = quotient + (isInexact && !isNegative);
    else
      result = isInexact && isNegative ? rest + b : rest;
    return true;
  }
  case ALULA_OPERATOR_MIN:
    result = a < b ? a : b;
    return true;
  case ALULA_OPERATOR_MAX:
    result = a > b ? a : b;
    return true;
  case ALULA_OPERATOR_AND:
    result = a & b;
    return true;
  case ALULA_OPERATOR_OR:
    result = a | b;
    return true;
  case ALULA_OPERATOR_XOR:
    result = a ^ b;
    return true;
  case ALULA_OPERATOR_SHL:
    result = int64_t(uint64_t(a) << (b & 63));
    return b >= 0 && b < 64 && result >> b == a;
  case ALULA_OPERATOR_SHR:
    result = a >> (b & 63);
    return b >= 0 && b < 64;
  case ALULA_OPERATOR_EQ:
    result = a == b;
    return true;
  case ALULA_OPERATOR_NE:
    result = a != b;
    return true;
  case ALULA_OPERATOR_LT:
    result = a < b;
    return true;
  case ALULA_OPERATOR_LE:
    result = a <= b;
    return true;
  case ALULA_OPERATOR_GT:
    result = a > b;
    return true;
  case ALULA_OPERATOR_GE:
    result = a >= b;
    return true;
  }
  return false;
}

} // namespace alula::runtime
