"""Hermitian eigenvalues, tridiagonal reduction and singular values against
their definitions and LAPACK."""

import mpmath
import numpy as np
import pytest
import scipy.linalg
from native_library import (
    TYPES,
    adjoint,
    call_with_scratch,
    epsilon,
    random_matrix,
    real_type,
    size,
    wide,
)

SIZES = [0, 1, 2, 3, 17, 33, 64, 130, 257]
SHAPES = [
    (97, 97),
    (200, 131),
    (120, 199),
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
]


def eigh(a, lower=True, vectors=True):
    batch, n = a.shape[:2]
    w = np.empty((batch, n), real_type(a.dtype))
    v = np.empty_like(a) if vectors else None
    info = np.full(batch, -1, np.int32)
    count = size("eigen_symmetric_scratch_bytes", n, a.itemsize)
    call_with_scratch("eigen_symmetric", a.dtype, count, a, w, v, info, batch, n, np.int32(lower))
    return w, v, info


def hermitian(a):
    return np.ascontiguousarray((a + adjoint(a)).astype(a.dtype))


def one_triangle(a, lower):
    """NaN in the triangle that is not to be read."""
    n = a.shape[-1]
    keep = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
    return np.where(keep, a, np.nan).astype(a.dtype)


def check_eigh(a, lower=True, factor=10):
    w, v, info = eigh(one_triangle(a, lower), lower)
    n, dtype = a.shape[-1], a.dtype
    assert (info == 0).all()
    assert (np.diff(w) >= 0).all()
    limit = factor * epsilon(dtype) * max(n, 4) ** 0.5
    scale = np.abs(np.linalg.eigvalsh(wide(a))).max(axis=-1, initial=0)
    scale = np.where(scale == 0, 1, scale)[:, None, None]
    gram = adjoint(wide(v)) @ wide(v)
    assert np.abs(gram - np.eye(n)).max(initial=0) < limit
    error = (wide(a) / scale) @ wide(v) - wide(v) * (w[:, None, :] / scale)
    assert np.abs(error).max(initial=0) < limit
    only = eigh(one_triangle(a, lower), lower, vectors=False)[0]
    assert np.abs((only - w) / scale[:, :, 0]).max(initial=0) < limit
    return w, v


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_symmetric(dtype, n, lower):
    a = hermitian(random_matrix((2, n, n), dtype))
    w, _ = check_eigh(a, lower)
    expected = np.linalg.eigvalsh(wide(a))
    scale = np.abs(expected).max(initial=1)
    assert np.abs(w - expected).max(initial=0) < 50 * epsilon(dtype) * scale


