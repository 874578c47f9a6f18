/* The artifact's records, as they lie in the file. artifact/SPEC.md explains
 * them; writer, reader, verifier, printer and runtime all use these.
 *
 * Little endian, natural alignment, no padding that the compiler could choose:
 * every struct's size is asserted below. */
#pragma once

#include "alula/dtype.h"

#include <stdint.h>

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
#define ALULA_STATIC_ASSERT static_assert
#else
#define ALULA_STATIC_ASSERT _Static_assert
#endif

#define ALULA_FILE_MAGIC                                                       \
  "\x89"                                                                       \
  "ALULA\r\n"
#define ALULA_FILE_MAJOR 1u
#define ALULA_FILE_MINOR 6u

/* "No such index" wherever a 32-bit index may be absent. */
#define ALULA_NONE 0xFFFFFFFFu
/* "To the end" as the length of a slot. */
#define ALULA_REST UINT64_MAX
/* Sections, constants and arenas start at multiples of this. */
#define ALULA_ALIGNMENT 64u

/* Limits that keep every computation on sizes inside 64 bits, and the stack of
 * whoever runs the commands inside a few hundred KiB. */
#define ALULA_MAX_RANK 64u
#define ALULA_MAX_BYTES ((uint64_t)1 << 48)
#define ALULA_MAX_REGISTERS (1u << 20)
#define ALULA_MAX_SLOTS (1u << 20)
#define ALULA_MAX_NESTING 256u
#define ALULA_MAX_WORKGROUPS ((uint64_t)1 << 48)
#define ALULA_MAX_PARTICIPANTS (1u << 20)
#define ALULA_MAX_PROGRAMS 256u
/* Dispatches of one `together`. */
#define ALULA_MAX_TOGETHER 8u

typedef struct alula_file_header {
  uint8_t magic[8];
  uint16_t major, minor;
  uint32_t section_count;
  uint64_t file_bytes;
  /* Hash of this header, with zero here, and of the section table. As the table
   * holds the hash of every section, this is the hash of the file. */
  uint64_t hash;
  uint8_t reserved[32];
} alula_file_header;
ALULA_STATIC_ASSERT(sizeof(alula_file_header) == 64, "header");

/* X(NAME, kind, record, "name"): what a section is an array of. Sections stand
 * in the order of their kinds, each at most once; a missing one is empty. */
#define ALULA_FOR_EACH_SECTION(X)                                              \
  X(STRINGS, 1, char, strings)                                                 \
  X(DIMS, 2, alula_file_dim, dims)                                             \
  X(TYPES, 3, alula_file_type, types)                                          \
  X(VALUES, 4, alula_file_value, values)                                       \
  X(FUNCTIONS, 5, alula_file_function, functions)                              \
  X(SLOTS, 6, alula_file_slot, slots)                                          \
  X(BLOCKS, 7, alula_file_block, blocks)                                       \
  X(CODE, 8, uint32_t, code)                                                   \
  X(IMMEDIATES, 9, int64_t, immediates)                                        \
  X(GLOBALS, 10, alula_file_global, globals)                                   \
  X(CONSTANTS, 11, alula_file_constant, constants)                             \
  X(KERNELS, 12, alula_file_kernel, kernels)                                   \
  X(VARIANTS, 13, alula_file_variant, variants)                                \
  X(LISTS, 14, uint32_t, lists)                                                \
  X(ENTRIES, 15, uint64_t, entries)                                            \
  X(FACTS, 16, alula_file_fact, facts)                                         \
  X(IMAGES, 17, uint8_t, images)                                               \
  X(DATA, 18, uint8_t, data)                                                   \
  X(CUSTOM_CALLS, 19, alula_file_custom_call, customCalls)                     \
  X(IMPORTS, 20, alula_file_import, imports)                                   \
  X(GROUPS, 21, alula_file_group_table, groupTables)                           \
  X(COLLECTIVES, 22, alula_file_collective, collectives)                       \
  X(PROGRAMS, 23, alula_file_program, programs)                                \
  X(PROGRAM_FILES, 24, uint8_t, programFiles)

