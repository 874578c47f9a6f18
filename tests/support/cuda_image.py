"""Reads images of CUDA (artifact/SPEC.md)."""

import dataclasses
import struct

MAGIC = b"\x89ALCUDA\0"
NONE = 0xFFFFFFFF
PTX, CUBIN = 1, 2
EXACT = 1


@dataclasses.dataclass
class Launch:
    entry: str
    module: int
    arguments: list[tuple[int, int, int, int]]  # Kind, bytes, index, value.
    grid: tuple[int, ...]
    grid_axis: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    shared_bytes: int
    flags: int


@dataclasses.dataclass
class Code:
    kind: int
    chip: int
    flags: int
    data: bytes

    @property
    def text(self) -> str:
        assert self.kind == PTX
        return self.data[:-1].decode()


@dataclasses.dataclass
class Image:
    kernels: list[list[Launch]]
    modules: list[list[Code]]


def read(data: bytes) -> Image:
    magic, *counts = struct.unpack_from("<8s6I", data)
    assert magic == MAGIC
    at = struct.calcsize("<8s6I")

    def table(form: str, count: int) -> list:
        nonlocal at
        rows = list(struct.iter_unpack(form, data[at : at + count * struct.calcsize(form)]))
        at += count * struct.calcsize(form)
        return rows

    kernel_count, module_count, code_count, launch_count, argument_count, string_bytes = counts
    kernels = table("<2I", kernel_count)
    modules = table("<2I", module_count)
    codes = [
        Code(kind, chip, flags, data[offset : offset + size])
        for kind, chip, flags, _, offset, size in table("<4I2Q", code_count)
    ]
    launches = table("<18I", launch_count)
    arguments = table("<2HIQ", argument_count)
    strings = data[at : at + string_bytes]

    def launch(row: tuple) -> Launch:
        entry, module, first, count = row[:4]
        return Launch(
            strings[entry : strings.index(0, entry)].decode(),
            module,
            arguments[first : first + count],
            row[4:7],
            row[7:10],
            row[10:13],
            row[13:16],
            *row[16:],
        )

    return Image(
        [[launch(row) for row in launches[first : first + count]] for first, count in kernels],
        [codes[first : first + count] for first, count in modules],
    )
