"""Hessenberg and Schur forms, general eigenvalues and eigenvectors against
their definitions and LAPACK."""

import numpy as np
import pytest
import scipy.linalg
from native_library import (
    TYPES,
    adjoint,
    call_with_scratch,
    complex_type,
    epsilon,
    random_matrix,
    size,
    wide,
)

# From 128 rows on Schur forms go by many shifts at once.
SIZES = [0, 1, 2, 3, 17, 64, 127, 130, 203]
HARD_SIZES = [40, 160]


def hessenberg(a):
    batch, n = a.shape[:2]
    packed = np.empty_like(a)
    taus = np.empty((batch, max(n - 1, 0)), a.dtype)
    call_with_scratch(
        "hessenberg",
        a.dtype,
        size("hessenberg_scratch_bytes", n, a.itemsize),
        a,
        packed,
        taus,
        batch,
        n,
    )
    return packed, taus


def schur(a, vectors=True):
    batch, n = a.shape[:2]
    t = np.empty_like(a)
    q = np.empty_like(a) if vectors else None
    info = np.full(batch, -1, np.int32)
    count = size("schur_scratch_bytes", n, int(a.real.itemsize == 4), a.itemsize)
    call_with_scratch("schur", a.dtype, count, a, t, q, info, batch, n)
    return t, q, info


def eig(a, left=True, right=True):
    batch, n = a.shape[:2]
    dtype = complex_type(a.dtype)
    w = np.empty((batch, n), dtype)
    vl = np.empty((batch, n, n), dtype) if left else None
    vr = np.empty((batch, n, n), dtype) if right else None
    info = np.full(batch, -1, np.int32)
    count = size("eigen_general_scratch_bytes", n, a.itemsize)
    call_with_scratch("eigen_general", a.dtype, count, a, w, vl, vr, info, batch, n)
    return w, vl, vr, info