typedef enum alula_section_kind ALULA_ENUM_TYPE {
#define X(NAME, kind, record, name) ALULA_SECTION_##NAME = kind,
  ALULA_FOR_EACH_SECTION(X)
#undef X
      ALULA_SECTION_LAST = ALULA_SECTION_PROGRAM_FILES
} alula_section_kind;

typedef struct alula_file_section {
  uint32_t kind, reserved;
  uint64_t offset, bytes, hash;
} alula_file_section;
ALULA_STATIC_ASSERT(sizeof(alula_file_section) == 32, "section");

/* A string is the offset of its first byte in STRINGS; it ends with a zero
 * byte. String 0 is empty. */

/* One dimension. A static one has size >= 0 and nothing else; a dynamic one has
 * size -1, a range, and perhaps a symbol: within one call, equal symbols have
 * equal sizes. */
typedef struct alula_file_dim {
  int64_t size, minimum, maximum;
  uint32_t symbol, reserved;
} alula_file_dim;
ALULA_STATIC_ASSERT(sizeof(alula_file_dim) == 32, "dim");

typedef struct alula_file_type {
  uint32_t dtype, rank, first_dim, reserved;
} alula_file_type;
ALULA_STATIC_ASSERT(sizeof(alula_file_type) == 16, "type");

/* An argument or a result of a function. */
typedef struct alula_file_value {
  uint32_t name, type;
  /* Of a result: the argument whose storage it takes over. Of that argument:
   * this result, and the function may write it. Else ALULA_NONE. Both have the
   * same type. */
  uint32_t alias;
  uint32_t flags;
} alula_file_value;
ALULA_STATIC_ASSERT(sizeof(alula_file_value) == 16, "value");

enum { ALULA_FUNCTION_EXPORTED = 1 };

typedef struct alula_file_function {
  uint32_t name, flags;
  /* Its values: first the arguments, then the results. */
  uint32_t first_value, argument_count, result_count;
  uint32_t register_count;
  uint32_t first_slot, slot_count;
  /* Block 0 is the body. */
  uint32_t first_block, block_count;
  uint64_t arena_bytes;
} alula_file_function;
ALULA_STATIC_ASSERT(sizeof(alula_file_function) == 48, "function");

/* Where a slot's bytes are when its function starts. */
typedef enum alula_slot_kind ALULA_ENUM_TYPE {
  ALULA_SLOT_ARGUMENT = 1,
  ALULA_SLOT_RESULT = 2,
  ALULA_SLOT_CONSTANT = 3,
  ALULA_SLOT_GLOBAL = 4,
  ALULA_SLOT_ARENA = 5,
  ALULA_SLOT_LOCAL = 6 /* nowhere, until alloc, view, call or swap */
} alula_slot_kind;

/* Of a LOCAL slot: it may show bytes that must not be written. */
enum { ALULA_SLOT_READ_ONLY = 1 };

typedef struct alula_file_slot {
  uint16_t kind, flags;
  uint32_t index;
  /* A range of what `kind` and `index` name; bytes may be ALULA_REST. */
  uint64_t offset, bytes;
} alula_file_slot;
ALULA_STATIC_ASSERT(sizeof(alula_file_slot) == 24, "slot");

/* Commands [begin, end) of CODE. The blocks of all functions, in order, cover
 * CODE without gaps. */
typedef struct alula_file_block {
  uint64_t begin, end;
} alula_file_block;
ALULA_STATIC_ASSERT(sizeof(alula_file_block) == 16, "block");

enum { ALULA_GLOBAL_MUTABLE = 1 };

typedef struct alula_file_global {
  uint32_t name, type, flags;
  /* The constant that it starts as, or ALULA_NONE: not initialised. */
  uint32_t initial;
} alula_file_global;
ALULA_STATIC_ASSERT(sizeof(alula_file_global) == 16, "global");

/* Bytes in DATA, or a tensor of a safetensors file beside the artifact: then
 * both strings are given, and `offset` is its type. */
typedef struct alula_file_constant {
  uint64_t offset, bytes;
  uint32_t external_file, external_name;
} alula_file_constant;
ALULA_STATIC_ASSERT(sizeof(alula_file_constant) == 24, "constant");

enum { ALULA_ACCESS_READ = 1, ALULA_ACCESS_WRITE = 2 };

