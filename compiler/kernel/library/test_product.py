"""Products of matrices against NumPy in long double, of integers against NumPy's, which wrap."""

import ctypes
import mmap

import numpy as np
import pytest
from native_library import call

SCRATCH = (128 * 512 + 64) * 8
TYPES = [np.float32, np.float64, np.int32, np.int64]


def memory(x):
    return x if x.flags.c_contiguous else x.T


def to_panels(b):
    width = 128 // b.itemsize
    wide = np.pad(b, ((0, 0), (0, -b.shape[1] % width)))
    return np.ascontiguousarray(wide.reshape(len(b), wide.shape[1] // width, width).swapaxes(0, 1))


def product(a, b, c=None, segments=None, groups=None, panels=False, order=None):
    """a of (m, k) and b of (k, n) as they lie, or b in panels; `segments` are the
    columns of a at which pieces of equal length begin; `groups` are numbers of
    rows apart; with an `order`, piece i of a meets piece order[i] of b."""
    count, step = groups or (1, 0)
    m, n = a.shape[0] - (count - 1) * step, b.shape[1]
    out = np.full((count * m, n), unwritten(a.dtype), a.dtype) if c is None else c.copy()
    size = a.itemsize
    a_row, a_column = (stride // size for stride in a.strides)
    b_row, b_column = (stride // size for stride in b.strides)
    offsets = None if segments is None else np.array(segments, np.int64) * a_column
    pieces = 1 if segments is None else len(segments)
    length = b.shape[0] // (pieces if order is None else max(order) + 1)
    b_step = 128 // size if panels else b_row
    b_offsets = None if order is None else np.array(order, np.int64) * length * b_step
    scratch = np.empty(SCRATCH + 64, np.uint8)
    scratch = scratch[-scratch.ctypes.data % 64 :]
    call(
        "product", a.dtype, out, m * n, n, memory(a), step * a_row, a_row, a_column, offsets,
        pieces, length, to_panels(b) if panels else memory(b),
        *((0, 0, b.shape[0] * 128 // size) if panels else (b_row, b_column, 0)), b_offsets,
        count, m, n, np.int32(c is not None), scratch,
    )  # fmt: skip
    return out


def unwritten(dtype):
    return np.nan if np.issubdtype(dtype, np.floating) else 77


def exact(x):
    return x.astype(np.longdouble) if np.issubdtype(x.dtype, np.floating) else x


def check(got, want, depth):
    if not np.issubdtype(got.dtype, np.floating):
        np.testing.assert_array_equal(got, want)
        return
    limit = 2 * np.finfo(got.dtype).eps * max(depth, 1) ** 0.5 * np.sqrt(max(depth, 1))
    np.testing.assert_allclose(got, want, rtol=0, atol=limit)


def uniform(shape, dtype, seed, order="C"):
    draws = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        x = draws.uniform(-1, 1, shape).astype(dtype)
    else:
        info = np.iinfo(dtype)
        x = draws.integers(info.min, info.max, shape, dtype, endpoint=True)
    return np.asarray(x, order=order)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 40])
@pytest.mark.parametrize("n", [0, 1, 5, 16, 33, 64, 100])
@pytest.mark.parametrize("k", [0, 1, 16, 600])
def test_product(dtype, orders, m, n, k):
    a = uniform((m, k), dtype, 1, orders[0])
    b = uniform((k, n), dtype, 2, orders[1])
    want = exact(a) @ exact(b)
    check(product(a, b), want, k)


# More columns than lie in scratch at once, a whole number of panels or not.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [64, 256, 288, 300, 530])
@pytest.mark.parametrize("k", [7, 300])
def test_many_panels(dtype, n, k):
    a, b = uniform((20, k), dtype, 1), uniform((k, n), dtype, 2)
    want = exact(a) @ exact(b)
    check(product(a, b), want, k)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("m", [23, 24, 25, 26, 27, 38, 39, 73])
@pytest.mark.parametrize("n,k", [(64, 15), (67, 1100), (300, 257), (520, 513)])
def test_many_rows(dtype, order, m, n, k):
    a, b = uniform((m, k), dtype, 1), uniform((k, n), dtype, 2, order)
    want = exact(a) @ exact(b)
    check(product(a, b), want, k)
    c = uniform((m, n), dtype, 3)
    check(product(a, b, c), c + want, k + 1)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("n", [512, 1000, 1001])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 21])
def test_wide_rows(dtype, m, n, k):
    a, b = uniform((m, k), dtype, 1), uniform((k, n), dtype, 2)
    want = exact(a) @ exact(b)
    check(product(a, b), want, k)
    c = uniform((m, n), dtype, 3)
    check(product(a, b, c), c + want, k + 1)


# A last vector lies over the one before it: nothing is summed twice.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [8, 15, 16, 17, 31, 47, 63, 65, 79, 130])
@pytest.mark.parametrize("k", [1, 3, 4, 6, 8, 10, 15, 16, 17, 31, 63, 100])
@pytest.mark.parametrize("order", ["C", "F"])
def test_single_rows(dtype, n, k, order):
    a, b = uniform((1, k), dtype, 1), uniform((k, n), dtype, 2, order)
    want = a.astype(np.longdouble) @ b.astype(np.longdouble)
    check(product(a, b), want, k)
    c = uniform((1, n), dtype, 3)
    check(product(a, b, c), c + want, k + 1)
    for place in (0, k // 2, k - 1):
        b[place, n - 1] = np.inf
        got = product(a, b)[0]
        assert got[n - 1] == np.copysign(np.inf, a[0, place])
        check(got[: n - 1], want[0, : n - 1], k)
        b[place, n - 1] = 0


def before_a_wall(x):
    """x where its last byte is followed by a page that nobody may touch."""
    page = mmap.PAGESIZE
    size = -(-x.nbytes // page) * page
    memory = np.frombuffer(mmap.mmap(-1, size + page), np.uint8)
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(memory.ctypes.data + size), ctypes.c_size_t(page), 0) == 0
    moved = memory[size - x.nbytes : size].view(x.dtype).reshape(x.shape)
    moved[...] = x
    return moved


# Columns that fill no vector: what lies behind them may be read, not what lies
# behind the last.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 3, 10, 19])
@pytest.mark.parametrize("k", [1, 2, 5, 64])
def test_ends_of_rows(dtype, n, k):
    a = uniform((2, k), dtype, 1)
    b = before_a_wall(uniform((k, n), dtype, 2))
    want = exact(a) @ exact(b)
    check(product(a, b), want, k)


# The last few columns are summed along the depth, whose end may be no vector.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 9, 15, 34, 37, 52])
@pytest.mark.parametrize("k", [4, 7, 8, 16, 17, 61, 263, 530])
@pytest.mark.parametrize("b_order", ["C", "F", "panels"])
def test_few_columns_at_the_end(dtype, n, k, b_order):
    panels = b_order == "panels"
    b = uniform((k, n), dtype, 2, "C" if panels else b_order)
    for m in (4, 5, 6, 7, 11, 16):
        a = before_a_wall(uniform((m, k), dtype, 1))
        want = exact(a) @ exact(b)
        check(product(a, b, panels=panels), want, k)
        c = uniform((m, n), dtype, 3)
        check(product(a, b, c, panels=panels), c + want, k + 1)


def test_infinity_stays_where_it_is():
    a, b = uniform((9, 39), np.float32, 1), uniform((39, 35), np.float32, 2)
    a[3, 25], a[4, 38], b[25, 34] = np.inf, -np.inf, np.nan
    np.testing.assert_allclose(product(a, b), a.astype(float) @ b.astype(float), atol=1e-5)


@pytest.mark.parametrize("m,n,k", [(1, 40, 9), (9, 40, 300), (3, 70, 500)])
def test_adds(m, n, k):
    a, b = uniform((m, k), np.float32, 1), uniform((k, n), np.float32, 2)
    c = uniform((m, n), np.float32, 3)
    want = c.astype(float) + a.astype(float) @ b.astype(float)
    check(product(a, b, c), want, k)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m", [1, 3, 8, 13])
@pytest.mark.parametrize("n", [1, 16, 33, 100])
@pytest.mark.parametrize("k", [0, 1, 16, 600])
def test_panels(dtype, m, n, k):
    a, b = uniform((m, k), dtype, 1), uniform((k, n), dtype, 2)
    want = exact(a) @ exact(b)
    check(product(a, b, panels=True), want, k)
    c = uniform((m, n), dtype, 3)
    check(product(a, b, c, panels=True), c + want, k + 1)


@pytest.mark.parametrize("depth,count", [(1, 9), (3, 200), (64, 9), (300, 3)])
@pytest.mark.parametrize("n", [50, 35, 44])
def test_segments(depth, count, n):
    # Segments of a overlap and stand in any order, as those of a convolution.
    a = uniform((10, depth + 3 * count), np.float32, 1)
    segments = [3 * (count - 1 - s) for s in range(count)]
    b = uniform((depth * count, n), np.float32, 2)
    gathered = np.concatenate([a[:, s : s + depth] for s in segments], axis=1)
    check(product(a, b, segments=segments), gathered.astype(float) @ b.astype(float), depth * count)


# Pieces of b in another order than those of a, some of them twice, some not at all:
# as it lies, transposed and in panels; few columns too.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["C", "F", "panels"])
@pytest.mark.parametrize("depth,order", [(1, [2, 0, 1]), (5, [3, 1]), (64, [1, 3, 0]), (200, [3, 0]), (3, [*range(70, 0, -1)]), (40, [1])])  # fmt: skip
@pytest.mark.parametrize("n", [1, 3, 6, 8, 32, 50, 64, 100, 300])
def test_pieces_of_b(dtype, layout, depth, order, n):
    a = uniform((10, depth + 3 * len(order)), dtype, 1)
    segments = [3 * (len(order) - 1 - s) for s in range(len(order))]
    b = uniform((depth * (max(order) + 1), n), dtype, 2, "F" if layout == "F" else "C")
    left = np.concatenate([a[:, s : s + depth] for s in segments], axis=1)
    right = np.concatenate([b[s * depth : (s + 1) * depth] for s in order])
    want = exact(left) @ exact(right)
    got = product(a, b, segments=segments, panels=layout == "panels", order=order)
    check(got, want, depth * len(order))


# Tiles of rows end in one group and begin in another.
@pytest.mark.parametrize("m", [1, 2, 3, 5, 7, 10, 12, 13, 20, 24, 31])
def test_groups(m):
    # Rows of the groups overlap.
    a, b = uniform((m + 6, 30), np.float32, 1), uniform((30, 50), np.float32, 2)
    want = np.concatenate([a[g * 2 : g * 2 + m] for g in range(4)]).astype(float) @ b.astype(float)
    check(product(a, b, groups=(4, 2)), want, 30)


# A few rows, columns and steps: b is read to its end and no further, c has the
# rows that are wanted and what was behind them.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 9])
def test_small(dtype, order, m, n):
    for k in (1, 2, 3, 8, 24, 63, 64, 65):
        a = uniform((m, k), dtype, 1, order)
        b = before_a_wall(uniform((k, n), dtype, 2))
        want = exact(a) @ exact(b)
        whole = before_a_wall(np.full((m, n), unwritten(dtype), dtype))
        scratch = np.full(SCRATCH + 64, 0xFF, np.uint8)
        scratch = scratch[-scratch.ctypes.data % 64 :]
        size = a.itemsize
        for c_row, add in ((n, 0), (n, 1), (n + 2, 0)):
            room = np.full((m + 1, c_row), 7, dtype)
            out = whole if c_row == n and not add else room
            call(
                "product", dtype, out, 0, c_row, memory(a), 0, *(s // size for s in a.strides),
                None, 1, k, b, n, 1, 0, None, 1, m, n, np.int32(add), scratch,
            )  # fmt: skip
            check(out[:m, :n], want + 7 * add, k + 1)
            assert (room[m:] == 7).all() and (room[:, n:] == 7).all()
