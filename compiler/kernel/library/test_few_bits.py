"""Integers of few bits times scales, as kernels widen and multiply them, against
NumPy."""

import ctypes
import itertools
import random

import numpy as np
import pytest
from native_library import Scratch, _convert, _library

KINDS = {"i4": (-8, 7), "ui4": (0, 15), "i8": (-128, 127), "ui8": (0, 255)}
WIDTHS = [16, 32, 64]
BEST = ctypes.c_int32.in_dll(_library, "alula_vector_bytes").value


@pytest.fixture(params=WIDTHS)
def machine(request):
    if request.param > BEST:
        pytest.skip("not on this machine")
    ctypes.c_int32.in_dll(_library, "alula_vector_bytes").value = request.param
    yield
    ctypes.c_int32.in_dll(_library, "alula_vector_bytes").value = BEST


def draw(kind, shape, seed=0):
    low, high = KINDS[kind]
    return np.random.default_rng(seed).integers(low, high, shape, endpoint=True)


def pack(kind, values):
    """As they lie in memory, and not a byte more."""
    flat = values.reshape(-1).astype(np.int64)
    if not kind.endswith("4"):
        return flat.astype(np.uint8)
    codes = np.append(flat, [0] * (flat.size % 2)).astype(np.uint8) & 15
    return codes[::2] | codes[1::2] << 4


def call(name, *arguments):
    getattr(_library, "alula_" + name)(*_convert(arguments))


