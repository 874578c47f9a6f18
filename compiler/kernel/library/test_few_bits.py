"""Integers of few bits times scales, as kernels widen and multiply them, against
NumPy."""

import ctypes
import itertools
import random

import numpy as np
import pytest
from native_library import _convert, _library

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
