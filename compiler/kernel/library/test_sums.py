"""Sums of rows and columns against NumPy in more digits, of parts of larger matrices."""

import re

import numpy as np
import pytest
from native_library import ROOT, call

HEADER = (ROOT / "compiler/kernel/library/sums.h").read_text()
NARROW, SCRATCH, PART = (
    int(re.search(rf"ALULA_SUM_{name} = (\d+)", HEADER)[1])
    for name in ("NARROW", "NARROW_SCRATCH", "PART_ROWS")
)
TYPES = {"float32": np.float32, "float64": np.float64}


def draw(rows, columns, row, kind):
    """In memory that begins nowhere special; what is behind a row is no number."""
    memory = np.full(rows * row + 1, np.nan, kind)[1:].reshape(rows, row)
    matrix = memory[:, :columns]
    matrix[...] = np.random.default_rng(rows * 1000 + columns).standard_normal((rows, columns))
    return memory, matrix


def check(got, matrix, axis, initial):
    """No accumulator has more than some hundred terms, of numbers around one."""
    want = initial + matrix.astype(np.longdouble).sum(axis)
    assert got[-1] == 7
    terms = max(matrix.shape[axis], 1)
    bound = 64 * np.finfo(matrix.dtype).eps * (abs(initial) + terms**0.5)
    np.testing.assert_allclose(got[:-1], want.astype(matrix.dtype), rtol=0, atol=bound)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("columns", [0, 1, 3, 4, 17, 64, 127, 128, 255, 1000, 16384, 40001])
@pytest.mark.parametrize("initial", [0.0, 2.5])
def test_rows(kind, rows, columns, initial):
    memory, matrix = draw(rows, columns, columns + 3, kind)
    got = np.full(rows + 1, 7, kind)
    call("sum_rows", kind, got, memory, columns + 3, rows, columns, TYPES[kind](initial))
    check(got, matrix, 1, initial)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8, 300, PART + 77])
@pytest.mark.parametrize("columns", [0, 1, 2, 3, 7, 16, 30, 63, 100, NARROW, 128, 333, 1500])
@pytest.mark.parametrize("gap", [0, 5, 3000])
def test_columns(kind, rows, columns, gap):
    memory, matrix = draw(rows, columns, columns + gap, kind)
    got = np.full(columns + 1, 7, kind)
    room = max(SCRATCH if columns <= NARROW else 0, columns if rows > PART else 0)
    scratch = np.full(room + 1, 9, kind)
    call(
        "sum_columns",
        kind,
        *(got, memory, columns + gap, rows, columns, TYPES[kind](1.5)),
        scratch if room else None,
    )
    check(got, matrix, 0, 1.5)
    assert scratch[-1] == 9


@pytest.mark.parametrize("kind", TYPES)
def test_negative_zero(kind):
    zeros = np.full((600, 600), -0.0, kind)
    for name, scratch in (("sum_rows", ()), ("sum_columns", (None,))):
        got = np.full(600, 7, kind)
        call(name, kind, got, zeros, 600, 600, 600, TYPES[kind](-0.0), *scratch)
        assert (got == 0).all() and np.signbit(got).all()
