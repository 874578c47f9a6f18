"""What the compiler tells of the kernels of a program, by alula/compiler.h."""

import ctypes
import dataclasses
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint32, c_void_p

from alula.bindings import compiler


class KernelInfo(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("name", c_char_p),
        ("operations", c_char_p),
        ("source_name", c_char_p),
        ("source", c_char_p),
        ("flops", c_double),
        ("transcendentals", c_double),
        ("bytes", c_double),
        ("typed_operations", c_char_p),
    ]


# A program's flag: loops of unknown length or unknown sizes.
UNKNOWN_COST = 4


@dataclasses.dataclass
class Described:
    """A program as the compiler sees it: its cost, and its kernels by name."""

    name: str
    flags: int
    cost: dict
    kernels: dict


def _text(value):
    return (value or b"").decode(errors="replace")


def _functions():
    lib = compiler.functions()
    for name, result, arguments in (
        ("destroy", None, [c_void_p]),
        ("get_name", c_char_p, [c_void_p]),
        ("get_flags", c_uint32, [c_void_p]),
        ("get_cost", c_int, [c_void_p, c_uint32, POINTER(c_char_p), POINTER(c_double)]),
        ("get_kernel", c_int, [c_void_p, c_uint32, POINTER(KernelInfo)]),
    ):
        function = getattr(lib, f"alula_program_info_{name}")
        function.restype, function.argtypes = result, arguments
    return lib


def describe(program, targets, custom_calls):
    """What is known of a program that can be compiled; None if its kernels can't
    be told."""
    lib = _functions()
    Options = compiler.options_type()
    options = Options(struct_bytes=ctypes.sizeof(Options), until=b"dispatch")
    names = [(c_char_p * len(list_))(*[n.encode() for n in list_])
             for list_ in (targets, custom_calls)]  # fmt: skip
    options.targets, options.target_count = names[0], len(targets)
    options.custom_calls, options.custom_call_count = names[1], len(custom_calls)
    info = c_void_p()
    options.info = ctypes.cast(byref(info), c_void_p)
    artifact, size, message = c_void_p(), c_size_t(), c_void_p()
    code = lib.alula_compile(
        program, len(program), byref(options), byref(artifact), byref(size), byref(message)
    )
    lib.alula_compile_free(message if code else artifact)
    try:
        return None if code else _read(lib, info)
    finally:
        if info:
            lib.alula_program_info_destroy(info)


def _read(lib, info):
    found = Described(
        _text(lib.alula_program_info_get_name(info)), lib.alula_program_info_get_flags(info), {}, {}
    )
    name, value = c_char_p(), c_double()
    while lib.alula_program_info_get_cost(info, len(found.cost), byref(name), byref(value)):
        found.cost[_text(name.value)] = value.value
    kernel = KernelInfo(struct_bytes=ctypes.sizeof(KernelInfo))
    while lib.alula_program_info_get_kernel(info, len(found.kernels), byref(kernel)):
        found.kernels[_text(kernel.name)] = {
            "operations": _text(kernel.operations).split(),
            "source_name": _text(kernel.source_name),
            "source": _text(kernel.source),
            "flops": kernel.flops,
            "transcendentals": kernel.transcendentals,
            "bytes": kernel.bytes,
            "typed": _text(kernel.typed_operations).split(),
        }
    return found


_WORDS = {
    "operations": ("operations", str.split),
    "typed": ("typed", str.split),
    "name": ("source_name", str),
    "source": ("source", str),
    "flops": ("flops", float),
    "transcendentals": ("transcendentals", float),
    "bytes": ("bytes", float),
}


def read_facts(facts):
    """What an artifact says of its kernels, by name (alula-compile --debug=1); nothing
    for most."""
    found = {}
    for key, value in facts:
        if not key.startswith("kernel."):
            continue
        told = {"operations": [], "typed": [], "source_name": "", "source": ""}
        told |= dict.fromkeys(("flops", "transcendentals", "bytes"))
        for line in value.splitlines():
            word, _, text = line.partition(" ")
            if word in _WORDS:
                name, read = _WORDS[word]
                told[name] = read(text)
        found[key.removeprefix("kernel.")] = told
    return found
