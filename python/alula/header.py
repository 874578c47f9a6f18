"""A C header of an artifact: a typed function for each entry point, numbers for
its globals. Needs nothing but alula/runtime.h."""

import json
import re

from alula import header_prints
from alula.bindings import dtypes, runtime

_C_TYPES = {
    "bool": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
}
_KEYWORDS = set(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while bool class delete new private public template this "
    "operator namespace result program".split()
)


def identifier(text, word="value"):
    """A C identifier for a path or a symbol; `word` helps where it has none."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_")
    if not name or name[0].isdigit():
        name = f"{word}_{name}".rstrip("_")
    return f"{name}_" if name in _KEYWORDS else name


def make(artifact, prefix=None):
    executable = runtime.Executable(artifact.data)
    described = json.loads(executable.facts.get("program", "{}"))
    prefix = prefix or identifier(described.get("name") or artifact.name or "program")
    paths = {g["symbol"]: g["path"] for g in described.get("globals", ())}
    lines = [_head(prefix, executable)]
    lines += _globals(prefix, executable, paths)
    prints = {n: f.get("prints", []) for n, f in described.get("functions", {}).items()}
    if any(prints.values()):
        lines.append(header_prints.CODE.replace("PREFIX", prefix))
    for function in executable.functions.values():
        lines.append(_function(prefix, function, prints.get(function.name, [])))
    lines.append(f"#ifdef __cplusplus\n}}\n#endif\n#endif /* {prefix.upper()}_H */\n")
    return "\n".join(lines)


def _head(prefix, executable):
    return f"""/* Generated from an artifact of Alula: do not edit.
 *
 * Arrays are dense and row-major. A dynamic size is an argument of its own. A
 * result of static shape is written to the caller's memory; any other is a new
 * buffer. */
#ifndef {prefix.upper()}_H
#define {prefix.upper()}_H

#include "alula/runtime.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* The artifact that this header describes. */
#define {prefix.upper()}_HASH UINT64_C(0x{executable.hash:016x})

typedef struct {prefix} {{
  alula_instance *instance;
  alula_executable *executable;
  alula_state *state; /* NULL: the executable's own */
  /* Takes what the program prints, piece by piece; NULL: stdout. */
  void (*print)(void *user, const char *text);
  void *print_user;
}} {prefix};

static inline alula_error *{prefix}_load(alula_instance *instance,
                                         const char *path, {prefix} *program) {{
  alula_executable *executable = NULL;
  alula_error *error =
      alula_executable_load_file(instance, path, NULL, &executable);
  memset(program, 0, sizeof *program);
  if (error)
    return error;
  if (alula_executable_get_hash(executable) != {prefix.upper()}_HASH) {{
    alula_executable_destroy(executable);
    return alula_error_create(ALULA_STATUS_FAILED_PRECONDITION,
                              "the artifact is not the header's");
  }}
  program->instance = instance;
  program->executable = executable;
  return NULL;
}}

static inline void {prefix}_unload({prefix} *program) {{
  alula_state_destroy(program->state);
  alula_executable_destroy(program->executable);
}}
"""


def _globals(prefix, executable, paths):
    if not executable.globals:
        return []
    taken, lines = set(), ["/* Globals, for alula_global_get and alula_global_set. */", "enum {"]
    for number, value in enumerate(executable.globals):
        name = _unique(identifier(paths.get(value.name, value.name)), taken)
        lines.append(
            f"  {prefix.upper()}_{name.upper()} = {number}, "
            f"/* {dtypes.describe(value.dtype_name, value.shape)} */"
        )
    return [*lines, "};", ""]


def _unique(name, taken):
    made, count = name, 0
    while made in taken:
        made, count = f"{name}_{count}", count + 1
    taken.add(made)
    return made


def _c_type(value):
    bytes_ = dtypes.TABLE[value.dtype][1]
    return _C_TYPES.get(value.dtype_name) or {1: "uint8_t", 2: "uint16_t"}.get(bytes_, "float")


def _count(value):
    """Elements of C's type: a complex number is two floats."""
    count = 2 if value.dtype_name.startswith("complex") else 1
    for size in value.shape:
        count *= size
    return count


def _is_static(value):
    return all(isinstance(size, int) for size in value.shape)