typedef struct alula_file_kernel {
  uint32_t name, binding_count, constant_count;
  /* LISTS[first_access ...] says for each binding how it is used. */
  uint32_t first_access;
  uint64_t scratch_bytes;
} alula_file_kernel;
ALULA_STATIC_ASSERT(sizeof(alula_file_kernel) == 24, "kernel");

typedef enum alula_image_kind ALULA_ENUM_TYPE {
  ALULA_IMAGE_ELF = 1, /* a linked ELF file without relocations */
  ALULA_IMAGE_RAW = 2, /* position-independent bytes */
  ALULA_IMAGE_PTX = 3, /* texts of PTX, each with a zero byte at its end */
  ALULA_IMAGE_CUDA = 4 /* begins with alula_cuda_image, below */
} alula_image_kind;

/* All kernels for one kind of machine. Variants stand best first: the runtime
 * takes the first one that the machine can run. */
typedef struct alula_file_variant {
  uint32_t name;   /* "x86-64-v3": for people */
  uint32_t target; /* "x86_64", "aarch64", "riscv64" */
  uint32_t image_kind, kernel_abi;
  /* LISTS[first_feature ...]: names of what the machine must have. */
  uint32_t first_feature, feature_count;
  /* ENTRIES[first_entry ...]: for each kernel, the offset of its first
   * instruction: a virtual address of the ELF file, or into the raw bytes. Of
   * PTX: the offset of the text that has the kernel. Of CUDA: the offset of the
   * kernel's alula_cuda_kernel. */
  uint32_t first_entry, reserved;
  uint64_t image_offset, image_bytes;
} alula_file_variant;
ALULA_STATIC_ASSERT(sizeof(alula_file_variant) == 48, "variant");

/* ---- Images of CUDA ----
 *
 * An image starts with this record. Behind it, without gaps: kernels, modules,
 * codes, launches, arguments, strings (the first is empty; each with a zero byte
 * at its end), then bytes of the codes, each at a multiple of 16. */
#define ALULA_CUDA_MAGIC "\x89" "ALCUDA"

typedef struct alula_cuda_image {
  uint8_t magic[8];
  uint32_t kernel_count, module_count, code_count, launch_count, argument_count;
  uint32_t string_bytes;
} alula_cuda_image;
ALULA_STATIC_ASSERT(sizeof(alula_cuda_image) == 32, "cuda image");

/* What a dispatch of the kernel is: launches, one after the other. */
typedef struct alula_cuda_kernel {
  uint32_t first_launch, launch_count;
} alula_cuda_kernel;
ALULA_STATIC_ASSERT(sizeof(alula_cuda_kernel) == 8, "cuda kernel");

/* One program of the device, in several forms. */
typedef struct alula_cuda_module {
  uint32_t first_code, code_count;
} alula_cuda_module;
ALULA_STATIC_ASSERT(sizeof(alula_cuda_module) == 8, "cuda module");

typedef enum alula_cuda_code_kind ALULA_ENUM_TYPE {
  ALULA_CUDA_PTX = 1,  /* a text with a zero byte at its end */
  ALULA_CUDA_CUBIN = 2 /* what an assembler made of it */
} alula_cuda_code_kind;

enum {
  /* Runs on this chip alone (sm_90a). */
  ALULA_CUDA_CODE_EXACT = 1
};

typedef struct alula_cuda_code {
  uint32_t kind;
  /* The number in its name: 80 of sm_80, 100 of sm_100. */
  uint32_t chip;
  uint32_t flags, reserved;
  /* From the image's first byte. */
  uint64_t offset, bytes;
} alula_cuda_code;
ALULA_STATIC_ASSERT(sizeof(alula_cuda_code) == 32, "cuda code");

enum {
  /* All blocks of the grid run at once and can wait for each other. */
  ALULA_CUDA_LAUNCH_COOPERATIVE = 1,
  /* A call of a library, see alula/cuda_library.h. `entry` is the text that
   * says what it computes, `module` is ALULA_NONE. It is made instead of the
   * next `grid[0]` launches of the kernel, if the library takes it. */
  ALULA_CUDA_LAUNCH_CALL = 2
};

