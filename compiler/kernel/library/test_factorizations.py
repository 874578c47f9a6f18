"""Cholesky, triangular and tridiagonal systems, LU and QR against their
definitions and LAPACK."""

import itertools

import numpy as np
import pytest
import scipy.linalg
from native_library import (
    TYPES,
    adjoint,
    call,
    call_with_scratch,
    epsilon,
    random_matrix,
    size,
    wide,
)

SIZES = [0, 1, 2, 3, 17, 64, 130, 161]
SHAPES = [
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 5),
    (5, 1),
    (3, 2),
    (17, 40),
    (40, 17),
    (64, 64),
    (130, 70),
    (180, 301),
    (290, 310),
]


def qr_scratch(m, n, dtype, name="qr"):
    return size(f"{name}_scratch_bytes", m, n, dtype.itemsize)


def relative(error, scale):
    return np.abs(error).max(initial=0) / (np.abs(scale).max(initial=0) or 1)


def cholesky(a, lower=True):
    result = np.empty_like(a)
    info = np.full(a.shape[:-2], -1, np.int32)
    n = a.shape[-1]
    call("cholesky", a.dtype, a, result, info, info.size, n, np.int32(lower))
    return result, info


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [*SIZES, 6, 12, 300])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_cholesky(dtype, n, lower):
    x = random_matrix((2, n, n), dtype)
    a = (x @ adjoint(x) + n * np.eye(n)).astype(dtype)
    # The other triangle is not read.
    poisoned = np.where(np.tri(n, dtype=bool) == lower, a, np.nan)
    poisoned[:, range(n), range(n)] = a[:, range(n), range(n)]
    result, info = cholesky(poisoned.astype(dtype), lower)
    assert (info == 0).all()
    # Nor is it written.
    other = np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)
    assert np.isnan(result[:, *other]).all()
    result[:, *other] = 0
    factor = wide(result if lower else adjoint(result))
    assert relative(factor @ adjoint(factor) - a, a) < 4 * epsilon(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_cholesky_fails_with_nan(dtype):
    a = np.stack([np.eye(40), np.eye(40), np.eye(40)]).astype(dtype)
    a[0, 35, 35] = -1
    a[1, 39, 3] = np.nan
    result, info = cholesky(a)
    assert info.tolist() == [36, 40, 0]
    assert np.isnan(result[:2]).all() and (result[2] == np.eye(40)).all()


@pytest.mark.parametrize("transpose", [0, 1, 2])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_triangular_solve(dtype, left, lower, unit, transpose):
    for order, other in [(0, 3), (3, 0), (1, 1), (3, 2), (17, 40), (70, 33), (150, 65)]:
        a = random_matrix((2, order, order), dtype) / max(order, 1)
        a[:, range(order), range(order)] += 2
        shape = (2, order, other) if left else (2, other, order)
        b = random_matrix(shape, dtype, 1)
        triangle = wide(np.tril(a) if lower else np.triu(a))
        poisoned = np.where(triangle == 0, np.nan, a).astype(dtype)
        if unit:
            triangle[:, range(order), range(order)] = 1
            poisoned[:, range(order), range(order)] = np.nan
        x = b.copy()
        call(
            "triangular_solve", dtype, poisoned, x, x, 2, shape[1], shape[2],
            *np.array([left, lower, unit, transpose], np.int32),
        )  # fmt: skip
        op = [triangle, np.swapaxes(triangle, -1, -2), adjoint(triangle)][transpose]
        product = op @ wide(x) if left else wide(x) @ op
        assert relative(product - b, b) < 20 * epsilon(dtype)


@pytest.mark.parametrize("batch", [1, 16, 35])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_small_triangular_systems_are_equal_however_the_batch_is_split(dtype, batch):
    for order, other in [(1, 1), (2, 7), (6, 6), (12, 12), (16, 3)]:
        for left, lower, unit, transpose in itertools.product(*[range(2)] * 3, range(3)):
            a = random_matrix((batch, order, order), dtype) / order
            a[:, range(order), range(order)] += 2
            shape = (batch, order, other) if left else (batch, other, order)
            b = random_matrix(shape, dtype, 1)
            flags = np.array([left, lower, unit, transpose], np.int32)
            x = np.empty_like(b)
            call("triangular_solve", dtype, a, b, x, *shape, *flags)
            triangle = wide(np.tril(a) if lower else np.triu(a))
            if unit:
                triangle[:, range(order), range(order)] = 1
            op = [triangle, np.swapaxes(triangle, -1, -2), adjoint(triangle)][transpose]
            product = op @ wide(x) if left else wide(x) @ op
            assert relative(product - b, b) < 20 * epsilon(dtype)
            for k in range(batch):
                alone = b[k : k + 1].copy()
                call("triangular_solve", dtype, a[k].copy(), alone, alone, 1, *shape[1:], *flags)
                assert alone.tobytes() == x[k].tobytes()


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [1, 2, 6, 12, 16])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_small_cholesky_is_equal_however_the_batch_is_split(dtype, n, lower):
    x = random_matrix((35, n, n), dtype)
    a = (x @ adjoint(x) + n * np.eye(n)).astype(dtype)
    # One that fails leaves those beside it as they are.
    a[5, n - 1, n - 1] = -1
    a[20, 0, 0] = np.nan
    result, info = cholesky(a, lower)
    assert info[5] == n and info[20] == 1 and info.sum() == n + 1
    assert np.isnan(result[[5, 20]]).all()
    good = info == 0
    factor = wide(np.tril(result) if lower else adjoint(np.triu(result)))[good]
    assert relative(factor @ adjoint(factor) - a[good], a[good]) < 4 * epsilon(dtype)
    for k in range(35):
        alone, _ = cholesky(a[k : k + 1].copy(), lower)
        assert alone.tobytes() == result[k].tobytes()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_triangular_solve_divides_by_zero(dtype):
    a = np.array([[[0, 0], [0, 2]]], dtype)
    b = np.array([[[1], [4]]], dtype)
    x = np.empty_like(b)
    call("triangular_solve", dtype, a, b, x, 1, 2, 1, *np.array([1, 1, 0, 0], np.int32))
    assert not np.isfinite(x[0, 0, 0])


