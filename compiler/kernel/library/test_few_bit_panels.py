"""Integers of few bits in panels, as kernels widen and multiply them, against NumPy."""

import ctypes

import numpy as np
import pytest
from native_library import Scratch, _library
from test_few_bits import KINDS, call, draw, machine, multiply_rounded, pack

_ = machine
PANEL = 32


def lay_out(kind, values):
    """Bytes of panels, and how many a panel has; columns and terms to spare are zero."""
    group = 8 if kind.endswith("4") else 4
    depth, columns = values.shape
    shape = (-(-depth // group) * group, -(-columns // PANEL) * PANEL)
    padded = np.zeros(shape, np.int64)
    padded[:depth, :columns] = values
    lines = padded.reshape(-1, group, shape[1] // PANEL, PANEL).transpose(2, 0, 3, 1)
    codes = lines - KINDS[kind][0]
    packed = pack("ui4" if group == 8 else "ui8", np.ascontiguousarray(codes))
    return packed, packed.size // len(lines)


def draw_scales(form, depth, columns, run, seed=3):
    """The numbers, how they lie (lines, line, panel, step), and each element's."""
    draws, lines, panels = np.random.default_rng(seed), -(-depth // run), -(-columns // PANEL)
    if form == "panels":
        scale = draws.uniform(1, 2, (panels, lines, PANEL)).astype(np.float32)
        each = scale.transpose(1, 0, 2).reshape(lines, panels * PANEL)[:, :columns]
        return scale, (run, PANEL, lines * PANEL, 1), np.repeat(each, run, 0)[:depth]
    if form == "rows":
        scale = draws.uniform(1, 2, (lines, columns)).astype(np.float32)
        return scale, (run, columns, PANEL, 1), np.repeat(scale, run, 0)[:depth]
    if form == "columns":
        scale = draws.uniform(1, 2, columns).astype(np.float32)
        return scale, (depth, 0, PANEL, 1), np.tile(scale, (depth, 1))
    if form == "lines":
        scale = draws.uniform(1, 2, lines).astype(np.float32)
        each = np.repeat(scale, run)[:depth, None] + np.zeros(columns, np.float32)
        return scale, (run, 1, 0, 0), each
    return None, (1, 0, 0, 0), np.ones((depth, columns), np.float32)


def draw_zeros(form, depth, columns, run, kind):
    """Zero points that lie as scales do, as a call has them, and each element's."""
    zeros, _, each = draw_scales(form, depth, columns, run, 4)
    if kind == "none" or zeros is None:
        return (None, 0), np.zeros((depth, columns), np.float32)
    by, offset, types = ZEROS[kind]
    zeros, each = (np.rint(by * numbers + offset) for numbers in (zeros, each))
    return (zeros.astype(types), list(ZEROS).index(kind)), each.astype(np.float32)


# How far from one to another, where they begin, and their type, as numbered in few_bits.h.
ZEROS = {"floats": (9, 0, "f4"), "unsigned": (200, -160, "u1"), "signed": (200, -320, "i1")}
FORMS = ["panels", "rows", "columns", "lines", None]
FORMS_AND_ZEROS = [
    (form, kind)
    for form in FORMS
    for kind in ("none", *ZEROS)
    if kind in ("none", "floats") or form == "panels"
]
SIZES = [(1, 32, 32, 32), (2, 37, 71, 32), (3, 1000, 100, 64), (1, 3, 5, 32), (3, 600, 33, 96)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form, zero_kind", FORMS_AND_ZEROS)
def test_product(machine, kind, form, zero_kind):
    for rows, depth, columns, run in [*SIZES, (1, 100, 64, 8), (2, 0, 40, 32)]:
        values = draw(kind, (depth, columns), depth)
        a = np.random.default_rng(2).standard_normal((depth, rows + 1)).astype(np.float32)
        scale, numbers, factor = draw_scales(form, depth, columns, run)
        zeros, each = draw_zeros(form, depth, columns, run, zero_kind)
        packed, panel = lay_out(kind, values)
        out = np.full((rows, columns + 2), 77, np.float32)
        scratch = Scratch(4 * rows * (depth + 31 & -32))
        call(f"panel_product_{kind}", out, columns + 2, a, 1, rows + 1, rows, packed, panel,
             depth, columns, scale, *numbers, *zeros, scratch.bytes)  # fmt: skip
        scratch.check()
        left, right = a[:, :rows].T.astype(float), (values - each) * factor.astype(float)
        limit = (depth + 4) * 2.0**-24 * (np.abs(left) @ np.abs(right))
        assert (np.abs(out[:, :columns] - left @ right) <= limit).all()
        assert (out[:, columns:] == 77).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form, zero_kind", FORMS_AND_ZEROS)
def test_widen(machine, kind, form, zero_kind):
    for depth, columns, run, first, terms in [
        (64, 70, 32, 0, 64),
        (200, 32, 64, 24, 176),
        (37, 5, 8, 8, 29),
        (96, 96, 96, 48, 16),
    ]:
        values = draw(kind, (depth, columns), depth)
        scale, numbers, factor = draw_scales(form, depth, columns, run)
        zeros, each = draw_zeros(form, depth, columns, run, zero_kind)
        packed, panel = lay_out(kind, values)
        panels = -(-columns // PANEL)
        out = np.full((panels, terms + 1, PANEL), 77, np.float32)
        call(f"panel_widen_{kind}", out, out[0].size, packed, panel, first, terms, columns,
             scale, *numbers, *zeros)  # fmt: skip
        got = out[:, :terms].transpose(1, 0, 2).reshape(terms, -1)[:, :columns]
        there = slice(first, first + terms)
        expected = (values[there] - each[there]).astype(np.float32) * factor[there]
        np.testing.assert_array_equal(got, expected)
        assert (out[:, terms:] == 77).all()


@pytest.mark.parametrize("dot", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form, zero_kind", FORMS_AND_ZEROS)
@pytest.mark.parametrize("name", ["rounded", "block"])
def test_rounded(machine, kind, form, zero_kind, name, dot):
    fact = ctypes.c_int32.in_dll(_library, "alula_has_int8_dot")
    known, fact.value = fact.value, min(dot, fact.value)
    for rows, depth, columns, run in [*SIZES, (9, 1100, 40, 32), (17, 544, 5, 544)]:
        values = draw(kind, (depth, columns), depth)
        a = np.random.default_rng(2).standard_normal((rows, 2 * depth)).astype(np.float32)
        a[:, :depth] *= 100
        scale, numbers, factor = draw_scales(form, depth, columns, run)
        zeros, each = draw_zeros(form, depth, columns, run, zero_kind)
        packed, panel = lay_out(kind, values)
        room = rows * (depth + 31 & -32)
        if name == "block":
            room = 512 * 32 * 2 // 4 + 2 * 16 * 32 + rows * (512 // 4 + 48)
        scratch = Scratch(4 * room)
        out = np.full((rows, columns + 2), 77, np.float32)
        call(f"panel_{name}_{kind}", out, columns + 2, a, 2 * depth, 2, rows, packed, panel,
             depth, columns, scale, *numbers, *zeros, scratch.bytes)  # fmt: skip
        scratch.check()
        expected, magnitude = multiply_rounded(
            np.ascontiguousarray(a[:, ::2]), values - each, factor
        )
        limit = (depth / 32 + 4) * 2.0**-23 * magnitude
        assert (np.abs(out[:, :columns] - expected) <= limit).all()
        assert (out[:, columns:] == 77).all()
    fact.value = known


@pytest.mark.parametrize("name", ["rounded", "block"])
def test_rounded_numbers(name):
    """What is not finite stays so, in its row alone; what is tiny is zero."""
    a = np.ones((8, 40), np.float32)
    a[1, 3], a[2, 35], a[3], a[4] = np.inf, np.nan, 1e-38, 0
    a[5, :4] = [127, 0.5, 1.5, -2.5]
    a[5, 4:] = 0
    packed, panel = lay_out("i8", np.ones((40, 32), np.int64))
    scratch, out = Scratch(4 * 20000), np.zeros((8, 32), np.float32)
    call(f"panel_{name}_i8", out, 32, a, 40, 1, 8, packed, panel, 40, 32, None,
         1, 0, 0, 0, None, 0, scratch.bytes)  # fmt: skip
    expected = np.array([40, np.nan, np.nan, 0, 0, 127 + 0 + 2 - 2, 40, 40], np.float32)
    np.testing.assert_allclose(out, np.tile(expected[:, None], 32), rtol=1e-6)