typedef struct alula_cuda_launch {
  /* A string of the image: the name behind `.entry`. */
  uint32_t entry;
  uint32_t module;
  uint32_t first_argument, argument_count;
  /* Blocks: grid[i], times the dispatch's workgroups along grid_axis[i] if that
   * is not ALULA_NONE. 0 blocks launch nothing. */
  uint32_t grid[3], grid_axis[3];
  /* Threads of a block; blocks of a cluster, all 1 if there is none. */
  uint32_t block[3], cluster[3];
  /* Dynamic shared memory of a block. */
  uint32_t shared_bytes;
  uint32_t flags;
} alula_cuda_launch;
ALULA_STATIC_ASSERT(sizeof(alula_cuda_launch) == 72, "cuda launch");

/* X(NAME, code, name): what an argument of a launch is. `index` and `value` are
 * 0 where nothing is said of them. */
#define ALULA_FOR_EACH_CUDA_ARGUMENT(X)                                        \
  /* the address of binding `index`, plus `value` */                           \
  X(BINDING, 1, "binding")                                                     \
  /* bytes of binding `index` */                                               \
  X(BINDING_BYTES, 2, "binding_bytes")                                         \
  /* constant `index` of the dispatch */                                       \
  X(CONSTANT, 3, "constant")                                                   \
  /* the address of the dispatch's scratch, plus `value` */                    \
  X(SCRATCH, 4, "scratch")                                                     \
  /* workgroups of the dispatch along axis `index` */                          \
  X(WORKGROUPS, 5, "workgroups")                                               \
  /* `value` itself */                                                         \
  X(NUMBER, 6, "number")                                                       \
  /* the address of an int32_t that is 0: what a kernel writes there makes the \
   * call fail with this code */                                               \
  X(FAILURE, 7, "failure")

typedef enum alula_cuda_argument_kind ALULA_ENUM_TYPE {
#define X(NAME, code, name) ALULA_CUDA_ARGUMENT_##NAME = code,
  ALULA_FOR_EACH_CUDA_ARGUMENT(X)
#undef X
      ALULA_CUDA_ARGUMENT_LAST = ALULA_CUDA_ARGUMENT_FAILURE
} alula_cuda_argument_kind;

typedef struct alula_cuda_argument {
  uint16_t kind;
  /* 8, or 4: the low half of a number. Addresses have 8. */
  uint16_t bytes;
  uint32_t index;
  uint64_t value;
} alula_cuda_argument;
ALULA_STATIC_ASSERT(sizeof(alula_cuda_argument) == 16, "cuda argument");

enum { ALULA_CUSTOM_CALL_SIDE_EFFECT = 1 };

/* A C function of the embedder, found by its name when the file is loaded. */
typedef struct alula_file_custom_call {
  uint32_t name;
  /* As StableHLO numbers it: what the function may expect of the rest. */
  uint32_t api_version;
  uint32_t operand_count, result_count;
  /* LISTS[first_type ...]: types of the operands, then of the results. */
  uint32_t first_type;
  /* Constants in DATA, or ALULA_NONE: the backend's configuration; attributes
   * as JSON. */
  uint32_t config, attributes;
  uint32_t flags;
} alula_file_custom_call;
ALULA_STATIC_ASSERT(sizeof(alula_file_custom_call) == 32, "custom call");

/* The configuration of a call of api_version 4 begins with this number;
 * SPEC.md says what follows. */
#define ALULA_CALL_CONFIG_MAGIC 0x34434c41u
/* What the program's operands and results are. */
enum {
  ALULA_CALL_VALUE_TOKEN = 0,
  ALULA_CALL_VALUE_ARRAY = 1,
  ALULA_CALL_VALUE_SIZES = 2
};
enum {
  ALULA_CALL_ATTRIBUTE_SCALAR = 1,
  ALULA_CALL_ATTRIBUTE_ARRAY = 2,
  ALULA_CALL_ATTRIBUTE_STRING = 3,
  ALULA_CALL_ATTRIBUTE_DICTIONARY = 4,
  ALULA_CALL_ATTRIBUTE_LIST = 5
};

enum { ALULA_IMPORT_OPTIONAL = 1 };

/* A function that kernels call and that is found by its name when the file is
 * loaded, see `alula_import` in kernel_abi.h. Names ascend, byte by byte. */
