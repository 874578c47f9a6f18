"""What a C header needs to print as `Program.print` does."""

import json
import re

CODE = """#include <inttypes.h>
#include <stdio.h>

static inline void PREFIX_print_text(const PREFIX *program, const char *text) {
  if (program->print)
    program->print(program->print_user, text);
  else
    fputs(text, stdout);
}

static inline void PREFIX_print_element(const PREFIX *program,
                                        alula_dtype dtype, const void *data) {
  char text[64];
  uint64_t bits = 0;
  double number = 0;
  float single;
  size_t bytes = (size_t)alula_dtype_get_bytes(dtype);
  memcpy(&bits, data, bytes < 8 ? bytes : 8);
  switch (alula_dtype_get_kind(dtype)) {
  case ALULA_KIND_BOOL:
    snprintf(text, sizeof text, "%s", bits ? "True" : "False");
    break;
  case ALULA_KIND_INT:
    if (bytes < 8 && bits >> (bytes * 8 - 1))
      bits |= ~UINT64_C(0) << (bytes * 8);
    snprintf(text, sizeof text, "%" PRId64, (int64_t)bits);
    break;
  case ALULA_KIND_FLOAT:
    if (dtype == ALULA_DTYPE_BF16)
      bits <<= 16;
    if (dtype == ALULA_DTYPE_F64) {
      memcpy(&number, &bits, 8);
      snprintf(text, sizeof text, "%.17g", number);
      break;
    }
    if (dtype == ALULA_DTYPE_BF16 || dtype == ALULA_DTYPE_F32) {
      uint32_t low = (uint32_t)bits;
      memcpy(&single, &low, 4);
      snprintf(text, sizeof text, "%.8g", (double)single);
      break;
    }
    snprintf(text, sizeof text, "0x%" PRIx64, bits);
    break;
  default:
    snprintf(text, sizeof text, "%" PRIu64, bits);
  }
  PREFIX_print_text(program, text);
}

static inline void PREFIX_print_value(const PREFIX *program,
                                      const alula_buffer *value) {
  const char *data = (const char *)alula_buffer_get_data(value);
  alula_dtype dtype = alula_buffer_get_dtype(value);
  size_t bytes = (size_t)alula_dtype_get_bytes(dtype), i;
  size_t count = 1;
  uint32_t rank = alula_buffer_get_rank(value), dim;
  const int64_t *dims = alula_buffer_get_dims(value);
  char element[16];
  for (dim = 0; dim < rank; ++dim)
    count *= (size_t)dims[dim];
  for (i = 0; i < count; ++i) {
    size_t inner = 1;
    for (dim = rank; dim-- > 0;) {
      inner *= (size_t)dims[dim];
      if (i % inner == 0)
        PREFIX_print_text(program, "[");
    }
    if (alula_dtype_get_packing(dtype) > 1)
      alula_dtype_unpack(dtype, data, element, i, 1);
    else
      memcpy(element, data + i * bytes, bytes);
    PREFIX_print_element(program, dtype, element);
    inner = 1;
    for (dim = rank; dim-- > 0;) {
      inner *= (size_t)dims[dim];
      if ((i + 1) % inner == 0)
        PREFIX_print_text(program, "]");
    }
    if (i + 1 < count)
      PREFIX_print_text(program, " ");
  }
}
"""


def statements(prints, first):
    """Statements that print results from number `first` on."""
    if not prints:
        return ""
    lines, number = [], first
    for text, count in prints:
        pieces = [p.replace("{{", "{").replace("}}", "}") for p in _PLACE.split(text + "\n")]
        assert len(pieces) == count + 1
        for i, piece in enumerate(pieces):
            if piece:
                lines.append(f"    PREFIX_print_text(program, {json.dumps(piece)});")
            if i < count:
                lines.append(f"    PREFIX_print_value(program, results[{number}]);")
                number += 1
    return "  if (!error) {\n" + "\n".join(lines) + "\n  }\n"


# A place for a value; `{{` is a brace.
_PLACE = re.compile(r"(?<!\{)\{\}(?!\})")