def solve_tridiagonal(dl, d, du, b, perturb=False):
    x = np.empty_like(b)
    info = np.full(d.shape[0], -1, np.int32)
    n, columns = b.shape[-2:]
    call_with_scratch(
        "tridiagonal_solve", b.dtype, size("tridiagonal_solve_scratch_bytes", n, b.itemsize),
        dl, d, du, b, x, info, d.shape[0], n, columns, np.int32(perturb),
    )  # fmt: skip
    return x, info


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tridiagonal_solve(dtype, n):
    dl, d, du = (random_matrix((2, n), dtype, seed) for seed in range(3))
    b = random_matrix((2, n, 3), dtype, 3)
    matrix = np.zeros((2, n, n), np.result_type(dtype, np.float64))
    k = np.arange(n)
    matrix[:, k, k] = d
    matrix[:, k[1:], k[:-1]] = dl[:, 1:]
    matrix[:, k[:-1], k[1:]] = du[:, :-1]
    dl[:, :1] = du[:, n - 1 :] = np.nan
    x, info = solve_tridiagonal(dl, d, du, b)
    assert (info == 0).all()
    scale = np.abs(matrix) @ np.abs(x) + np.abs(b)
    assert (np.abs(matrix @ x - b) <= 40 * epsilon(dtype) * scale).all()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tridiagonal_solve_of_a_singular_matrix(dtype):
    dl, du = np.zeros((1, 3), dtype), np.zeros((1, 3), dtype)
    d = np.array([[1, 0, 2]], dtype)
    b = np.ones((1, 3, 1), dtype)
    x, info = solve_tridiagonal(dl, d, du, b)
    assert info == 2 and np.isnan(x).all()
    x, info = solve_tridiagonal(dl, d, du, b, perturb=True)
    assert info == 0 and np.isfinite(x).all() and x[0, 2, 0] == 0.5


