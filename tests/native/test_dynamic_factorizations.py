"""Factorizations of matrices whose sizes only the call knows, compiled once: what
they are by definition, at every size."""

import pathlib
import sys

import jax
import jax._src.xla_bridge as xla_bridge
import jax_functions
import numpy as np
import pytest
from jax import export
from jax.lax import linalg

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python"))

from jax_plugins.alula import lowering

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

# From 128 rows on blocks go in groups, and Schur forms by chains.
SIZES = [(1, 1), (2, 3), (5, 4), (17, 33), (40, 40), (70, 31), (150, 140)]
SQUARE = sorted({n for pair in SIZES for n in pair})


@pytest.fixture(scope="module", autouse=True)
def rules():
    # Without the plugin JAX knows no such platform.
    xla_bridge._nonexperimental_plugins.add("alula")
    lowering.register()


@pytest.fixture(scope="module")
def compiled(tools):
    """A function of one matrix of unknown sizes, as one of arrays of any size."""
    executables = []

    def make(function, shape, constraints=()):
        symbols = export.symbolic_shape(shape, constraints=constraints)
        spec = jax.ShapeDtypeStruct(symbols, np.float32)
        exported = export.export(jax.jit(function), platforms=["alula"])(spec)
        executable = tools[1].load(tools[0].compile(exported.mlir_module().encode(), ["cpu:host"]))
        executables.append(executable)

        def call(array):
            buffer = tools[1].new_buffer(array, "f32")
            results = executable.call(executable.find("main"), [buffer])
            got = [result.array().copy() for result in results]
            for one in (buffer, *results):
                one.release()
            return got

        return call

    yield make
    for executable in executables:
        executable.destroy()


def draw(*shape):
    return np.random.RandomState(sum(shape)).standard_normal(shape).astype(np.float32)


def close(a, b):
    np.testing.assert_allclose(a, b, atol=3e-4 * max(1, np.abs(b).max()), rtol=0)


def adjoint(a):
    return np.swapaxes(np.conj(a), -1, -2)


@pytest.mark.parametrize("full", [False, True])
def test_qr(compiled, full):
    shape = "m, n" if full else "b, m, n"
    qr = compiled(lambda a: linalg.qr(a, full_matrices=full), shape, ["m >= n"])
    for m, n in SIZES:
        if m < n:
            continue
        a = draw(2, m, n) if not full else draw(m, n)
        q, r = qr(a)
        close(q @ r, a)
        close(adjoint(q) @ q, np.eye(q.shape[-1]) + np.zeros_like(r[..., :1, :1]))


@pytest.mark.parametrize("full", [False, True])
def test_svd(compiled, full):
    svd = compiled(lambda a: linalg.svd(a, full_matrices=full), "m, n")
    values = compiled(lambda a: linalg.svd(a, compute_uv=False), "b, m, n")
    for m, n in SIZES:
        a = draw(m, n)
        u, s, vh = svd(a)
        k = min(m, n)
        assert u.shape == (m, m if full else k) and vh.shape == (n if full else k, n)
        close((u[:, :k] * s) @ vh[:k], a)
        close(values(np.stack([a, 2 * a]))[0], np.stack([s, 2 * s]))


def test_eigh_and_tridiagonal(compiled):
    eigh = compiled(lambda a: linalg.eigh(a, symmetrize_input=False), "b, n, n")
    tridiagonal = compiled(lambda a: linalg.tridiagonal(a), "n, n")
    for n in SQUARE:
        a = draw(3, n, n)
        a = a + adjoint(a)
        v, w = eigh(a)
        close(v * w[:, None] @ adjoint(v), a)
        _, d, e, _ = tridiagonal(a[0])
        wanted = np.diag(d) + np.diag(e, 1) + np.diag(e, -1) if n > 1 else np.diag(d)
        close(np.linalg.eigvalsh(wanted), w[0])


def test_schur_hessenberg_and_eig(compiled):
    schur = compiled(lambda a: linalg.schur(a), "n, n")
    hessenberg = compiled(lambda a: linalg.hessenberg(a)[0], "b, n, n")
    eig = compiled(lambda a: linalg.eig(a, compute_left_eigenvectors=False), "n, n")
    for n in SQUARE:
        a = draw(n, n)
        t, q = schur(a)
        close(q @ t @ adjoint(q), a)
        (packed,) = hessenberg(np.stack([a, a]))
        reduced = np.triu(packed[1], -1)
        close(np.linalg.norm(reduced), np.linalg.norm(a))
        w, v = eig(a)
        close(a @ v, v * w)


def test_cholesky_lu_and_solves(compiled):
    cholesky = compiled(linalg.cholesky, "n, n")
    lu = compiled(linalg.lu, "m, n")
    solve = compiled(lambda a: jax.numpy.linalg.solve(a + 9 * jax.numpy.eye(a.shape[0]), a), "n, n")
    for n in SQUARE:
        a = draw(n, n)
        positive = a @ a.T + n * np.eye(n, dtype=np.float32)
        (lower,) = cholesky(positive)
        close(lower @ lower.T, positive)
        (x,) = solve(a)
        close((a + 9 * np.eye(n, dtype=np.float32)) @ x, a)
    for m, n in SIZES:
        a, k = draw(m, n), min(m, n)
        packed, _, order = lu(a)
        left = np.tril(packed, -1)[:, :k] + np.eye(m, k)
        close(left @ np.triu(packed)[:k], a[order])