typedef struct alula_file_import {
  uint32_t name, flags;
} alula_file_import;
ALULA_STATIC_ASSERT(sizeof(alula_file_import) == 8, "import");

/* Who of the participants, the devices that run the program at once, take part
 * in collectives. Participants are counted partition by partition of replica 0,
 * then of replica 1, and so on. LISTS[first_number ...]: for each group its
 * size, then its members in their order. */
typedef struct alula_file_group_table {
  /* Of the whole program: the same in all tables. */
  uint32_t participant_count;
  uint32_t group_count, first_number, number_count;
} alula_file_group_table;
ALULA_STATIC_ASSERT(sizeof(alula_file_group_table) == 16, "group table");

/* X(NAME, code, name). A block is `count` elements; n is the size of the group.
 *   all_reduce            every member gets the members' blocks, reduced
 *   all_gather            every member gets the n blocks of all, in order
 *   reduce_scatter        a member gives n blocks, the i-th gets the i-th block
 *                         of all, reduced
 *   all_to_all            a member gives n blocks; the i-th gets the i-th block
 *                         of each, in order
 *   collective_permute    groups are pairs of a source and a target; who is no
 *                         target gets zeros
 *   collective_broadcast  every member gets the block of the first
 * Whoever is in no group gets zeros. */
#define ALULA_FOR_EACH_COLLECTIVE(X)                                           \
  X(ALL_REDUCE, 1, "all_reduce")                                               \
  X(ALL_GATHER, 2, "all_gather")                                               \
  X(REDUCE_SCATTER, 3, "reduce_scatter")                                       \
  X(ALL_TO_ALL, 4, "all_to_all")                                               \
  X(PERMUTE, 5, "collective_permute")                                          \
  X(BROADCAST, 6, "collective_broadcast")

typedef enum alula_collective_kind ALULA_ENUM_TYPE {
#define X(NAME, code, name) ALULA_COLLECTIVE_##NAME = code,
  ALULA_FOR_EACH_COLLECTIVE(X)
#undef X
      ALULA_COLLECTIVE_LAST = ALULA_COLLECTIVE_BROADCAST
} alula_collective_kind;

/* X(NAME, code, name). A reduction is a fold in the order of the group, each
 * step rounded to the type. min and max are NaN if an element is. */
#define ALULA_FOR_EACH_REDUCTION(X)                                            \
  X(NONE, 0, "none")                                                           \
  X(SUM, 1, "sum")                                                             \
  X(PRODUCT, 2, "product")                                                     \
  X(MIN, 3, "min")                                                             \
  X(MAX, 4, "max")                                                             \
  X(AND, 5, "and")                                                             \
  X(OR, 6, "or")                                                               \
  X(XOR, 7, "xor")

typedef enum alula_reduction ALULA_ENUM_TYPE {
#define X(NAME, code, name) ALULA_REDUCTION_##NAME = code,
  ALULA_FOR_EACH_REDUCTION(X)
#undef X
      ALULA_REDUCTION_LAST = ALULA_REDUCTION_XOR
} alula_reduction;

typedef struct alula_file_collective {
  uint32_t kind;
  /* Of all_reduce and reduce_scatter; else ALULA_REDUCTION_NONE. */
  uint32_t reduction;
  uint32_t dtype;
  /* Whose: a group table. */
  uint32_t groups;
  /* Elements of a block. */
  uint64_t count;
  /* The program's number for it, 0 for none; several may have the same. */
  uint32_t channel, reserved;
} alula_file_collective;
ALULA_STATIC_ASSERT(sizeof(alula_file_collective) == 32, "collective");

static inline const char *alula_collective_get_name(uint32_t kind) {
  switch (kind) {
#define X(NAME, code, name)                                                    \
  case code:                                                                   \
    return name;
    ALULA_FOR_EACH_COLLECTIVE(X)
#undef X
  default:
    return "?";
  }
}

static inline const char *alula_reduction_get_name(uint32_t reduction) {
  switch (reduction) {
#define X(NAME, code, name)                                                    \
  case code:                                                                   \
    return name;
    ALULA_FOR_EACH_REDUCTION(X)
#undef X
  default:
    return "?";
  }
}

