/* Checks blobs and calls what is in them. See alula/min.h. */

#include "alula/min.h"

static uint32_t read_word(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
         (uint32_t)at[3] << 24;
}

static uint32_t read_header(const unsigned char *blob, unsigned word) {
  return read_word(blob + 4 * word);
}

/* CRC-32 as of Ethernet, four bits at a time. */
static uint32_t add_byte(uint32_t sum, uint32_t byte) {
  static const uint32_t table[16] = {
      0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu,
      0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
      0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
      0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
  sum ^= byte;
  sum = sum >> 4 ^ table[sum & 15u];
  return sum >> 4 ^ table[sum & 15u];
}

static uint32_t get_checksum(const unsigned char *blob, uint32_t bytes) {
  uint32_t sum = 0xffffffffu, i;
  for (i = 0; i < bytes; ++i)
    sum = add_byte(sum, i / 4 == ALULA_MIN_AT_CHECKSUM ? 0u : blob[i]);
  return ~sum;
}

/* Whether `count` pieces of so many bytes lie inside, on a word. */
static int is_inside(const alula_min *program, uint32_t at, uint32_t count,
                     uint32_t bytes) {
  return at % 4 == 0 && at <= program->bytes &&
         count <= (program->bytes - at) / bytes;
}

static int is_name(const alula_min *program, uint32_t at) {
  while (at < program->bytes)
    if (!program->blob[at++])
      return 1;
  return 0;
}

static int is_code(const alula_min *program, uint32_t at) {
  uint32_t code = read_header(program->blob, ALULA_MIN_AT_CODE);
  return at >= code &&
         at - code < read_header(program->blob, ALULA_MIN_AT_CODE_BYTES);
}

static int are_ports(const alula_min *program, uint32_t at, uint32_t count) {
  if (!is_inside(program, at, count, 4 * ALULA_MIN_PORT_WORDS))
    return 0;
  for (; count > 0; --count, at += 4 * ALULA_MIN_PORT_WORDS) {
    const unsigned char *port = program->blob + at;
    if (!is_name(program, read_word(port + 4 * ALULA_MIN_PORT_NAME)) ||
        !is_inside(program, read_word(port + 4 * ALULA_MIN_PORT_SHAPE),
                   read_word(port + 4 * ALULA_MIN_PORT_RANK), 4))
      return 0;
  }
  return 1;
}

static int is_function(const alula_min *program, const unsigned char *words) {
  uint32_t inputs = read_word(words + 4 * ALULA_MIN_FUNCTION_INPUTS);
  uint32_t outputs = read_word(words + 4 * ALULA_MIN_FUNCTION_OUTPUTS);
  return is_name(program, read_word(words + 4 * ALULA_MIN_FUNCTION_NAME)) &&
         is_code(program, read_word(words + 4 * ALULA_MIN_FUNCTION_ENTRY)) &&
         inputs <= program->bytes && outputs <= program->bytes &&
         are_ports(program, read_word(words + 4 * ALULA_MIN_FUNCTION_PORTS),
                   inputs + outputs);
}

static int has_bounds(const alula_min *program) {
  const unsigned char *blob = program->blob;
  uint32_t code = read_header(blob, ALULA_MIN_AT_CODE), i;
  uint32_t reset = read_header(blob, ALULA_MIN_AT_RESET);
  uint32_t functions = read_header(blob, ALULA_MIN_AT_FUNCTIONS);
  if (code > program->bytes ||
      read_header(blob, ALULA_MIN_AT_CODE_BYTES) > program->bytes - code ||
      (reset && !is_code(program, reset)) ||
      !is_inside(program, functions, program->function_count,
                 4 * ALULA_MIN_FUNCTION_WORDS))
    return 0;
  for (i = 0; i < program->function_count; ++i)
    if (!is_function(program,
                     blob + functions + 4 * ALULA_MIN_FUNCTION_WORDS * i))
      return 0;
  return 1;
}

int32_t alula_min_open(alula_min *program, const void *given, size_t bytes,
                       uint32_t features) {
  const unsigned char *blob = (const unsigned char *)given;
  uint32_t whole, alignment;
  if (!program)
    return ALULA_E_NULL;
  program->blob = NULL;
  program->bytes = program->function_count = 0;
  program->state_bytes = program->stack_bytes = program->alignment = 0;
  if (!blob)
    return ALULA_E_NULL;
  if (bytes < 4 * ALULA_MIN_HEADER_WORDS)
    return ALULA_MIN_E_SIZE;
  if (read_header(blob, ALULA_MIN_AT_MAGIC) != ALULA_MIN_MAGIC)
    return ALULA_MIN_E_FORMAT;
  if (read_header(blob, ALULA_MIN_AT_VERSION) != ALULA_MIN_VERSION)
    return ALULA_MIN_E_VERSION;
  whole = read_header(blob, ALULA_MIN_AT_BYTES);
  if (whole > bytes || whole < 4 * ALULA_MIN_HEADER_WORDS)
    return ALULA_MIN_E_SIZE;
  if (read_header(blob, ALULA_MIN_AT_CHECKSUM) != get_checksum(blob, whole))
    return ALULA_MIN_E_CHECKSUM;
  if (read_header(blob, ALULA_MIN_AT_MACHINE) != (uint32_t)ALULA_MIN_MACHINE)
    return ALULA_MIN_E_MACHINE;
  if (read_header(blob, ALULA_MIN_AT_FEATURES) & ~features)
    return ALULA_MIN_E_FEATURES;
  alignment = read_header(blob, ALULA_MIN_AT_ALIGNMENT);
  if (!alignment || (alignment & (alignment - 1)))
    return ALULA_MIN_E_BOUNDS;
  if ((uintptr_t)blob & (alignment - 1))
    return ALULA_E_ALIGN;
  program->blob = blob;
  program->bytes = whole;
  program->function_count = read_header(blob, ALULA_MIN_AT_COUNT);
  program->state_bytes = read_header(blob, ALULA_MIN_AT_STATE_BYTES);
  program->stack_bytes = read_header(blob, ALULA_MIN_AT_STACK_BYTES);
  program->alignment = read_header(blob, ALULA_MIN_AT_ARENA_ALIGNMENT);
  if (!has_bounds(program)) {
    program->blob = NULL;
    program->function_count = 0;
    return ALULA_MIN_E_BOUNDS;
  }
  return 0;
}

int32_t alula_min_get(const alula_min *program, uint32_t index,
                      alula_min_function *function) {
  const unsigned char *words;
  if (!program || !program->blob || !function)
    return ALULA_E_NULL;
  if (index >= program->function_count)
    return ALULA_MIN_E_NAME;
  words = program->blob + read_header(program->blob, ALULA_MIN_AT_FUNCTIONS) +
          4 * ALULA_MIN_FUNCTION_WORDS * index;
  function->program = program;
  function->name = (const char *)program->blob +
                   read_word(words + 4 * ALULA_MIN_FUNCTION_NAME);
  function->arena_bytes = read_word(words + 4 * ALULA_MIN_FUNCTION_ARENA_BYTES);
  function->input_count = read_word(words + 4 * ALULA_MIN_FUNCTION_INPUTS);
  function->output_count = read_word(words + 4 * ALULA_MIN_FUNCTION_OUTPUTS);
  function->entry = read_word(words + 4 * ALULA_MIN_FUNCTION_ENTRY);
  function->ports = read_word(words + 4 * ALULA_MIN_FUNCTION_PORTS);
  return 0;
}

static int is_equal(const char *a, const char *b) {
  for (; *a && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}

int32_t alula_min_find(const alula_min *program, const char *name,
                       alula_min_function *function) {
  uint32_t i;
  if (!name)
    return ALULA_E_NULL;
  for (i = 0;; ++i) {
    int32_t code = alula_min_get(program, i, function);
    if (code || is_equal(function->name, name))
      return code;
  }
}

int32_t alula_min_get_port(const alula_min_function *function, uint32_t index,
                           alula_min_port *port) {
  const unsigned char *words;
  if (!function || !port)
    return ALULA_E_NULL;
  if (index >= function->input_count + function->output_count)
    return ALULA_MIN_E_NAME;
  words = function->program->blob + function->ports +
          4 * ALULA_MIN_PORT_WORDS * index;
  port->name = (const char *)function->program->blob +
               read_word(words + 4 * ALULA_MIN_PORT_NAME);
  port->dtype = read_word(words + 4 * ALULA_MIN_PORT_DTYPE);
  port->rank = read_word(words + 4 * ALULA_MIN_PORT_RANK);
  port->bytes = read_word(words + 4 * ALULA_MIN_PORT_BYTES);
  port->shape =
      function->program->blob + read_word(words + 4 * ALULA_MIN_PORT_SHAPE);
  return 0;
}

uint32_t alula_min_get_size(const alula_min_port *port, uint32_t dimension) {
  return port && dimension < port->rank
             ? read_word(port->shape + 4 * (size_t)dimension)
             : 0;
}

int32_t alula_min_reset(const alula_min *program, void *state) {
  typedef int32_t reset_function(void *state);
  uint32_t at;
  if (!program || !program->blob)
    return ALULA_E_NULL;
  at = read_header(program->blob, ALULA_MIN_AT_RESET);
  return at ? ((reset_function *)((uintptr_t)program->blob + at))(state) : 0;
}

int32_t alula_min_run(const alula_min_function *function, void *arena,
                      size_t arena_bytes, void *state, const void *const in[],
                      void *const out[]) {
  typedef int32_t plain(void *arena, const void *const in[], void *const out[]);
  typedef int32_t with_state(void *arena, void *state, const void *const in[],
                             void *const out[]);
  uintptr_t entry;
  if (!function)
    return ALULA_E_NULL;
  if (arena_bytes < function->arena_bytes)
    return ALULA_E_ARENA;
  entry = (uintptr_t)function->program->blob + function->entry;
  return function->program->state_bytes
             ? ((with_state *)entry)(arena, state, in, out)
             : ((plain *)entry)(arena, in, out);
}
