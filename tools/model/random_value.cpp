#include "tools/model/random_value.h"

#include "tools/values/float_codes.h"

#include <cstring>

namespace alula::model {

static uint64_t nextRandom(uint64_t &state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static void fillElement(alula_dtype type, uint64_t random, uint8_t *element) {
  uint32_t bytes = alula_dtype_get_bytes(type);
  uint64_t bits = 0;
  switch (alula_dtype_get_kind(type)) {
  case ALULA_KIND_BOOL:
    bits = random & 1;
    break;
  case ALULA_KIND_INT:
    // 2 is -2 in two bits.
    bits = random & (type == ALULA_DTYPE_I2 ? 1 : 3);
    break;
  case ALULA_KIND_UINT:
    bits = random & 3;
    break;
  case ALULA_KIND_FLOAT: {
    double number = double(random >> 11) * 0x1p-52 - 1;
    bits = values::encodeFloat(type, number);
    break;
  }
  case ALULA_KIND_COMPLEX:
  case ALULA_KIND_TOKEN:
  case ALULA_KIND_INVALID:
    return;
  }
  memcpy(element, &bits, bytes);
}

void fillRandom(uint64_t seed, values::Value &value) {
  uint64_t state = seed * 2 + 88172645463325253;
  alula_dtype type = value.type;
  if (type == ALULA_DTYPE_C64)
    type = ALULA_DTYPE_F32;
  else if (type == ALULA_DTYPE_C128)
    type = ALULA_DTYPE_F64;
  uint32_t bytes = alula_dtype_get_bytes(type);
  for (size_t at = 0; bytes && at + bytes <= value.size; at += bytes)
    fillElement(type, nextRandom(state), value.data.get() + at);
}

} // namespace alula::model
