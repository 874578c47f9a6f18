"""Writes the C structs of the PJRT API and XLA's FFI from the layouts that
pypjrt records.

  generate_abi.py OUT.h

Pointers come out as `void *`: the plugin casts them once, at the border. Each
struct's size is asserted, so a wrong guess can't compile.
"""

import ctypes
import sys

from pypjrt._abi import pjrt_0_114 as abi

# 32 and 64 bits look alike to ctypes under several names.
NAMES = {
    ctypes.c_void_p: "void *",
    ctypes.c_bool: "bool",
    ctypes.c_float: "float",
    ctypes.c_double: "double",
    ctypes.c_char: "char",
    ctypes.c_int8: "int8_t",
    ctypes.c_uint8: "uint8_t",
    ctypes.c_int32: "int32_t",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint64: "uint64_t",
}


def declare(kind, name):
    if isinstance(kind, type) and issubclass(kind, ctypes.Array):
        return f"{declare(kind._type_, name)}[{kind._length_}]"
    if kind in NAMES:
        return f"{NAMES[kind]} {name}"
    return f"{kind.__name__} {name}"


def write(struct, done, lines):
    """The struct after those that it holds by value."""
    if struct in done:
        return
    done.add(struct)
    for _, kind, *_ in struct._fields_:
        while issubclass(kind, ctypes.Array):
            kind = kind._type_
        if issubclass(kind, (ctypes.Structure, ctypes.Union)):
            write(kind, done, lines)
    word = "union" if issubclass(struct, ctypes.Union) else "struct"
    lines.append(f"typedef {word} {struct.__name__} {{")
    lines += [f"  {declare(kind, name)};" for name, kind, *_ in struct._fields_]
    lines.append(f"}} {struct.__name__};")
    size = ctypes.sizeof(struct)
    lines.append(f'static_assert(sizeof({struct.__name__}) == {size}, "layout");\n')


def main():
    lines = ["#pragma once", "#include <cstddef>", "#include <cstdint>", ""]
    done = set()
    for name in sorted(vars(abi)):
        value = getattr(abi, name)
        is_struct = isinstance(value, type) and issubclass(
            value, (ctypes.Structure, ctypes.Union)
        )
        if name.startswith(("PJRT_", "PLUGIN_", "XLA_FFI_")) and is_struct:
            write(value, done, lines)
    with open(sys.argv[1], "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
