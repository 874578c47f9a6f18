"""Products with lists of elements against NumPy: any order, places that are there
twice, negative ones and ones that are nowhere."""

import numpy as np
import pytest
from native_library import call

TYPES = [np.float32, np.float64]


def draw(m, k, count, dtype, seed):
    random = np.random.default_rng(seed)
    indices = np.stack(
        [random.integers(-m - 1, m + 2, count), random.integers(-k - 1, k + 2, count)], 1
    ).astype(np.int32)
    if seed % 2:
        indices = indices[np.argsort(indices[:, 0], kind="stable")]
    return random.standard_normal(count).astype(dtype), indices


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


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m,k,n,count", [(1, 1, 1, 3), (7, 5, 3, 40), (30, 20, 16, 200), (30, 41, 33, 500), (9, 8, 70, 100), (4, 3, 5, 0), (0, 3, 5, 2), (3, 0, 5, 4)])  # fmt: skip
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("seed", [0, 1])
def test_product(dtype, m, k, n, count, transposed, seed):
    values, indices = draw(m, k, count, dtype, seed)
    b = np.random.default_rng(9).standard_normal((k, n)).astype(dtype)
    listed = np.ascontiguousarray(indices[:, ::-1]) if transposed else indices
    c = np.full((m, n), 77, dtype)
    first = n // 2
    for begin, width in [(0, first), (first, n - first)]:
        call("sparse_product", dtype, c, m, n, values, listed, count, b, k, np.int32(transposed),
             begin, width)  # fmt: skip
    exact = dense(values, indices, m, k) @ b.astype(float)
    np.testing.assert_allclose(c, exact, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", TYPES)
def test_not_a_number_stays(dtype):
    """A column that is nowhere has zeros: infinity times them is no number."""
    values, indices = np.array([np.inf, 1], dtype), np.array([[0, 9], [1, 0]], np.int32)
    b, c = np.ones((2, 40), dtype), np.empty((3, 40), dtype)
    call("sparse_product", dtype, c, 3, 40, values, indices, 2, b, 2, np.int32(0), 0, 40)
    assert np.isnan(c[0]).all() and (c[1] == 1).all() and (c[2] == 0).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "m,n,p,count", [(5, 7, 1, 30), (5, 4, 16, 20), (3, 9, 37, 50), (2, 2, 0, 3)]
)
def test_sampled(dtype, m, n, p, count):
    _, indices = draw(m, n, count, dtype, 3)
    random = np.random.default_rng(4)
    a, b = (
        random.standard_normal((m, p)).astype(dtype),
        random.standard_normal((n, p)).astype(dtype),
    )
    out = np.full(count, 77, dtype)
    half = count // 2
    for begin, size in [(0, half), (half, count - half)]:
        call("sparse_sampled", dtype, out, a, m, b, n, p, indices, begin, size)
    wrapped, there = places(indices, [m, n])
    i, j = np.where(there, wrapped, 0).T
    exact = np.where(there.all(1), (a.astype(float)[i] * b[j]).sum(1), 0)
    np.testing.assert_allclose(out, exact, atol=1e-4 if dtype == np.float32 else 1e-12)
