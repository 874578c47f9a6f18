// Elements as text: "2x3xf32=1,2,3,4,5,6".

#pragma once

#include "tools/values/value.h"

namespace alula::values {

/// Fills `value` (made by createValue) from a list of numbers divided by
/// commas, blanks or brackets. One number fills every element. Integers take
/// 0x…, i1 takes true and false, floats take inf, nan and 0x… for a bit
/// pattern, complex numbers are (1,2) or 1+2j.
bool parseElements(std::string_view text, Value &value, std::string &error);

/// One element, shortest form that parses back to the same bits.
std::string printElement(alula_dtype type, const uint8_t *element);

/// "2x3xf32=[[1,2,3],[4,5,6]]"; rank 0 and 1 print without brackets.
std::string printValue(const Value &value);

} // namespace alula::values
