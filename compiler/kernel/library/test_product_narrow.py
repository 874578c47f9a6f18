"""Products of matrices of bf16 and bytes, for each kind of machine that the library
knows: bf16 against NumPy in double, bytes against 64-bit integers."""

import ctypes
import itertools
import random

import ml_dtypes
import numpy as np
import pytest
from native_library import Scratch, _convert, _library

BF16 = ml_dtypes.bfloat16
FACTS = ["alula_vector_bytes", "alula_has_bf16_dot", "alula_has_int8_dot"]
BEST = {name: ctypes.c_int32.in_dll(_library, name).value for name in FACTS}
# Vectors and whether there are dot instructions.
MACHINES = [(16, 0), (32, 0), (32, 1), (64, 0), (64, 1)]
TYPES = [(BF16, BF16)] + [(x, y) for x in (np.int8, np.uint8) for y in (np.int8, np.uint8)]
NAMES = {BF16: "bf16", np.int8: "i8", np.uint8: "ui8"}
SCRATCH = 4 * 32 * 256 + 256 * (4 * 256 + 64) + 4 * 1024


@pytest.fixture(params=MACHINES, ids=lambda m: f"{m[0]}{'-dot' * m[1]}")
def machine(request):
    width, dot = request.param
    if width > BEST["alula_vector_bytes"] or (dot and not BEST["alula_has_bf16_dot"]):
        pytest.skip("not on this machine")
    for name, value in zip(FACTS, (width, dot and width == 64, dot)):
        ctypes.c_int32.in_dll(_library, name).value = value
    yield
    for name, value in BEST.items():
        ctypes.c_int32.in_dll(_library, name).value = value


def memory(x):
    return x if x.flags.c_contiguous else x.T


def strides(x):
    return [stride // x.itemsize for stride in x.strides]


def product(types, a, b, c=None, segments=None, groups=None, panels=None, order=None):
    """As in test_product.py; a and b may lie in any order, or apart."""
    count, step = groups or (1, 0)
    m, n = a.shape[0] - (count - 1) * step, b.shape[1]
    out = np.float32 if types[0] == BF16 else np.uint32
    # What is not written stays as it is.
    wide = np.full((count * m, n + 3), 77, out)
    if c is not None:
        wide[:, :n] = c
    offsets = None if segments is None else np.array(segments, np.int64) * strides(a)[1]
    pieces = 1 if segments is None else len(segments)
    length = b.shape[0] // (pieces if order is None else max(order) + 1)
    b_offsets = None if order is None else np.array(order, np.int64) * length * strides(b)[0]
    scratch = Scratch(SCRATCH)
    scratch.bytes[:] = 0xFF
    tell = [] if types[0] == BF16 else [np.int32(types[1] == np.uint8)]
    function = getattr(_library, "alula_product_" + NAMES[types[0]])
    arguments = [
        wide, m * (n + 3), n + 3, None, step * strides(a)[0], *strides(a), offsets, pieces,
        length, None, *strides(b), 0 if panels is None else panels[0].size, b_offsets, count, m, n, np.int32(c is not None), *tell,
        scratch.bytes,
    ]  # fmt: skip
    converted = _convert(arguments)
    converted[3] = ctypes.c_void_p(a.ctypes.data)
    converted[10] = ctypes.c_void_p((b if panels is None else panels).ctypes.data)
    function(*converted)
    scratch.check()
    assert (wide[:, n:] == 77).all()
    return wide[:, :n]


def numbers(shape, kind, seed, order="C"):
    """The elements at the end of their memory, next to what must not be read."""
    draw = np.random.default_rng(seed)
    if kind == BF16:
        x = draw.uniform(-1, 1, shape).astype(BF16)
    else:
        info = np.iinfo(kind)
        x = draw.integers(info.min, info.max, shape, endpoint=True).astype(kind)
        x[draw.random(shape) < 0.2] = info.min
    if order == "S":  # Every other one of each dimension.
        room = np.zeros([2 * size for size in shape], kind)
        room[::2, ::2] = x
        return room[::2, ::2]
    return np.asarray(x, order=order)


def check(types, got, a, b, c=None):
    if types[0] == BF16:
        exact = a.astype(float) @ b.astype(float) + (0 if c is None else c.astype(float))
        scale = np.abs(a.astype(float)) @ np.abs(b.astype(float)) + (0 if c is None else np.abs(c))
        limit = (b.shape[0] + 2) * 2.0**-24 * scale
        assert (np.abs(got - exact) <= limit).all(), np.abs(got - exact).max()
        return
    exact = a.astype(np.int64) @ b.astype(np.int64)
    if c is not None:
        exact = exact + c.astype(np.int64)
    np.testing.assert_array_equal(got, exact.astype(np.uint32))


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "-".join(NAMES[x] for x in t))
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF", "SC", "CS", "SS"])
def test_product(machine, types, orders):
    sizes = itertools.product(
        [0, 1, 3, 7, 8, 13, 40, 300], [0, 1, 5, 16, 33, 64, 100], [0, 1, 2, 3, 4, 16, 37, 600, 1101]
    )
    for m, n, k in random.Random(str((types, orders))).sample(list(sizes), 70):
        a = numbers((m, k), types[0], 1, orders[0])
        b = numbers((k, n), types[1], 2, orders[1])
        check(types, product(types, a, b), a, b)


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "-".join(NAMES[x] for x in t))
@pytest.mark.parametrize("m,n,k", [(1, 40, 9), (2, 7, 130), (9, 40, 1300), (3, 70, 500)])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC"])
def test_adds(machine, types, m, n, k, orders):
    a, b = numbers((m, k), types[0], 1, orders[0]), numbers((k, n), types[1], 2, orders[1])
    kind = np.float32 if types[0] == BF16 else np.uint32
    c = np.random.default_rng(3).uniform(0, 9, (m, n)).astype(kind)
    check(types, product(types, a, b, c), a, b, c)


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "-".join(NAMES[x] for x in t))
@pytest.mark.parametrize("depth,count", [(1, 9), (3, 200), (64, 9), (301, 3), (1030, 2), (2, 70)])
@pytest.mark.parametrize("order", "CF")
def test_segments(machine, types, depth, count, order):
    # Segments of a overlap and stand in any order, as those of a convolution.
    a = numbers((10, depth + 3 * count), types[0], 1, order)
    segments = [3 * (count - 1 - s) for s in range(count)]
    b = numbers((depth * count, 50), types[1], 2)
    gathered = np.concatenate([a[:, s : s + depth] for s in segments], axis=1)
    check(types, product(types, a, b, segments=segments), gathered, b)
    # Those of b in another order, the first one twice.
    places = [*range(count - 1, 0, -1), count - 1]
    other = np.concatenate([b[s * depth : (s + 1) * depth] for s in places])
    check(types, product(types, a, b, segments=segments, order=places), gathered, other)


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "-".join(NAMES[x] for x in t))
@pytest.mark.parametrize("m", [1, 7, 20, 300])
@pytest.mark.parametrize("k", [30, 1111])
def test_groups(machine, types, m, k):
    # Rows of the groups overlap.
    a, b = numbers((m + 6, k), types[0], 1), numbers((k, 50), types[1], 2)
    rows = np.concatenate([a[g * 2 : g * 2 + m] for g in range(4)])
    check(types, product(types, a, b, groups=(4, 2)), rows, b)