/* Whether elements of this type (alula_dtype) can be reduced so: integers of
 * whole bytes in every way; i1 by and, or, xor; f16, bf16, f32, f64 but not by
 * those; complex numbers by sums. */
static inline int alula_reduction_takes(uint32_t reduction, uint32_t dtype) {
  int isBitwise = reduction == ALULA_REDUCTION_AND ||
                  reduction == ALULA_REDUCTION_OR ||
                  reduction == ALULA_REDUCTION_XOR;
  if (reduction == ALULA_REDUCTION_NONE || reduction > ALULA_REDUCTION_LAST)
    return 0;
  switch (alula_dtype_get_kind(dtype)) {
  case ALULA_KIND_BOOL:
    return isBitwise;
  case ALULA_KIND_INT:
  case ALULA_KIND_UINT:
    return alula_dtype_get_bits(dtype) >= 8;
  case ALULA_KIND_FLOAT:
    return alula_dtype_get_bits(dtype) >= 16 && !isBitwise;
  case ALULA_KIND_COMPLEX:
    return reduction == ALULA_REDUCTION_SUM;
  default:
    return 0;
  }
}

/* A program for one kind of machine, in a file that has several: an artifact of
 * its own whose constants lie in DATA of the file around it. Programs stand
 * best first. */
typedef struct alula_file_program {
  uint32_t name; /* unique: "cpu:aarch64:cores=2" */
  /* What it was compiled for: cores, and the largest cache of a single one. */
  uint32_t cores;
  uint64_t cache_bytes;
  /* Where it is in PROGRAM_FILES; a multiple of 64. */
  uint64_t offset, bytes;
} alula_file_program;
ALULA_STATIC_ASSERT(sizeof(alula_file_program) == 32, "program");

/* Provenance and other facts for people: "compiler", "options", "input.hash".
 */
typedef struct alula_file_fact {
  uint32_t key, value;
} alula_file_fact;
ALULA_STATIC_ASSERT(sizeof(alula_file_fact) == 8, "fact");

/* ---- Commands ----
 *
 * A command is a word `opcode | words << 8`, `words` counting the whole
 * command, and then its parameters, one word each:
 *   r  a register that is written      o  an operand, see below
 *   s  a slot that is read             w  a slot whose bytes are written
 *   l  a LOCAL slot that is bound      x  an ARENA or LOCAL slot, writable
 *   b  a block of this function        B  a block or ALULA_NONE
 *   k  a kernel   f  a function        g  a global   t  a string
 *   c  a custom call                   m  a collective
 *   d  an integer element type or i1   n  a plain number
 *   *  the last kind, any number of times
 *   :  what follows depends on the first parameter
 * An operand is a register, or ALULA_IMMEDIATE | an index into IMMEDIATES.
 * Registers are signed 64-bit integers and start as zero. */
#define ALULA_IMMEDIATE 0x80000000u