SCALES = [None, "each", "line", "run"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scales", SCALES)
def test_widen(machine, kind, scales):
    sizes = itertools.product([0, 1, 5], [0, 1, 31, 33, 64, 107], [0, 3, 8], [1, 3, 32])
    for lines, length, first, run in random.Random(scales).sample(list(sizes), 30):
        w_line = length + first
        values = draw(kind, (lines, w_line), run)
        scale, numbers = None, [1, 0, 1, 0]
        random_numbers = np.random.default_rng(1)
        factor = np.ones((lines, length), np.float32)
        groups = -(-lines // run)
        if scales == "each":
            scale = random_numbers.uniform(1, 2, (groups, w_line)).astype(np.float32)
            numbers = [run, w_line, 1, 1]
            factor = np.repeat(scale, run, 0)[:lines, :length]
        elif scales == "line":
            scale = random_numbers.uniform(1, 2, groups).astype(np.float32)
            numbers = [run, 1, 1, 0]
            factor = np.repeat(scale, run)[:lines, None] + np.zeros((1, length), np.float32)
        elif scales == "run":
            runs = -(-length // run)
            scale = random_numbers.uniform(1, 2, (lines, runs + 1)).astype(np.float32)
            numbers = [1, runs + 1, run, 1]
            factor = np.repeat(scale, run, 1)[:, :length]
        out = np.full((lines, length + 2), 77, np.float32)
        call(f"widen_{kind}_f32", out, length + 2, pack(kind, values), first, w_line, lines,
             length, scale, *numbers)  # fmt: skip
        np.testing.assert_array_equal(
            out[:, :length], values[:, first:].astype(np.float32) * factor
        )
        assert (out[:, length:] == 77).all()


@pytest.mark.parametrize("kind", ["i4", "ui4"])
def test_widen_to_bytes(machine, kind):
    for lines, length, first in itertools.product([0, 1, 4], [0, 1, 32, 77], [0, 1, 6]):
        values = draw(kind, (lines, length + first))
        out = np.full((lines, length + 3), 77, np.uint8)
        call(f"widen_{kind}_{kind[:-1]}8", out, length + 3, pack(kind, values), first,
             length + first, lines, length)  # fmt: skip
        np.testing.assert_array_equal(out[:, :length], values[:, first:].astype(np.uint8))
        assert (out[:, length:] == 77).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scales", ["none", "columns", "groups", "lines"])
@pytest.mark.parametrize("rows", [1, 3])
def test_product_rows(machine, kind, scales, rows):
    sizes = itertools.product(
        [0, 1, 31, 64, 300], [0, 2, 100, 128, 257, 384], [0, 4], [1, 3, 32, 40]
    )
    for depth, columns, first, group in random.Random(scales + kind).sample(list(sizes), 30):
        w_line = columns + first + columns % 2
        w = draw(kind, (depth, w_line), 1)
        a = np.random.default_rng(2).standard_normal((2 * depth, rows)).astype(np.float32)
        groups = -(-depth // group)
        scale, numbers = None, [1, 0, 0]
        factor = np.ones((depth, columns), np.float32)
        uniform = np.random.default_rng(3).uniform
        if scales == "columns":
            scale = uniform(1, 2, columns).astype(np.float32)
            numbers, factor = [max(depth, 1), 0, 1], np.tile(scale, (depth, 1))
        elif scales == "groups":
            scale = uniform(1, 2, (groups, columns)).astype(np.float32)
            numbers, factor = [group, columns, 1], np.repeat(scale, group, 0)[:depth]
        elif scales == "lines":
            scale = uniform(1, 2, groups).astype(np.float32)
            numbers = [group, 1, 0]
            factor = np.tile(np.repeat(scale, group)[:depth, None], (1, columns))
        c = np.full((rows, columns + 3), 77, np.float32)
        call(f"product_rows_{kind}", c, columns + 3, a, 1, 2 * rows, rows, pack(kind, w), first,
             w_line, depth, columns, scale, *numbers)  # fmt: skip
        right = w[:, first : first + columns] * factor.astype(np.float64)
        left = a[::2].T.astype(np.float64)
        limit = (depth + 3) * 2.0**-24 * (np.abs(left) @ np.abs(right))
        assert (np.abs(c[:, :columns] - left @ right) <= limit).all()
        assert (c[:, columns:] == 77).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run,lines", [(32, 1), (64, 2), (128, 1), (256, 3), (None, 1), (None, 2)])
def test_product_columns(machine, kind, run, lines):
    draws = np.random.default_rng(2)
    for rows, columns, depth in [(1, 1, 128), (1, 9, 700), (2, 4, 96), (3, 6, 1030), (1, 3, 6)]:
        values = draw(kind, (columns, depth), depth)
        a = draws.standard_normal((depth, rows)).astype(np.float32)
        steps, groups = -(-depth // run) if run else 1, -(-columns // lines)
        scale = draws.uniform(1, 2, (groups, steps)).astype(np.float32)
        numbers = [lines, steps, run or depth, 1 if run else 0]
        factor = np.repeat(scale, run or depth, 1)[:, :depth]
        scratch = np.full((32 * rows + 4) * ((depth + 127) // 128 * 4) + 4, 77, np.float32)
        right = (values * np.repeat(factor, lines, 0)[:columns]).T
        limit = (depth + 4) * 2.0**-23 * (np.abs(a.T) @ np.abs(right))
        # From a column on that may share its scale with those before.
        for first in (columns // 2, 0):
            count = columns - first
            out = np.full((rows, count + 2), 77, np.float32)
            call(f"product_columns_{kind}", out, count + 2, a, 1, rows, rows, pack(kind, values),
                 first, depth, depth, count, scale, *numbers, scratch)  # fmt: skip
            difference = np.abs(out[:, :count] - a.T.astype(float) @ right[:, first:])
            assert (difference <= limit[:, first:]).all()
            assert (out[:, count:] == 77).all() and (scratch[-4:] == 77).all()
    call(f"product_columns_{kind}", out, columns + 2, a, 1, rows, rows, pack(kind, values),
         0, depth, depth, columns, None, 1, 0, depth, 0, scratch)  # fmt: skip
    np.testing.assert_allclose(out[:, :columns], a.T.astype(float) @ values.T, 1e-4, 1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [None, 0, 1])
def test_widen_panels(machine, kind, step):
    draws = np.random.default_rng(2)
    for lines, length, run in [(5, 70, 2), (64, 64, 32), (1, 31, 1), (7, 96, 9), (0, 32, 1)]:
        width = length + length % 2 + 2
        values = draw(kind, (lines, width), run)
        groups = -(-lines // run)
        scale = draws.uniform(1, 2, (groups, length if step else 1)).astype(np.float32)
        out = np.full((-(-length // 32), lines + 1, 32), 77, np.float32)
        call(f"widen_panels_{kind}", out, out[0].size, pack(kind, values), 2, width, lines, length,
             None if step is None else scale, run, scale.shape[1], step or 0)  # fmt: skip
        factor = 1 if step is None else np.repeat(scale, run, 0)[:lines]
        got = out[:, :lines].transpose(1, 0, 2).reshape(lines, 32 * len(out))
        expected = (values[:, 2 : 2 + length] * factor).astype(np.float32)
        np.testing.assert_array_equal(got[:, :length], expected)
        assert (got[:, length:] == 77).all() and (out[:, lines:] == 77).all()


def round_shared(a):
    """Rows as bytes times a scale for each 32 neighbours."""
    padded = np.pad(a, [(0, 0), (0, -a.shape[1] % 32)]).reshape(len(a), -1, 32)
    most = np.abs(padded).max(2, keepdims=True)
    by = np.divide(np.float32(127), most, out=np.zeros_like(most), where=most > 0)
    return np.rint(padded * by).reshape(len(a), -1)[:, : a.shape[1]], most / np.float32(127)


def multiply_rounded(a, values, factor):
    """Sums of 32 are exact; the sums of those, in f64, and of their magnitudes."""
    q, s = round_shared(a)
    row = q * np.repeat(s[..., 0], 32, 1)[:, : a.shape[1]].astype(float)
    right = values * factor.astype(float)
    return row @ right, np.abs(row) @ np.abs(right)


@pytest.mark.parametrize("dot", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scales", [None, "each", "line"])
def test_rounded_rows(machine, kind, scales, dot):
    fact = ctypes.c_int32.in_dll(_library, "alula_has_int8_dot")
    known, fact.value = fact.value, min(dot, fact.value)
    draws = np.random.default_rng(2)
    for rows, depth, columns, run in [
        (1, 64, 128, 32),
        (2, 37, 70, 32),
        (3, 96, 402, 64),
        (1, 3, 5, 32),
    ]:
        width = columns + columns % 2
        values = draw(kind, (depth, width), depth)
        a = draws.standard_normal((depth, rows)).astype(np.float32)
        a[: depth // 2] *= 100
        groups = -(-depth // run)
        steps = columns if scales == "each" else 1
        scale = draws.uniform(1, 2, (groups, steps)).astype(np.float32)
        factor = np.repeat(scale, run, 0)[:depth] * np.ones(columns, np.float32)
        if scales is None:
            factor[:] = 1
        out = np.full((rows, columns + 2), 77, np.float32)
        call(f"rounded_rows_{kind}", out, columns + 2, a, 1, rows, rows, pack(kind, values), 0,
             width, depth, columns, scale if scales else None, run, steps, int(scales == "each"))  # fmt: skip
        expected, magnitude = multiply_rounded(a.T, values[:, :columns], factor)
        limit = (depth / 32 + 4) * 2.0**-23 * magnitude
        assert (np.abs(out[:, :columns] - expected) <= limit).all()
        assert (out[:, columns:] == 77).all()
    fact.value = known


@pytest.mark.parametrize("dot", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run,lines", [(32, 1), (128, 3), (None, 1)])
def test_rounded_columns(machine, kind, run, lines, dot):
    fact = ctypes.c_int32.in_dll(_library, "alula_has_int8_dot")
    known, fact.value = fact.value, min(dot, fact.value)
    draws = np.random.default_rng(2)
    for rows, columns, depth in [(1, 1, 128), (2, 9, 700), (3, 6, 1030), (1, 3, 6)]:
        values = draw(kind, (columns, depth), depth)
        a = draws.standard_normal((depth, rows)).astype(np.float32)
        a[: depth // 2] *= 100
        steps, groups = -(-depth // run) if run else 1, -(-columns // lines)
        scale = draws.uniform(1, 2, (groups, steps)).astype(np.float32)
        factor = np.repeat(np.repeat(scale, run or depth, 1)[:, :depth], lines, 0)[:columns]
        scratch = np.full((68 * rows + 16) * ((depth + 127) // 128) + 4, 77, np.float32)
        expected, magnitude = multiply_rounded(a.T, values.T, factor.T)
        limit = (depth / 32 + 4) * 2.0**-23 * magnitude
        for first in (columns // 2, 0):
            count = columns - first
            out = np.full((rows, count + 2), 77, np.float32)
            call(f"rounded_columns_{kind}", out, count + 2, a, 1, rows, rows, pack(kind, values),
                 first, depth, depth, count, scale, lines, steps, run or depth, 1 if run else 0,
                 scratch)  # fmt: skip
            assert (np.abs(out[:, :count] - expected[:, first:]) <= limit[:, first:]).all()
            assert (out[:, count:] == 77).all() and (scratch[-4:] == 77).all()
    fact.value = known


def test_rounded_numbers():
    """What is not finite stays so; what is tiny is zero; halves go to even."""
    values = np.ones((32, 128), np.int64)
    for x, expected in [(np.inf, np.nan), (np.nan, np.nan), (1e-38, 0), (0, 0)]:
        a = np.full((1, 32), x, np.float32)
        out = np.zeros((1, 128), np.float32)
        call("rounded_rows_i8", out, 128, a, 32, 1, 1, pack("i8", values), 0, 128, 32, 128, None, 1, 0, 0)  # fmt: skip
        np.testing.assert_array_equal(out, np.full((1, 128), expected, np.float32))
    a = np.zeros((1, 32), np.float32)
    a[0, :4] = [127, 0.5, 1.5, -2.5]
    call("rounded_rows_i8", out, 128, a, 32, 1, 1, pack("i8", values), 0, 128, 32, 128, None, 1, 0, 0)  # fmt: skip
    assert (out == 127 + 0 + 2 - 2).all()


@pytest.mark.parametrize("dot", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("scales", [None, "each", "steps", "lines"])
def test_rounded_block(machine, kind, by_rows, scales, dot):
    fact = ctypes.c_int32.in_dll(_library, "alula_has_int8_dot")
    known, fact.value = fact.value, min(dot, fact.value)
    draws = np.random.default_rng(2)
    for rows, depth, columns, column, step in [
        (1, 32, 32, 0, 1),
        (4, 37, 71, 6, 2),
        (9, 1100, 40, 32, 1),
        (17, 544, 5, 0, 3),
        (2, 3, 1, 2, 1),
    ]:
        width, a_step = column + columns + (column + columns) % 2, 1 if rows % 2 else 2
        values = draw(kind, (depth, width), depth)
        stored, distances = values, (width, 1)
        if not by_rows:
            line = depth + depth % 2
            stored = np.zeros((width, line), np.int64)
            stored[:, :depth] = values.T
            distances = (1, line)
        a = draws.standard_normal((rows, a_step * depth)).astype(np.float32)
        a[:, : depth // 2] *= 100
        run = 64 if rows % 2 else 32
        spans = {None: (1, 0, 1, 0), "each": (run, width, 1, 1), "steps": (run, 50, step, 1),
                 "lines": (run, 1, 1, 0)}[scales]  # fmt: skip
        scale = draws.uniform(1, 2, 4000).astype(np.float32)
        numbers = (
            np.arange(depth)[:, None] // spans[0] * spans[1]
            + np.arange(width) // spans[2] * spans[3]
        )
        factor = scale[numbers] if scales else np.ones((depth, width), np.float32)
        out = np.full((rows, columns + 2), 77, np.float32)
        room = 512 * 32 * 2 // 4 + 2 * 16 * 32 + rows * (512 // 4 + 48)
        scratch = Scratch(4 * room)
        call(f"rounded_block_{kind}", out, columns + 2, a, a_step * depth, a_step, rows,
             pack(kind, stored), *distances, depth, column, columns,
             scale if scales else None, *spans, scratch.bytes)  # fmt: skip
        scratch.check()
        there = slice(column, column + columns)
        left = np.ascontiguousarray(a[:, ::a_step][:, :depth])
        expected, magnitude = multiply_rounded(left, values[:, there], factor[:, there])
        limit = (depth / 32 + 4) * 2.0**-23 * magnitude
        assert (np.abs(out[:, :columns] - expected) <= limit).all()
        assert (out[:, columns:] == 77).all()
    fact.value = known


def test_rounded_numbers_of_many_rows():
    """What is not finite stays so, in its row alone; what is tiny is zero."""
    a = np.ones((8, 40), np.float32)
    a[1, 3], a[2, 35], a[3], a[4] = np.inf, np.nan, 1e-38, 0
    a[5, :4] = [127, 0.5, 1.5, -2.5]
    a[5, 4:] = 0
    values, scratch = np.ones((40, 32), np.int64), Scratch(4 * 20000)
    out = np.zeros((8, 32), np.float32)
    call("rounded_block_i8", out, 32, a, 40, 1, 8, pack("i8", values), 32, 1, 40, 0, 32, None,
         1, 0, 1, 0, scratch.bytes)  # fmt: skip
    expected = np.array([40, np.nan, np.nan, 0, 0, 127 + 0 + 2 - 2, 40, 40], np.float32)
    np.testing.assert_allclose(out, np.tile(expected[:, None], 32), rtol=1e-6)
