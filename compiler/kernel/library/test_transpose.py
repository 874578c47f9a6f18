"""Transposes against NumPy, of parts of larger matrices."""

import re

import numpy as np
import pytest
from native_library import ROOT, call

HEADER = (ROOT / "compiler/kernel/library/transpose.h").read_text()
a, b, c = re.search(r"TRANSPOSE_SCRATCH = (\d+) \* (\d+) \+ (\d+)", HEADER).groups()
SCRATCH = int(a) * int(b) + int(c)
KINDS = {8: "u1", 16: "u2", 32: "u4", 64: "u8", 128: "c16"}


def strip_rows(bits):
    return 128 if bits < 16 else 2048 // bits


def aligned(shape, kind, offset=0):
    """Memory whose first element is `offset` elements after a line's beginning."""
    count = int(np.prod(shape))
    memory = np.full(count * kind.itemsize + 128 + offset * kind.itemsize, 201, np.uint8)
    start = -memory.ctypes.data % 64 + offset * kind.itemsize
    return memory[start : start + count * kind.itemsize].view(kind).reshape(shape)


def check(name, bits, rows, columns, to_row, from_row, offset, *scratch):
    kind = np.dtype(KINDS[bits])
    source = np.arange((columns + 1) * from_row).astype(kind).reshape(columns + 1, from_row)
    target = aligned((rows + 1, to_row), kind, offset)
    target[...] = 201
    want = target.copy()
    want[:rows, :columns] = source[:columns, :rows].T
    call(f"{name}_{bits}", None, target, to_row, source, from_row, rows, columns, *scratch)
    np.testing.assert_array_equal(target, want)


@pytest.mark.parametrize("bits", KINDS)
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 24, 40])
@pytest.mark.parametrize("columns", [0, 1, 8, 15, 31, 64])
def test_transpose(bits, rows, columns):
    check("transpose", bits, rows, columns, columns + 5, rows + 3, 0)


@pytest.mark.parametrize("bits", KINDS)
@pytest.mark.parametrize("rows", [0, 1, 15, 16, 25, None])
@pytest.mark.parametrize("columns", [0, 1, 16, 63, 64, 65, 700])
@pytest.mark.parametrize("offset", [0, 3])
def test_strip(bits, rows, columns, offset):
    rows = strip_rows(bits) if rows is None else min(rows, strip_rows(bits))
    # Rows that begin each elsewhere in their lines, and all at a line's beginning.
    for to_row in (columns + 5, columns + 64 - columns % 64):
        memory = aligned(SCRATCH + 64, np.dtype(np.uint8))
        check("transpose_strip", bits, rows, columns, to_row, rows + 3, offset, memory[:SCRATCH])
        assert (memory[SCRATCH:] == 201).all()
        loose = aligned(SCRATCH, np.dtype(np.uint8), 8)
        check("transpose_strip", bits, rows, columns, to_row, rows + 3, offset, loose)