# The larger ones are divided, more than once.
@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_symmetric_of_hard_matrices(dtype, n):
    finfo = np.finfo(dtype)
    x = random_matrix((n, 3), dtype)
    q = np.linalg.qr(random_matrix((n, n), dtype, 1))[0]
    scale = np.logspace(0, -12, n)
    matrices = [
        np.zeros((n, n)),
        np.eye(n),
        np.diag(np.arange(n)[::-1]),
        x @ adjoint(x),
        np.ones((n, n)),
        hermitian(random_matrix((n, n), dtype, 2)) * scale[:, None] * scale,
        (q * np.repeat([1, 2], n // 2)) @ adjoint(q),
        np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1),
        hermitian(random_matrix((n, n), dtype, 3)) * float(finfo.tiny) * 16,
        hermitian(random_matrix((n, n), dtype, 3)) / n * (float(finfo.max) / 16),
        np.abs(np.subtract.outer(np.arange(n), np.arange(n))),
    ]
    a = np.stack([hermitian(m.astype(dtype)) / 2 for m in matrices]).astype(dtype)
    check_eigh(a, True, 20)
    check_eigh(a, False, 20)


def test_eigenvalues_of_a_graded_matrix_keep_their_digits():
    k = np.arange(20)
    a = np.diag(10.0 ** (-k)) + np.diag(10.0 ** (-k[1:] - 2), 1) + np.diag(10.0 ** (-k[1:] - 2), -1)
    for turned in (a, a[::-1, ::-1]):
        w = eigh(np.ascontiguousarray(turned)[None])[0][0]

        with mpmath.workdps(60):
            expected = sorted(
                float(x) for x in mpmath.eigsy(mpmath.matrix(turned.tolist()), eigvals_only=True)
            )
        assert np.allclose(w, expected, rtol=1e-13, atol=0)


def glue(blocks, link):
    """Blocks along the diagonal, linked by one element."""
    a = scipy.linalg.block_diag(*blocks)
    at = np.cumsum([len(b) for b in blocks])[:-1]
    a[at, at - 1] = a[at - 1, at] = link
    return a


@pytest.mark.parametrize("link", [0, 1e-16, 1e-9, 1e-5, 1])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_symmetric_of_parts_that_are_alike(dtype, link):
    # Wilkinson's matrix has pairs that agree in all digits; copies of it have
    # many. Whatever is merged has equal values then.
    wilkinson = np.diag(np.abs(np.arange(-10.0, 11))) + np.diag(np.ones(20), 1)
    wilkinson += np.diag(np.ones(20), -1)
    second = 2 * np.eye(42) - np.eye(42, k=1) - np.eye(42, k=-1)
    for a in (glue([wilkinson] * 7, link), glue([second] * 4, link)):
        w, _ = check_eigh(a.astype(dtype)[None], factor=20)
        expected = np.linalg.eigvalsh(a)
        assert np.abs(w[0] - expected).max() < 20 * epsilon(dtype) * np.abs(expected).max()


@pytest.mark.parametrize("link", [0, 1e-16, 1e-9, 1e-5, 1])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_svd_of_parts_that_are_alike(dtype, link):
    part = np.diag(np.arange(21.0)) + np.diag(np.ones(20), 1)
    other = np.eye(42) + np.eye(42, k=1)
    for parts in ([part] * 7, [other] * 4):
        a = np.triu(glue(parts, link))
        s = check_svd(a.astype(dtype)[None], True, 20)
        expected = np.linalg.svd(a, compute_uv=False)
        assert np.abs(s[0] - expected).max() < 20 * epsilon(dtype) * expected[0]


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_eigen_symmetric_of_what_is_not_finite(dtype, n):
    a = np.stack([hermitian(random_matrix((n, n), dtype))] * 3)
    a[0, 7, 3] = np.nan
    a[1, 7, 7] = np.inf
    w, v, info = eigh(a)
    assert info.tolist() == [1, 1, 0]
    assert np.isnan(w[:2]).all() and np.isnan(v[:2]).all() and np.isfinite(v[2]).all()


def tridiagonal(a, lower):
    batch, n = a.shape[:2]
    real = real_type(a.dtype)
    packed, d = np.empty_like(a), np.empty((batch, n), real)
    e, taus = np.empty((batch, n - 1), real), np.empty((batch, n - 1), a.dtype)
    count = size("tridiagonal_scratch_bytes", n, a.itemsize)
    call_with_scratch(
        "tridiagonal", a.dtype, count, a, packed, d, e, taus, batch, n, np.int32(lower)
    )
    return packed, d, e, taus


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tridiagonal(dtype, n, lower):
    a = one_triangle(hermitian(random_matrix((2, n, n), dtype)), lower)
    packed, d, e, taus = tridiagonal(a, lower)
    name = "hetrd" if dtype.kind == "c" else "sytrd"
    (lapack,) = scipy.linalg.get_lapack_funcs([name], [a])
    for i in range(2):
        full = np.nan_to_num(a[i])
        expected = lapack(full, lower=lower)
        kept = np.tri(n, k=-1, dtype=bool)
        kept = kept.T if lower else kept
        expected[0][kept] = np.nan
        outputs = zip((packed[i], d[i], e[i], taus[i]), expected, strict=False)
        # Rounding grows along the reduction: only the eigenvalues stay near.
        for ours, theirs in outputs if n < 20 else ():
            assert np.allclose(ours, theirs, rtol=0, atol=2000 * epsilon(dtype), equal_nan=True)
        values = np.linalg.eigvalsh(wide(full), UPLO="L" if lower else "U")
        ours = scipy.linalg.eigvalsh_tridiagonal(wide(d[i]), wide(e[i]))
        # NumPy's own values are as far from those of LAPACK's form.
        most = max(50, 8 * np.sqrt(n)) * epsilon(dtype)
        assert np.abs(ours - values).max() < most * max(np.abs(values).max(), 1)


def svd(a, full=True, vectors=True):
    batch, m, n = a.shape
    k = min(m, n)
    s = np.empty((batch, k), real_type(a.dtype))
    u = np.empty((batch, m, m if full else k), a.dtype) if vectors else None
    vh = np.empty((batch, n if full else k, n), a.dtype) if vectors else None
    info = np.full(batch, -1, np.int32)
    count = size("svd_scratch_bytes", m, n, np.int32(full), a.itemsize)
    call_with_scratch("svd", a.dtype, count, a, s, u, vh, info, batch, m, n, np.int32(full))
    return u, s, vh, info


def check_svd(a, full, factor=10):
    u, s, vh, info = svd(a, full)
    m, n = a.shape[1:]
    k, dtype = min(m, n), a.dtype
    assert (info == 0).all()
    assert (s >= 0).all() and (np.diff(s) <= 0).all()
    limit = factor * epsilon(dtype) * max(m, n, 4) ** 0.5
    for q in (u, adjoint(vh)):
        gram = adjoint(wide(q)) @ wide(q)
        assert np.abs(gram - np.eye(q.shape[-1])).max(initial=0) < limit
    scale = s.max(axis=-1, initial=0)
    scale = np.where(scale == 0, 1, scale)[:, None]
    product = (wide(u[:, :, :k]) * (s / scale)[:, None, :]) @ wide(vh[:, :k])
    assert np.abs(product - wide(a) / scale[:, :, None]).max(initial=0) < limit
    assert np.abs((svd(a, full, vectors=False)[1] - s) / scale).max(initial=0) < limit
    return s


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_svd(dtype, shape, full):
    a = random_matrix((2, *shape), dtype)
    s = check_svd(a, full)
    if min(shape):
        expected = np.linalg.svd(wide(a), compute_uv=False)
        assert np.abs(s - expected).max() < 50 * epsilon(dtype) * expected.max()


# The larger ones are divided, more than once.
@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_svd_of_hard_matrices(dtype, n):
    finfo = np.finfo(dtype)
    matrices = [
        np.zeros((n, n)),
        np.eye(n),
        np.diag(np.arange(n)),
        random_matrix((n, 3), dtype) @ random_matrix((3, n), dtype),
        np.ones((n, n)),
        np.diag(np.ones(n - 1), 1),
        np.diag(np.ones(n - 1), -1),
        random_matrix((n, n), dtype) * np.logspace(0, -20, n),
        random_matrix((n, n), dtype) * np.logspace(-20, 0, n)[:, None],
        np.triu(np.ones((n, n))),
        random_matrix((n, n), dtype) * float(finfo.tiny) * 16,
        random_matrix((n, n), dtype) / n * (float(finfo.max) / 16),
    ]
    check_svd(np.stack([m.astype(dtype) for m in matrices]), True, 20)


def bidiagonals():
    """(d, e): graded down and up, alike, in parts, with zeros, nearly singular."""
    random = np.random.RandomState(0)
    down = 10.0 ** -np.arange(15)
    apart = np.where(np.arange(29) % 6 == 5, 1e-9, random.standard_normal(29))
    zeros = random.standard_normal(30)
    zeros[[0, 17]] = 0
    return {
        "down": (down, 3.0 * 10.0 ** -np.arange(1, 15)),
        "up": (down[::-1], down[:0:-1]),
        "far": (10.0 ** -np.linspace(0, 130, 20), 10.0 ** -np.linspace(0, 130, 20)[1:]),
        "alike": (np.ones(40), np.full(39, 1e-6)),
        "ones": (np.ones(40), np.ones(39)),
        "parts": (random.standard_normal(30), apart),
        "zeros": (zeros, random.standard_normal(29)),
        "nothing beside": (random.standard_normal(20), np.zeros(19)),
        "growing": (np.ones(25), np.full(24, 3.0)),
    }


@pytest.mark.parametrize("kind", bidiagonals())
def test_small_singular_values_of_a_bidiagonal_matrix_keep_their_digits(kind):
    d, e = bidiagonals()[kind]
    a = np.diag(d) + np.diag(e, 1)
    with mpmath.workdps(400):
        exact = mpmath.svd_r(mpmath.matrix(a.tolist()), compute_uv=False)
        expected = sorted((float(x) for x in exact), reverse=True)
    assert np.allclose(
        svd(a[None], vectors=False)[1][0], expected, rtol=1e-14 * len(d), atol=1e-300
    )


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_svd_of_what_is_not_finite(dtype, n):
    a = random_matrix((3, n, n + 10), dtype)
    a[0, 7, 3] = np.nan
    a[1, 7, 7] = np.inf
    u, s, vh, info = svd(a)
    assert info.tolist() == [1, 1, 0]
    assert all(np.isnan(x[:2]).all() and np.isfinite(x[2]).all() for x in (u, s, vh))
