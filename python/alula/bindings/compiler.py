"""alula/compiler.h: a program in, an artifact out."""

import ctypes
import functools
import pathlib
import re
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

from alula import errors
from alula.bindings import interruptible, library


class Diagnostic(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("is_error", c_int),
        ("location", c_char_p),
        ("message", c_char_p),
    ]


class InitialValue(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("data", c_void_p), ("bytes", c_size_t)]


ON_DIAGNOSTIC = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Diagnostic))
ON_EXTERNAL = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)


# What C calls the fields that are used here; any other pointer is one.
_TYPES = {
    "size_t": c_size_t,
    "int": c_int,
    "uint32_t": c_uint32,
    "uint64_t": c_uint64,
    "const char *": c_char_p,
    "const char *const *": POINTER(c_char_p),
    "const alula_compile_value *": POINTER(InitialValue),
    "alula_on_diagnostic": ON_DIAGNOSTIC,
    "alula_on_external": ON_EXTERNAL,
}


def parse_layout(text):
    """The fields of a struct from C's declarations of them."""
    fields = []
    for declaration in filter(None, text.split(";")):
        type_, name = declaration.rsplit(" ", 1)
        known = _TYPES.get(type_)
        if known is None and not (type_.endswith("*") or type_.startswith("alula_on_")):
            raise ImportError(f"libalula_compiler.so has an option of unknown type: {declaration}")
        fields.append((name, known or c_void_p))
    return fields


@functools.cache
def options_type():
    """alula_compile_options as the library has it."""
    lib = library.compiler()
    lib.alula_compile_options_get_layout.restype = c_char_p
    fields = parse_layout(lib.alula_compile_options_get_layout().decode())
    return type("Options", (ctypes.Structure,), {"_fields_": fields})


@functools.cache
def functions():
    lib = library.compiler()
    lib.alula_compile.restype = c_int
    lib.alula_compile.argtypes = [
        c_char_p,
        c_size_t,
        POINTER(options_type()),
        POINTER(c_void_p),
        POINTER(c_size_t),
        POINTER(c_void_p),
    ]
    lib.alula_compile_free.restype = None
    lib.alula_compile_free.argtypes = [c_void_p]
    return lib


_PLACE = re.compile(r'"([^"]+)":(\d+):\d+')
_OURS = str(pathlib.Path(__file__).resolve().parents[1])


def describe(said):
    """The first thing said, with the user's own line instead of all frames."""
    if not said:
        return ""
    location, message = said[0]
    places = _PLACE.findall(location)
    own = [p for p in places if not p[0].startswith(_OURS) and "site-packages" not in p[0]]
    parts = [f"{file}:{line}" for file, line in (own or places)[:1]]
    procedure = re.search(r"jit\(([^()]+)\)", location)
    if procedure:
        parts.append(f"procedure '{procedure[1]}'")
    if "alula.python_callback" in message:
        message += (
            "; jax.debug.print and callbacks need Python, which an artifact has not: "
            "Program.print prints without"
        )
    return ": ".join([*parts, message])


def _strings(texts):
    return (c_char_p * len(texts))(*[text.encode() for text in texts])


def compile_program(
    program, values=None, *, targets=("cpu:host",), custom_calls=(), external_file=None,
    external_minimum_bytes=0, external_as_used=False, dump_directory=None, cache_directory=None,
    until=None, cancel=None,
):  # fmt: skip
    """The artifact of a program (MLIR text, bytecode or a portable artifact),
    and the bytes of `external_file`, if any. `values` are arrays by the names
    of the globals that begin with them. `cancel`, if it is given, ends it."""
    lib = functions()
    said, external = [], [b""]

    def hear(_, diagnostic):
        what = diagnostic.contents
        said.append((what.location.decode(), what.message.decode(errors="replace")))

    def take(_, data, size):
        external[0] = ctypes.string_at(data, size)

    Options = options_type()
    options = Options(struct_bytes=ctypes.sizeof(Options))
    options.targets, options.target_count = _strings(targets), len(targets)
    options.custom_calls = _strings(custom_calls)
    options.custom_call_count = len(custom_calls)
    options.on_diagnostic = ON_DIAGNOSTIC(hear)
    options.on_external = ON_EXTERNAL(take)
    options.external_minimum_bytes = external_minimum_bytes
    options.external_as_used = external_as_used
    values = values or {}
    options.values = (InitialValue * len(values))(
        *[InitialValue(n.encode(), a.ctypes.data, a.nbytes) for n, a in values.items()]
    )
    options.value_count = len(values)
    for name, text in (
        ("external_file", external_file),
        ("dump_directory", dump_directory),
        ("cache_directory", cache_directory),
        ("until", until),
    ):
        if text is not None:
            setattr(options, name, str(text).encode())
    artifact, size, message = c_void_p(), c_size_t(), c_void_p()
    if isinstance(program, str):
        program = program.encode()
    cancel = cancel or interruptible.Cancel()
    options.cancel = cancel.address
    code = interruptible.call(
        lib.alula_compile,
        (program, len(program), byref(options), byref(artifact), byref(size), byref(message)),
        cancel,
    )
    if code:
        text = ctypes.string_at(message.value).decode(errors="replace")
        lib.alula_compile_free(message)
        raise errors.CompileError(describe(said) or text, said)
    try:
        return ctypes.string_at(artifact.value, size.value), external[0]
    finally:
        lib.alula_compile_free(artifact)