def _enum(value):
    mlir = dtypes.TABLE[value.dtype][2]
    name = {"complex<f32>": "C64", "complex<f64>": "C128"}.get(mlir, mlir.upper())
    return f"ALULA_DTYPE_{name}"


def _function(prefix, function, prints):
    taken, parameters, body, notes = {"program"}, [], [], []
    for i, value in enumerate(function.arguments):
        _argument(i, value, taken, parameters, body, notes)
    outputs, after = [], []
    shown = len(function.results) - sum(count for _, count in prints)
    for i, value in enumerate(function.results[:shown]):
        _result(i, value, taken, parameters, body, after, notes)
        outputs.append(i)
    n, m = len(function.arguments), len(function.results)
    name = f"{prefix}_{identifier(function.name)}"
    head = f"static inline alula_error *{name}({prefix} *program"
    head += "".join(f",\n    {text}" for text in parameters) + ") {"
    note = "".join(f"\n * {text}" for text in notes)
    steps = "".join(body)
    ends = "".join(after) + header_prints.statements(prints, shown).replace("PREFIX", prefix)
    return f"""/* {function.name}{note} */
{head}
  alula_buffer *arguments[{max(n, 1)}] = {{NULL}};
  alula_buffer *results[{max(m, 1)}] = {{NULL}};
  alula_call_options options;
  alula_error *error = NULL;
  int i;
  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.state = program->state;
{steps}  if (!error)
    error = alula_call(program->executable, {function.number}, &options, arguments, {n},
                       results, {m});
{ends}  for (i = 0; i < {n}; ++i)
    if (arguments[i])
      alula_buffer_release(arguments[i]);
  for (i = 0; i < {m}; ++i)
    if (results[i])
      alula_buffer_release(results[i]);
  return error;
}}
"""


def _wrap(target, value, name, dims, nbytes):
    rank = len(value.shape)
    return f"""  if (!error) {{
    const int64_t dims[{max(rank, 1)}] = {{{", ".join(dims) or "0"}}};
    error = alula_buffer_wrap(program->instance, {_enum(value)}, {rank}, dims,
                              (void *){name}, {nbytes}, NULL, NULL,
                              &{target});
  }}
"""


def _argument(number, value, taken, parameters, body, notes):
    name = _unique(identifier(value.name or str(number), "argument"), taken)
    static = _is_static(value)
    is_number = not value.shape and not value.dtype_name.startswith("complex")
    if is_number:
        parameters.append(f"{_c_type(value)} {name}")
    elif static:
        parameters.append(f"const {_c_type(value)} {name}[{_count(value)}]")
    else:
        parameters.append(f"const {_c_type(value)} *{name}")
    dims, nbytes = [], [str(dtypes.TABLE[value.dtype][1])]
    for i, length in enumerate(value.shape):
        if isinstance(length, int):
            dims.append(str(length))
        else:
            dims.append(_unique(f"{name}_dim{i}", taken))
            parameters.append(f"int64_t {dims[-1]}")
        nbytes.append(f"(size_t)({dims[-1]})")
    size = " * ".join(nbytes)
    if packing := dtypes.PACKING.get(value.dtype):
        size = f"({size} + {packing - 1}) / {packing}"
    notes.append(f"{name}: {dtypes.describe(value.dtype_name, value.shape)}")
    shown = f"&{name}" if is_number else name
    body.append(_wrap(f"arguments[{number}]", value, shown, dims, size))


def _result(number, value, taken, parameters, body, after, notes):
    name = _unique(identifier(value.name or str(number), "result"), taken)
    shown = dtypes.describe(value.dtype_name, ["?" if n is None else n for n in value.shape])
    notes.append(f"{name}: result, {shown}")
    if _is_static(value):
        size = f"[{_count(value)}]" if value.shape else ""
        parameters.append(f"{_c_type(value)} " + (f"{name}{size}" if size else f"*{name}"))
        dims = [str(length) for length in value.shape]
        body.append(_wrap(f"results[{number}]", value, name, dims, str(value.nbytes)))
        return
    parameters.append(f"alula_buffer **{name}")
    after.append(
        f"  if (!error) {{\n    *{name} = results[{number}];\n    results[{number}] = NULL;\n  }}\n"
    )