@pytest.mark.parametrize("m", [1, 9])
def test_no_number_is_spread(machine, m):
    # What lies beside a row or a column does not join its sums.
    x = np.full((m, 6), np.nan, BF16)
    x[:, :3] = 1
    y = np.full((6, 40), np.inf, BF16)
    y[:3] = 2
    assert (product((BF16, BF16), x[:, :3], y[:3]) == 6).all()
    y = np.full((40, 6), np.inf, BF16)
    y[:, :3] = 2
    assert (product((BF16, BF16), x[:, :3], y[:, :3].T) == 6).all()


@pytest.mark.parametrize("m", [1, 9])
def test_subnormal_numbers(machine, m):
    # Half the smallest normal number times 2^100: itself, or zero.
    x, y = np.full((m, 4), 2.0**-127, BF16), np.full((4, 40), 2.0**100, BF16)
    got = product((BF16, BF16), x, y)
    dot = ctypes.c_int32.in_dll(_library, "alula_has_bf16_dot").value
    assert (got == (0 if dot else 2.0**-25)).all()


@pytest.mark.parametrize("m", [1, 9])
def test_infinite_numbers(machine, m):
    x, y = np.ones((m, 5), BF16), np.ones((5, 40), BF16)
    y[2, 7], y[3, 9], y[4, 9], y[1, 11] = np.inf, np.inf, -np.inf, np.nan
    got = product((BF16, BF16), x, y)
    assert np.isposinf(got[:, 7]).all() and np.isnan(got[:, [9, 11]]).all()
    assert (np.delete(got, [7, 9, 11], axis=1) == 5).all()


def in_panels(whole, group):
    rows, columns = whole.shape[0] // group, whole.shape[1] // 32
    return whole.reshape(rows, group, columns, 32).transpose(2, 0, 3, 1).copy()


@pytest.mark.parametrize("types", TYPES, ids=lambda t: "-".join(NAMES[x] for x in t))
@pytest.mark.parametrize("order", "CFS")
def test_panels(machine, types, order):
    """Groups of rows in 32 columns each; bytes have the sign that a's lack."""
    group = 2 if types[0] == BF16 else 4
    sizes = [(1, 40, 9), (2, 70, 1301), (3, 33, 64), (9, 100, 2053), (300, 65, 77), (1100, 40, 30)]
    for (m, n, k), add in zip(sizes, itertools.cycle([True, False])):
        a, b = numbers((m, k), types[0], 1, order), numbers((k, n), types[1], 2)
        bits = b.view(np.uint16 if types[0] == BF16 else np.uint8)
        if types[0] != BF16 and types[0] == types[1]:
            bits = bits ^ 0x80
        spare = [(0, -k % group), (0, -n % 32)]
        whole = np.pad(bits, spare, constant_values=9)
        panels = in_panels(whole, group)
        kind = np.float32 if types[0] == BF16 else np.uint32
        c = np.full((m, n), 3, kind) if add else None
        check(types, product(types, a, b, c, panels=panels), a, b, c)


@pytest.mark.parametrize("depth,count", [(4, 9), (8, 70), (64, 9), (196, 3), (1032, 2)])
@pytest.mark.parametrize("columns", [30, 64, 70, 83])
@pytest.mark.parametrize("groups,m", [(1, 9), (7, 7), (3, 14), (5, 1), (2, 33), (300, 2)])
def test_segments_of_panels(machine, depth, count, columns, groups, m):
    """As convolutions have them: segments are whole groups of rows of the panels."""
    step = m + 2
    a = numbers((step * (groups - 1) + m, depth + 4 * count), BF16, 1)
    segments = [4 * (count - 1 - s) for s in range(count)]
    b = numbers((depth * count, columns), BF16, 2)
    panels = in_panels(np.pad(b.view(np.uint16), [(0, 0), (0, -columns % 32)]), 2)
    rows = np.concatenate([a[g * step : g * step + m] for g in range(groups)])
    gathered = np.concatenate([rows[:, s : s + depth] for s in segments], axis=1)
    got = product((BF16, BF16), a, b, segments=segments, groups=(groups, step), panels=panels)
    check((BF16, BF16), got, gathered, b)