def lu(a):
    batch, m, n = a.shape
    packed = np.empty_like(a)
    pivots = np.full((batch, min(m, n)), -1, np.int32)
    permutation = np.full((batch, m), -1, np.int32)
    call("lu", a.dtype, a, packed, pivots, permutation, batch, m, n)
    return packed, pivots, permutation


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_lu(dtype, shape):
    a = random_matrix((2, *shape), dtype)
    k = min(shape)
    packed, pivots, permutation = lu(a)
    for i in range(2):
        lower = np.tril(wide(packed[i][:, :k]), -1) + np.eye(shape[0], k)
        upper = np.triu(packed[i][:k])
        assert np.abs(lower).max(initial=0) <= 1.5
        residual = relative(lower @ upper - a[i][permutation[i]], a)
        assert residual < (20 + k / 2) * epsilon(dtype)
        if k:
            expected, swaps = scipy.linalg.lu_factor(a[i])
            assert (pivots[i] == swaps).all()
            # Factors are as far from the exact ones as the matrix is near to a singular one.
            condition = np.linalg.cond(wide(a[i])[permutation[i]][:k, :k])
            far = max(200, condition) * epsilon(dtype) * np.abs(expected).max()
            assert np.allclose(packed[i], expected, rtol=0, atol=far)


def test_lu_of_singular_matrices():
    packed, pivots, _ = lu(np.zeros((1, 3, 3)))
    assert (packed == 0).all() and pivots.tolist() == [[0, 1, 2]]
    packed, pivots, permutation = lu(np.array([[[0.0, 1], [0, 2]]]))
    assert packed.tolist() == [[[0, 1], [0, 2]]] and permutation.tolist() == [[0, 1]]


def geqrf(a):
    packed = np.empty_like(a)
    batch, m, n = a.shape
    taus = np.empty((batch, min(m, n)), a.dtype)
    call_with_scratch("qr", a.dtype, qr_scratch(m, n, a.dtype), a, packed, taus, batch, m, n)
    return packed, taus


def product(packed, taus, columns):
    """The first `columns` columns of q."""
    batch, m, n = packed.shape
    padded = np.zeros((batch, m, columns), packed.dtype)
    k = min(n, columns)
    padded[:, :, :k] = packed[:, :, :k]
    q = np.empty_like(padded)
    call_with_scratch(
        "householder_product", q.dtype, qr_scratch(m, columns, q.dtype, "householder_product"),
        padded, taus, q, batch, m, columns, taus.shape[1],
    )  # fmt: skip
    return q


def is_orthonormal(q, factor=12):
    gram = adjoint(wide(q)) @ wide(q)
    return np.abs(gram - np.eye(q.shape[-1])).max(initial=0) < factor * epsilon(q.dtype)


def raw_qr(a):
    (packed, taus), _ = scipy.linalg.qr(a, mode="raw")
    return packed, taus


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_qr(dtype, shape):
    a = random_matrix((2, *shape), dtype)
    m, k = shape[0], min(shape)
    packed, taus = geqrf(a)
    q = product(packed, taus, m)
    assert is_orthonormal(q)
    assert relative(wide(q) @ np.triu(packed) - a, a) < 20 * epsilon(dtype)
    thin = product(packed, taus, k)
    assert np.abs(thin - q[:, :, :k]).max(initial=0) < 10 * epsilon(dtype)
    if k:
        expected, expected_taus = raw_qr(a[1])
        condition = np.linalg.cond(wide(a[1])[:k, :k])
        close = max(400, condition) * epsilon(dtype)
        assert np.allclose(packed[1], expected, rtol=0, atol=close)
        far = max(100, condition) * epsilon(dtype)
        assert np.allclose(taus[1], expected_taus, rtol=0, atol=far)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_qr_of_hard_matrices(dtype):
    n = 40
    tiny = float(np.finfo(dtype).tiny)
    deficient = random_matrix((n, 5), dtype) @ random_matrix((5, n), dtype)
    graded = random_matrix((n, n), dtype) * np.logspace(0, -20, n)[:, None]
    small = random_matrix((n, n), dtype) * tiny * 8
    large = random_matrix((n, n), dtype) / n * np.finfo(dtype).max / 8
    a = np.stack([deficient, graded, small, large, np.zeros((n, n)), np.eye(n)]).astype(dtype)
    packed, taus = geqrf(a)
    q = product(packed, taus, n)
    scale = np.abs(a).max(axis=(1, 2), keepdims=True) + (a == 0).all(axis=(1, 2), keepdims=True)
    assert is_orthonormal(q)
    error = wide(q) @ (np.triu(wide(packed)) / scale) - a / scale
    assert np.abs(error).max() < 40 * epsilon(dtype)
    assert (taus[5][: n - 1] == 0).all()