/* X(NAME, code, name, parameters) */
#define ALULA_FOR_EACH_COMMAND(X)                                              \
  /* dst = operator(a, b) */                                                   \
  X(COMPUTE, 1, "compute", "rnoo")                                             \
  /* dst = condition != 0 ? a : b */                                           \
  X(SELECT, 2, "select", "rooo")                                               \
  /* dst = the integer of this type at slot + byte offset */                   \
  X(LOAD, 3, "load", "rdso")                                                   \
  /* the integer of this type at slot + byte offset = value */                 \
  X(STORE, 4, "store", "dwoo")                                                 \
  /* dst = dimension of an argument: argument number, dimension number */      \
  X(ARGUMENT_DIM, 5, "argument_dim", "rnn")                                    \
  /* gives a dynamic result its storage: result number, its dynamic dims */    \
  X(BIND_RESULT, 6, "bind_result", "no*")                                      \
  /* slot = new memory of so many bytes, 64-byte aligned, until free or the    \
   * end of the function */                                                    \
  X(ALLOC, 7, "alloc", "lo")                                                   \
  X(FREE, 8, "free", "l")                                                      \
  /* slot = bytes [offset, offset + bytes) of another slot */                  \
  X(VIEW, 9, "view", "lsoo")                                                   \
  /* exchanges where two slots point */                                        \
  X(SWAP, 10, "swap", "xx")                                                    \
  /* dst, dst offset, src, src offset, bytes; they may overlap */              \
  X(COPY, 11, "copy", "wosoo")                                                 \
  /* dst, offset, bytes, width of the pattern (1, 2, 4, 8), pattern */         \
  X(FILL, 12, "fill", "woono")                                                 \
  /* kernel, grid x y z, its bindings (slots), its constants (operands) */     \
  X(DISPATCH, 13, "dispatch", "kooo:")                                         \
  /* condition, then, else */                                                  \
  X(IF, 14, "if", "obB")                                                       \
  /* index, blocks; an index out of range takes the last one */                \
  X(CASE, 15, "case", "obb*")                                                  \
  /* runs the first block, then, while the operand is not 0, the second block  \
   * and the first again */                                                    \
  X(WHILE, 16, "while", "bob")                                                 \
  /* function, argument slots, result slots, the dynamic dims of its arguments \
   * (operands), registers for the dynamic dims of its results */              \
  X(CALL, 17, "call", "f:")                                                    \
  /* fails with the message unless condition != 0; {0}, {1}, ... in the        \
   * message stand for the operands */                                         \
  X(ASSERT, 18, "assert", "oto*")                                              \
  /* fails unless the global is initialised */                                 \
  X(CHECK_GLOBAL, 19, "check_global", "g")                                     \
  /* from now on the global is initialised */                                  \
  X(DEFINE_GLOBAL, 20, "define_global", "g")                                   \
  /* dst = a handle: the collective, what this participant gives, where what   \
   * it gets will be */                                                               \
  X(COLLECTIVE_START, 21, "collective_start", "rmsw")                          \
  /* custom call, operand slots, result slots, the dynamic dims of operands    \
   * and results (operands) */                                                 \
  X(CUSTOM_CALL, 22, "custom_call", "c:")                                      \
  /* waits for what was started under this handle */                           \
  X(COLLECTIVE_DONE, 23, "collective_done", "o")                               \
  /* dst = the number of the participant that runs the program */              \
  X(PARTICIPANT, 24, "participant", "r")                                       \
  /* the next so many commands are dispatches that don't need each other */    \
  X(TOGETHER, 25, "together", "n")

typedef enum alula_command ALULA_ENUM_TYPE {
#define X(NAME, code, name, parameters) ALULA_COMMAND_##NAME = code,
  ALULA_FOR_EACH_COMMAND(X)
#undef X
} alula_command;

/* X(NAME, code, name). Overflow, division by zero and a shift outside 0..63
 * make the call fail. DIV and REM round down, CEIL_DIV up; comparisons are
 * signed and give 0 or 1. MOVE ignores b. */
#define ALULA_FOR_EACH_OPERATOR(X)                                             \
  X(MOVE, 0, "move")                                                           \
  X(ADD, 1, "add")                                                             \
  X(SUB, 2, "sub")                                                             \
  X(MUL, 3, "mul")                                                             \
  X(DIV, 4, "div")                                                             \
  X(CEIL_DIV, 5, "ceil_div")                                                   \
  X(REM, 6, "rem")                                                             \
  X(MIN, 7, "min")                                                             \
  X(MAX, 8, "max")                                                             \
  X(AND, 9, "and")                                                             \
  X(OR, 10, "or")                                                              \
  X(XOR, 11, "xor")                                                            \
  X(SHL, 12, "shl")                                                            \
  X(SHR, 13, "shr")                                                            \
  X(EQ, 14, "eq")                                                              \
  X(NE, 15, "ne")                                                              \
  X(LT, 16, "lt")                                                              \
  X(LE, 17, "le")                                                              \
  X(GT, 18, "gt")                                                              \
  X(GE, 19, "ge")

typedef enum alula_operator ALULA_ENUM_TYPE {
#define X(NAME, code, name) ALULA_OPERATOR_##NAME = code,
  ALULA_FOR_EACH_OPERATOR(X)
#undef X
      ALULA_OPERATOR_LAST = ALULA_OPERATOR_GE
} alula_operator;

#ifdef __cplusplus
} /* extern "C" */
#endif
