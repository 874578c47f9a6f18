"""What is one call of LAPACK in SciPy."""

import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np

from bench.case import Case, Row, Work, normal


def definite(n):
    a = normal(n, n)
    return a @ a.T / np.float32(n) + np.eye(n, dtype=np.float32)


def cholesky(n):
    a = definite(n)

    def numpy(params, a):
        import scipy.linalg

        return scipy.linalg.cholesky(a, lower=True, check_finite=False)

    work = Work(n**3 / 3, a.nbytes, a.nbytes)
    return Case(
        lambda params, a: jnp.linalg.cholesky(a, symmetrize_input=False), (a,), work, numpy=numpy
    )


def solve(n, sides):
    a, b = normal(n, n) + np.float32(n**0.5) * np.eye(n, dtype=np.float32), normal(n, sides)

    def numpy(params, a, b):
        import scipy.linalg

        return scipy.linalg.solve(a, b, check_finite=False)

    work = Work(2 * n**3 / 3 + 2.0 * n * n * sides, a.nbytes + b.nbytes, b.nbytes)
    function = lambda params, a, b: jnp.linalg.solve(a, b)
    return Case(function, (a, b), work, numpy=numpy, tolerance=1e-3)


def root(n):
    """The symmetric root of a matrix, through its eigenvectors: their signs do not show."""
    a = definite(n)

    def function(params, a):
        values, vectors = jax.scipy.linalg.eigh(a)
        return (vectors * jnp.sqrt(values)) @ vectors.T

    def numpy(params, a):
        import scipy.linalg

        values, vectors = scipy.linalg.eigh(a, driver="evd", check_finite=False)
        return (vectors * np.sqrt(values)) @ vectors.T

    return Case(function, (a,), Work(11.0 * n**3, a.nbytes, a.nbytes), numpy=numpy, tolerance=1e-4)


ROWS = [
    Row("cholesky", "Cholesky 1024", cholesky, (1024,), (1021,), True),
    Row("solve", "LU and solve 512, 16 right sides", solve, (512, 16), (509, 15), True),
    Row("matrix-root", "root of 256² by eigenvectors", root, (256,), (253,), True),
]