@pytest.mark.parametrize("adjointed", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_householder_multiply(dtype, left, adjointed):
    for m, n in SHAPES:
        packed, taus = geqrf(random_matrix((2, m, n), dtype))
        q = wide(product(packed, taus, m))
        q = adjoint(q) if adjointed else q
        c = random_matrix((2, m, 7) if left else (2, 7, m), dtype, 1)
        result = c.copy()
        call_with_scratch(
            "householder_multiply", dtype, qr_scratch(*c.shape[1:], dtype, "householder_multiply"), packed, taus, result,
            result, 2, *c.shape[1:], n, taus.shape[1], np.int32(left), np.int32(adjointed),
        )  # fmt: skip
        expected = q @ c if left else c @ q
        assert np.abs(result - expected).max(initial=0) < 20 * epsilon(dtype) * max(m, 1) ** 0.5


def geqp3(a, fixed=None):
    batch, m, n = a.shape
    packed = np.empty_like(a)
    columns = np.empty((batch, n), np.int32)
    taus = np.empty((batch, min(m, n)), a.dtype)
    call_with_scratch(
        "qr_pivoted",
        a.dtype,
        qr_scratch(m, n, a.dtype, "qr_pivoted"),
        a,
        fixed,
        packed,
        columns,
        taus,
        batch,
        m,
        n,
    )
    return packed, columns - 1, taus


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_pivoted_qr(dtype, shape):
    a = random_matrix((2, *shape), dtype)
    packed, columns, taus = geqp3(a)
    q = product(packed, taus, shape[0])
    assert is_orthonormal(q)
    for i in range(2):
        r = np.triu(packed[i])
        assert relative(wide(q[i]) @ r - a[i][:, columns[i]], a) < 20 * epsilon(dtype)
        diagonal = np.abs(np.diagonal(r))
        assert (diagonal[1:] <= diagonal[:-1] * (1 + 100 * epsilon(dtype))).all()
        if min(shape):
            assert (columns[i] == scipy.linalg.qr(a[i], pivoting=True)[2]).all()


def test_pivoted_qr_keeps_fixed_columns_first():
    a = random_matrix((1, 6, 5), np.float64)
    packed, columns, taus = geqp3(a, np.array([[0, 0, 1, 0, 1]], np.int32))
    assert sorted(columns[0, :2].tolist()) == [2, 4]
    q = product(packed, taus, 6)
    assert np.allclose(q[0] @ np.triu(packed[0]), a[0][:, columns[0]], atol=1e-14)


def test_pivoted_qr_reveals_rank():
    a = random_matrix((1, 30, 4), np.float64) @ random_matrix((1, 4, 20), np.float64)
    packed, _, _ = geqp3(a)
    diagonal = np.abs(np.diagonal(packed[0]))
    assert (diagonal[:4] > 1e-2).all() and (diagonal[4:] < 1e-13).all()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_nan_ends(dtype):
    a = random_matrix((1, 40, 40), dtype)
    a[0, 3, 5] = np.nan
    assert np.isnan(lu(a)[0]).any()
    assert np.isnan(geqrf(a)[0]).any()
    assert np.isnan(geqp3(a)[0]).any()


def test_pivots_to_permutation():
    pivots = np.array([[2, 2, 3], [0, 1, 9]], np.int32)
    permutation = np.empty((2, 4), np.int32)
    call("lu_pivots_to_permutation_i32", None, pivots, permutation, 2, 3, 4)
    assert permutation.tolist() == [[2, 0, 3, 1], [0, 1, 2, 3]]
