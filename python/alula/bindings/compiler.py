"""alula/compiler.h: a program in, an artifact out."""

import ctypes
import functools
import pathlib
import re
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

from alula import errors
from alula.bindings import library


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


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("targets", POINTER(c_char_p)),
        ("target_count", c_size_t),
        ("on_diagnostic", ON_DIAGNOSTIC),
        ("user", c_void_p),
        ("until", c_char_p),
        ("custom_calls", POINTER(c_char_p)),
        ("custom_call_count", c_size_t),
        ("dump_directory", c_char_p),
        ("verify_stages", c_int),
        ("on_progress", c_void_p),
        ("on_time", c_void_p),
        ("cancel", c_void_p),
        ("external_file", c_char_p),
        ("external_minimum_bytes", c_uint64),
        ("on_external", ON_EXTERNAL),
        ("info", c_void_p),
        ("replica_count", c_uint32),
        ("partition_count", c_uint32),
        ("values", POINTER(InitialValue)),
        ("value_count", c_size_t),
        ("preprocess_steps", POINTER(c_char_p)),
        ("preprocess_step_count", c_size_t),
        ("plugins", POINTER(c_char_p)),
        ("plugin_count", c_size_t),
        ("plugin_settings", POINTER(c_char_p)),
        ("plugin_setting_count", c_size_t),
    ]


@functools.cache
def functions():
    lib = library.compiler()
    lib.alula_compile.restype = c_int
    lib.alula_compile.argtypes = [
        c_char_p,
        c_size_t,
        POINTER(Options),
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
    external_minimum_bytes=0, dump_directory=None, until=None,
):  # fmt: skip
    """The artifact of a program (MLIR text, bytecode or a portable artifact),
    and the bytes of `external_file`, if any. `values` are arrays by the names
    of the globals that begin with them."""
    lib = functions()
    said, external = [], [b""]

    def hear(_, diagnostic):
        what = diagnostic.contents
        said.append((what.location.decode(), what.message.decode(errors="replace")))

    def take(_, data, size):
        external[0] = ctypes.string_at(data, size)

    options = Options(struct_bytes=ctypes.sizeof(Options))
    options.targets, options.target_count = _strings(targets), len(targets)
    options.custom_calls = _strings(custom_calls)
    options.custom_call_count = len(custom_calls)
    options.on_diagnostic = ON_DIAGNOSTIC(hear)
    options.on_external = ON_EXTERNAL(take)
    options.external_minimum_bytes = external_minimum_bytes
    values = values or {}
    options.values = (InitialValue * len(values))(
        *[InitialValue(n.encode(), a.ctypes.data, a.nbytes) for n, a in values.items()]
    )
    options.value_count = len(values)
    for name, text in (
        ("external_file", external_file),
        ("dump_directory", dump_directory),
        ("until", until),
    ):
        if text is not None:
            setattr(options, name, str(text).encode())
    artifact, size, message = c_void_p(), c_size_t(), c_void_p()
    if isinstance(program, str):
        program = program.encode()
    code = lib.alula_compile(
        program, len(program), byref(options), byref(artifact), byref(size), byref(message)
    )
    if code:
        text = ctypes.string_at(message.value).decode(errors="replace")
        lib.alula_compile_free(message)
        raise errors.CompileError(describe(said) or text, said)
    try:
        return ctypes.string_at(artifact.value, size.value), external[0]
    finally:
        lib.alula_compile_free(artifact)
