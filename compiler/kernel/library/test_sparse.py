"""Products with lists of elements against NumPy: any order, places that are there
twice, negative ones and ones that are nowhere, batches, any number of parts."""

import numpy as np
import pytest
from native_library import call

TYPES = [np.float32, np.float64]
SHAPES = [(1, 1, 1, 3), (7, 5, 3, 40), (30, 20, 16, 200), (30, 41, 33, 500), (9, 8, 70, 100), (4, 3, 5, 0), (0, 3, 5, 2), (3, 0, 5, 4), (200, 50, 1, 900), (50, 9, 7, 30), (300, 7, 12, 2), (6, 40, 129, 700)]  # fmt: skip


def draw(m, k, count, dtype, seed):
    """Of an odd seed in order of rows, those that are none of the matrix last."""
    random = np.random.default_rng(seed)
    rows, columns = random.integers(-m - 1, m + 2, count), random.integers(-k - 1, k + 2, count)
    if seed % 3 == 1:  # One row has almost all.
        rows = np.where(random.random(count) < 0.9, m // 2, rows)
    indices = np.stack([rows, columns], 1).astype(np.int32)
    if seed % 2:
        wrapped = np.where(rows < 0, rows + m, rows)
        indices = indices[np.argsort(np.where(wrapped < 0, m + 9, wrapped), kind="stable")]
    return random.standard_normal(count).astype(dtype), np.ascontiguousarray(indices)


def places(indices, sizes):
    wrapped = np.where(indices < 0, indices + sizes, indices)
    return wrapped, (wrapped >= 0) & (wrapped < sizes)


def dense(values, indices, m, k):
    wrapped, there = places(indices, [m, k])
    matrix = np.zeros((m, k))
    for value, (i, j), ok in zip(values, wrapped, there.all(1), strict=True):
        if ok:
            matrix[i, j] += value
    return matrix


def multiply(values, indices, b, m, transposed=0, parts=1, with_copies=False):
    """As a kernel does: all parts of a step before the next step."""
    batch, count = values.shape
    _, k, n = b.shape
    c = np.full((batch, m, n), 77, values.dtype)
    order = np.full((batch, parts), 5, np.int32)
    copies = np.full((batch, parts, m, n), 66, values.dtype) if with_copies else None
    flag = np.int32(transposed)
    every = [(i, p, parts) for i in range(batch) for p in range(parts)][::-1]
    for part in every:
        call("sparse_order", None, order, m, indices, count, flag, *part)
    for part in every:
        call("sparse_product", values.dtype, c, m, n, values, indices, count, b, k, flag, order,
             copies, *part)  # fmt: skip
    for part in every if with_copies else []:
        call("sparse_join", values.dtype, c, m, n, order, copies, *part)
    return c, order


def tolerance(dtype):
    return 1e-4 if dtype == np.float32 else 1e-12


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m,k,n,count", SHAPES)
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_product(dtype, m, k, n, count, transposed, seed):
    lists = [draw(m, k, count, dtype, seed + 6 * i) for i in range(2)]
    values, indices = (np.stack(part) for part in zip(*lists, strict=True))
    b = np.random.default_rng(9).standard_normal((2, k, n)).astype(dtype)
    listed = np.ascontiguousarray(indices[..., ::-1]) if transposed else indices
    exact = np.stack([dense(v, i, m, k) for v, i in zip(values, indices, strict=True)]) @ b
    for parts, with_copies in [(1, False), (3, False), (8, True)]:
        c, order = multiply(values, listed, b, m, transposed, parts, with_copies)
        np.testing.assert_allclose(c, exact, atol=tolerance(dtype))
        if seed % 2:
            assert order.all()
        call("sparse_product", dtype, c, m, n, values, listed, count, b, k, np.int32(transposed),
             None, None, 1, 0, 1)  # fmt: skip
        np.testing.assert_allclose(c, exact, atol=tolerance(dtype))


@pytest.mark.parametrize("at", [0, 8, 63, 64, 500, 996, 998])
@pytest.mark.parametrize("transposed", [0, 1])
def test_what_is_out_of_order_is_found(at, transposed):
    """Wherever it is, in one part and between parts; equal rows are in order."""
    indices = np.zeros((1, 1000, 2), np.int32)
    indices[0, :, transposed] = np.arange(1000) // 3 * 3
    for parts in (1, 7):
        order = np.zeros((1, parts), np.int32)
        for late in (False, True):
            if late:
                indices[0, at, transposed] = indices[0, at + 1, transposed] + 1
            for part in range(parts):
                call("sparse_order", None, order, 2000, indices, 1000, np.int32(transposed), 0,
                     part, parts)  # fmt: skip
            assert order.all() != late
            indices[0, :, transposed] = np.arange(1000) // 3 * 3


@pytest.mark.parametrize("count", [7, 5000])
def test_parts_have_as_much_to_do(count):
    """What one row of many has goes to one part; else nobody has much more than his
    share of rows and places."""
    m, parts = 1000, 8
    rows = np.sort(np.random.default_rng(1).integers(0, m, count))
    rows[count // 2 :] = m - 1
    indices = np.stack([rows, rows], 1).astype(np.int32)[None]
    order, b = np.ones((1, parts), np.int32), np.ones((m, 1))
    written = []
    for part in range(parts):
        c = np.full((m, 1), 77.0)
        call("sparse_product", np.float64, c, m, 1, np.ones(count), indices, count, b, m,
             np.int32(0), order, None, 0, part, parts)  # fmt: skip
        mine = np.flatnonzero(c[:, 0] != 77)
        written.append(mine)
        done = len(mine) + np.isin(rows[: count // 2], mine).sum()
        assert done <= (m + count) // parts + np.bincount(rows[: count // 2]).max() + parts
    assert np.array_equal(np.concatenate(written), np.arange(m))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 3, 6, 40])
def test_not_a_number_stays(dtype, n):
    """A column that is nowhere has zeros: infinity times them is no number."""
    values = np.array([[np.inf, 1]], dtype)
    for indices in ([[[0, 9], [1, 0]]], [[[1, 0], [0, 9]]]):
        order = slice(None) if indices[0][0][0] == 0 else slice(None, None, -1)
        c, _ = multiply(np.ascontiguousarray(values[:, order]), np.array(indices, np.int32),
                        np.ones((1, 2, n), dtype), 3)  # fmt: skip
        assert np.isnan(c[0, 0]).all() and (c[0, 1] == 1).all() and (c[0, 2] == 0).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m,k,n,count", SHAPES)
@pytest.mark.parametrize("parts", [1, 5])
def test_rows_product(dtype, m, k, n, count, parts):
    lists = [draw(m, k, count, dtype, seed) for seed in (2, 5)]
    values = np.stack([v for v, _ in lists])
    columns = np.ascontiguousarray(np.stack([i[:, 1] for _, i in lists]))
    random = np.random.default_rng(3)
    # Some places before the first row and after the last one.
    starts = np.sort(random.integers(0, count + 1, (2, m + 1)), 1).astype(np.int32)
    b = random.standard_normal((2, k, n)).astype(dtype)
    c = np.full((2, m, n), 77, dtype)
    for part in range(parts):
        for matrix in range(2):
            call("sparse_rows_product", dtype, c, m, n, values, starts, columns, count, b, k,
                 matrix, part, parts)  # fmt: skip
    for i in range(2):
        rows = np.searchsorted(starts[i], np.arange(count), side="right") - 1
        rows = np.where(rows < 0, m, rows)
        pairs = np.stack([rows, columns[i]], 1)
        np.testing.assert_allclose(
            c[i], dense(values[i], pairs, m, k) @ b[i].astype(float), atol=tolerance(dtype)
        )


def test_starts_that_are_nowhere_are_not_read():
    starts = np.array([[-5, 2, 90, 1, 1 << 30]], np.int32)
    columns, values, b = np.zeros((1, 4), np.int32), np.ones((1, 4)), np.ones((1, 1, 2))
    for parts in (1, 2, 3):
        c = np.zeros((1, 4, 2))
        for part in range(parts):
            call("sparse_rows_product", np.float64, c, 4, 2, values, starts, columns, 4, b, 1, 0,
                 part, parts)  # fmt: skip
        assert np.isfinite(c).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "m,n,p,count", [(5, 7, 1, 30), (5, 4, 16, 20), (3, 9, 37, 50), (2, 2, 0, 3)]
)
def test_sampled(dtype, m, n, p, count):
    indices = np.stack([draw(m, n, count, dtype, seed)[1] for seed in (2, 3)])
    random = np.random.default_rng(4)
    a = random.standard_normal((2, m, p)).astype(dtype)
    b = random.standard_normal((2, n, p)).astype(dtype)
    out = np.full((2, count), 77, dtype)
    for part in range(3):
        for matrix in range(2):
            call("sparse_sampled", dtype, out, a, m, b, n, p, indices, count, matrix, part, 3)
    for q in range(2):
        wrapped, there = places(indices[q], [m, n])
        i, j = np.where(there, wrapped, 0).T
        exact = np.where(there.all(1), (a[q].astype(float)[i] * b[q][j]).sum(1), 0)
        np.testing.assert_allclose(out[q], exact, atol=tolerance(dtype))
