"""Linear algebra as custom calls of our own library, judged by NumPy and by the
definitions. test_snippets.py runs this file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from jax.lax import linalg

TYPES = ["float32", "complex64"]


def make(shape, dtype, seed=0):
    random = np.random.RandomState(seed)
    a = random.randn(*shape)
    if dtype.startswith("complex"):
        a = a + 1j * random.randn(*shape)
    return a.astype(dtype)


def adjoint(a):
    return np.swapaxes(np.conj(a), -1, -2)


def close(a, b, tolerance=2e-4):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def is_unitary(q):
    q = np.asarray(q)
    close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *[q.shape[-1]] * 2)))


def test_lu():
    for dtype in TYPES:
        for shape in [(5, 5), (2, 6, 4), (3, 4, 6)]:
            a = make(shape, dtype)
            packed, pivots, permutation = map(np.asarray, jax.jit(linalg.lu)(a))
            k = min(shape[-2:])
            lower = np.tril(packed, -1)[..., :k] + np.eye(shape[-2], k)
            upper = np.triu(packed)[..., :k, :]
            close(lower @ upper, np.take_along_axis(a, permutation[..., None], -2))
            assert pivots.shape == (*shape[:-2], k)


def test_qr():
    for dtype in TYPES:
        for shape in [(5, 5), (2, 6, 4), (3, 4, 6)]:
            for mode in ["reduced", "complete"]:
                a = make(shape, dtype)
                q, r = jnp.linalg.qr(a, mode=mode)
                close(np.asarray(q) @ np.asarray(r), a)
                is_unitary(q)
                close(np.tril(np.asarray(r), -1), np.zeros_like(r))


def test_pivoted_qr():
    a = make((6, 4), "float32")
    q, r, p = jax.jit(lambda a: linalg.qr(a, pivoting=True, full_matrices=False))(a)
    close(np.asarray(q) @ np.asarray(r), a[:, np.asarray(p)])
    sizes = np.abs(np.diag(np.asarray(r)))
    assert (np.diff(sizes) <= 1e-5).all()


def test_eigh_by_any_name():
    a = make((2, 5, 5), "complex64")
    a = a + adjoint(a)
    for implementation in [None, *linalg.EighImplementation]:
        v, w = linalg.eigh(a, implementation=implementation)
        close(w, np.linalg.eigvalsh(a))
        close(a @ np.asarray(v), np.asarray(v) * np.asarray(w)[:, None])
        is_unitary(v)


def test_eigh():
    for dtype in TYPES:
        a = make((2, 5, 5), dtype)
        a = a + adjoint(a)
        w, v = jnp.linalg.eigh(a)
        w, v = np.asarray(w), np.asarray(v)
        close(w, np.linalg.eigvalsh(a))
        close(a @ v, v * w[:, None, :])
        is_unitary(v)


def test_svd():
    for dtype in TYPES:
        for shape in [(5, 5), (2, 6, 4), (3, 4, 6)]:
            a = make(shape, dtype)
            u, s, vh = map(np.asarray, jnp.linalg.svd(a, full_matrices=False))
            close((u * s[..., None, :]) @ vh, a)
            close(s, np.linalg.svd(a, compute_uv=False))
            is_unitary(u)
            close(jnp.linalg.svd(a, compute_uv=False), s)


def test_eig():
    for dtype in TYPES:
        a = make((2, 5, 5), dtype)
        w, v = map(np.asarray, jnp.linalg.eig(a))
        close(a @ v, v * w[:, None, :])
        close(np.sort_complex(w[0]), np.sort_complex(np.linalg.eigvals(a[0])), 1e-3)


def test_schur():
    for dtype in TYPES:
        a = make((5, 5), dtype)
        t, q = map(np.asarray, jax.jit(linalg.schur)(a))
        close(q @ t @ adjoint(q), a)
        is_unitary(q)
        assert (np.abs(np.tril(t, -2)) < 1e-5).all()


def test_hessenberg():
    a = make((5, 5), "float32")
    packed, taus = jax.jit(linalg.hessenberg)(a)
    h = np.triu(np.asarray(packed), -1)
    close(np.abs(h), np.abs(scipy.linalg.hessenberg(a)))


def test_tridiagonal():
    a = make((5, 5), "float32")
    a = a + a.T
    _, d, e, _ = map(np.asarray, jax.jit(linalg.tridiagonal)(a))
    w = scipy.linalg.eigvalsh_tridiagonal(d, e)
    close(w, np.linalg.eigvalsh(a))


def test_tridiagonal_solve():
    dl, d, du = (make((4,), "float32", seed) for seed in range(3))
    dl[0] = du[-1] = 0
    d += 4
    b = make((4, 2), "float32")
    x = np.asarray(jax.jit(linalg.tridiagonal_solve)(dl, d, du, b))
    close((np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)) @ x, b)


def test_solve_and_inverse():
    a, b = make((2, 5, 5), "float32"), make((2, 5, 3), "float32")
    close(a @ np.asarray(jnp.linalg.solve(a, b)), b, 1e-3)
    close(a @ np.asarray(jnp.linalg.inv(a)), np.broadcast_to(np.eye(5), a.shape), 1e-3)
    close(jnp.linalg.det(a), np.linalg.det(a), 1e-3)


def test_failures_are_nan():
    a = np.full((3, 3), np.nan, np.float32)
    assert np.isnan(jnp.linalg.eigh(a)[0]).all()
    assert np.isnan(jnp.linalg.svd(a, compute_uv=False)).all()


def test_exported_programs_are_portable():
    exported = jax.export.export(jax.jit(jnp.linalg.eigh))(
        jax.ShapeDtypeStruct((3, 3), jnp.float32)
    )
    assert "alula.eigh" in exported.mlir_module()
    pytest.importorskip("flatbuffers")
    assert exported.serialize()