def hard_matrices(dtype, n=40):
    finfo = np.finfo(dtype)
    companion = np.diag(np.ones(n - 1), -1)
    companion[0] = np.random.RandomState(0).standard_normal(n)
    matrices = [
        np.zeros((n, n)),
        np.eye(n),
        np.triu(random_matrix((n, n), dtype)),
        np.tril(random_matrix((n, n), dtype)),
        np.diag(np.ones(n - 1), 1),
        np.diag(np.ones(n - 1), -1),
        np.diag(np.ones(n - 1), 1) + 2 * np.eye(n),
        np.roll(np.eye(n), 1, axis=0),
        np.ones((n, n)),
        companion,
        random_matrix((n, 3), dtype) @ random_matrix((3, n), dtype),
        random_matrix((n, n), dtype) * np.logspace(0, -20, n),
        random_matrix((n, n), dtype) * np.logspace(0, 10, n) * np.logspace(0, -10, n)[:, None],
        random_matrix((n, n), dtype) - adjoint(random_matrix((n, n), dtype)),
        np.kron(np.eye(n // 4), [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]),
        random_matrix((n, n), dtype) * float(finfo.tiny) * 16,
        random_matrix((n, n), dtype) / n * (float(finfo.max) / 16),
    ]
    return np.stack([m.astype(dtype) for m in matrices])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_hessenberg(dtype, n):
    a = random_matrix((2, n, n), dtype)
    packed, taus = hessenberg(a)
    for i in range(2 if n > 1 else 0):
        (lapack,) = scipy.linalg.get_lapack_funcs(["gehrd"], [a])
        expected, expected_taus, info = lapack(a[i])
        assert info == 0
        # Rounding grows along the reduction.
        if n < 20:
            assert np.allclose(packed[i], expected, rtol=0, atol=2000 * epsilon(dtype))
            assert np.allclose(taus[i], expected_taus, rtol=0, atol=2000 * epsilon(dtype))
        h = wide(np.triu(packed[i], -1))
        q = np.eye(n, dtype=h.dtype)
        for k in range(n - 2, -1, -1):
            v = np.concatenate([np.zeros(k + 1), [1], packed[i][k + 2 :, k]])
            q -= taus[i][k] * np.outer(v, v.conj() @ q)
        assert np.abs(q @ h @ adjoint(q) - a[i]).max() < 50 * epsilon(dtype) * np.abs(a).max()


def check_schur(a, factor=20):
    t, q, info = schur(a)
    n, dtype = a.shape[-1], a.dtype
    assert (info == 0).all()
    limit = factor * epsilon(dtype) * max(n, 4) ** 0.5
    scale = np.linalg.norm(wide(a) / (np.abs(a).max(initial=0) or 1), axis=(1, 2), keepdims=True)
    scale = np.where(scale == 0, 1, scale) * (np.abs(a).max(initial=0) or 1)
    assert np.abs(adjoint(wide(q)) @ wide(q) - np.eye(n)).max(initial=0) < limit
    product = wide(q) @ (wide(t) / scale) @ adjoint(wide(q))
    assert np.abs(product - wide(a) / scale).max(initial=0) < limit
    assert (np.tril(t, -2) == 0).all()
    below = np.diagonal(t, -1, 1, 2)
    if dtype.kind == "c":
        assert (below == 0).all()
    else:
        # Blocks do not touch, have equal diagonals and complex eigenvalues.
        assert (below[:, 1:] * below[:, :-1] == 0).all()
        d, above = np.diagonal(t, 0, 1, 2), np.diagonal(t, 1, 1, 2)
        block = below != 0
        assert (np.sign(above[block]) == -np.sign(below[block])).all()
        assert (d[:, :-1][block] == d[:, 1:][block]).all()
    only = schur(a, vectors=False)[0]
    assert (only == t).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_schur(dtype, n):
    check_schur(random_matrix((2, n, n), dtype))


@pytest.mark.parametrize("n", HARD_SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_schur_of_hard_matrices(dtype, n):
    for matrix in hard_matrices(dtype, n):
        check_schur(matrix[None])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_schur_of_large_structured_matrices(dtype):
    # Windows in which all, a few or no eigenvalues are deflated, pairs beside
    # real ones, graded diagonals, clusters, and strips that do not fill a vector.
    n = 301
    a = random_matrix((n, n), dtype)
    diagonal = np.arange(1, n + 1)
    blocks = np.kron(np.eye(n // 2 + 1), [[1, 2], [-2, 1]])[:n, :n]
    for matrix in (
        np.triu(a, -1),
        np.triu(a, -1) * np.logspace(0, -8, n)[:, None],
        np.triu(a, -1) * np.logspace(-8, 0, n),
        np.diag(diagonal) + np.diag(np.full(n - 1, 1e-3), -1) + np.triu(a, 1) / n,
        np.eye(n) + np.triu(a, -1) * epsilon(dtype) ** 0.5,
        blocks + np.diag(np.full(n - 1, 1e-2), -1) + np.triu(a, 1),
        np.abs(a),
        a - a.T,
        np.tril(np.ones((n, n))) - np.diag(np.ones(n - 2), 2),
    ):
        check_schur(np.ascontiguousarray(matrix.astype(dtype))[None], 40)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_general_of_one_large_matrix(dtype):
    # More than one block of windows, strips and rows.
    check_eig(random_matrix((1, 647, 647), dtype))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_schur_of_a_large_matrix_with_rows_that_stand_alone(dtype):
    # Only the middle is reduced, in panels.
    n, first, last = 210, 9, 190
    a = np.triu(random_matrix((n, n), dtype, 1))
    a[first:last, first:last] = random_matrix((last - first,) * 2, dtype, 2)
    order = np.random.RandomState(0).permutation(n)
    check_schur(a[None])
    check_schur(np.ascontiguousarray(a[order][:, order])[None])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_general_of_large_defective_matrices(dtype):
    n = 160
    q = np.linalg.qr(random_matrix((n, n), dtype, 3))[0]
    jordan = np.eye(n) + np.diag(np.ones(n - 1), 1)
    for a in (jordan, jordan.T, adjoint(wide(q)) @ jordan @ wide(q), np.roll(np.eye(n), 1, 0)):
        matrix = np.ascontiguousarray(a.astype(dtype))[None]
        check_schur(matrix)
        check_eig(matrix)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_schur_of_matrices_of_rank_one(dtype):
    # What is left has elements down to the least numbers there are.
    for n in (60, 80, 100, 140):
        for value in (1, 0.7 + 0.1j) if dtype.kind == "c" else (1, 0.7):
            check_schur(np.full((1, n, n), value, dtype))


def check_order(a):
    """Eigenvalues and blocks in LAPACK's order. What is left of the vectors,
    signs and phases, is decided by how LAPACK's sums are rounded: OpenBLAS
    differs there from itself on another processor."""
    t = schur(a[None])[0][0]
    expected, _ = scipy.linalg.schur(a)
    limit = 1000 * len(a) * epsilon(a.dtype) * np.abs(a).max()
    assert np.abs(np.diag(t) - np.diag(expected)).max() < limit
    assert ((np.diag(t, -1) != 0) == (np.diag(expected, -1) != 0)).all()


# Rounding of f32 decides the turn of some eigenvalues of larger matrices.
@pytest.mark.parametrize(
    "dtype, n",
    [
        (dtype, n)
        for dtype in TYPES
        for n in (1, 2, 3, 4, 5, 7, 10, 15, 25, 40, 60)
        if dtype.name != "float32" or n <= 7
    ],
    ids=str,
)
def test_schur_is_in_the_order_of_lapack(dtype, n):
    for seed in range(5):
        check_order(random_matrix((n, n), dtype, 100 * n + seed))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 20])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_schur_of_structured_matrices_is_in_the_order_of_lapack(dtype, n):
    a = random_matrix((n, n), dtype, n)
    order = np.random.RandomState(n).permutation(n)
    corner = np.roll(np.tril(a), 1, axis=1)
    corner[:, 0] = 0
    corner[0, 0] = 1
    for matrix in (
        np.tril(a),
        np.triu(a),
        np.triu(a)[order][:, order],
        np.eye(n, dtype=dtype)[order],
        np.diag(np.ones(n - 1), -1) + 2 * np.eye(n),
        np.diag(a.diagonal()),
        np.where(np.random.RandomState(n).rand(n, n) < 1 / n, a, 0),
        corner,
    ):
        check_order(np.ascontiguousarray(matrix.astype(dtype)))


def check_eig(a, factor=20):
    w, vl, vr, info = eig(a)
    n, dtype = a.shape[-1], a.dtype
    assert (info == 0).all()
    limit = factor * epsilon(dtype) * max(n, 4) ** 0.5
    scale = np.abs(a).max(initial=0) or 1
    scaled, values = wide(a) / scale, wide(w) / scale
    norm = np.linalg.norm(scaled, 2, axis=(1, 2)).max(initial=0) if n else 0
    for v, m, x in ((vr, scaled, values), (vl, adjoint(scaled), values.conj())):
        v = wide(v)
        assert np.abs(np.linalg.norm(v, axis=1) - 1).max(initial=0) < limit
        assert np.abs(m @ v - v * x[:, None, :]).max(initial=0) <= limit * norm
        size_of = np.abs(v)
        largest = size_of >= size_of.max(axis=1, keepdims=True, initial=0) * (1 - limit)
        imaginary = np.where(largest, np.abs(v.imag), 1).min(axis=1, initial=1)
        assert (imaginary < limit).all()
        if dtype.kind == "f":
            real = w.imag == 0
            assert (np.swapaxes(v, 1, 2)[real].imag == 0).all()
    if dtype.kind == "f":
        first = w.imag > 0
        assert (w[:, 1:][first[:, :-1]] == w[first].conj()).all()
        assert not first[:, -1:].any() and first.sum() == (w.imag < 0).sum()
    only = eig(a, left=False, right=False)[0]
    assert (only == w).all()
    assert (eig(a, left=False)[2] == vr).all() and (eig(a, right=False)[1] == vl).all()
    return w


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_general(dtype, n):
    a = random_matrix((2, n, n), dtype)
    w = check_eig(a)
    for i in range(2):
        expected = np.linalg.eigvals(wide(a[i])) if n else w[i]
        distance = np.abs(w[i][:, None] - expected)
        # Conditions of single eigenvalues are moderate for random matrices.
        assert distance.min(axis=1, initial=np.inf).max(initial=0) < 3000 * epsilon(dtype) * max(
            1, n / 64
        )
        assert distance.min(axis=0, initial=np.inf).max(initial=0) < 3000 * epsilon(dtype) * max(
            1, n / 64
        )


@pytest.mark.parametrize("n", HARD_SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_general_of_hard_matrices(dtype, n):
    for matrix in hard_matrices(dtype, n):
        check_eig(matrix[None], 40)


def test_eigenvalues_of_a_badly_scaled_matrix_keep_their_digits():
    a = random_matrix((1, 20, 20), np.float64)
    d = 2.0 ** np.linspace(-30, 30, 20).round()
    w = np.sort_complex(eig(a)[0][0])
    scaled = np.sort_complex(eig(a * d[:, None] / d)[0][0])
    assert np.allclose(w, scaled, rtol=1e-11)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_what_is_not_finite(dtype):
    a = random_matrix((3, 20, 20), dtype)
    a[0, 7, 3] = np.nan
    a[1, 3, 7] = -np.inf
    for outputs in (eig(a), schur(a)):
        *arrays, info = outputs
        assert info.tolist() == [1, 1, 0]
        assert all(np.isnan(x[:2]).all() and np.isfinite(x[2]).all() for x in arrays)
    assert np.isnan(hessenberg(a)[0][0]).any()
