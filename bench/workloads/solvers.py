"""Iterative solvers: small products in a loop."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal


def shrink(x, by):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - by, 0)


def lasso(rows, columns, steps):
    """Least squares with a price on sizes, by accelerated proximal gradients."""
    a = normal(rows, columns, scale=rows**-0.5)
    b = a @ np.linspace(-1, 1, columns, dtype=np.float32) + normal(rows, scale=0.05)
    step = np.float32(1 / np.linalg.norm(a, 2) ** 2)
    price = np.float32(0.1)

    def function(params, a, b):
        def improve(_, state):
            w, v, t = state
            gradient = a.T @ (a @ v - b)
            new = shrink(v - step * gradient, step * price)
            next_t = (1 + jnp.sqrt(1 + 4 * t * t)) / 2
            return new, new + (t - 1) / next_t * (new - w), next_t

        w = jnp.zeros(columns, a.dtype)
        return lax.fori_loop(0, steps, improve, (w, w, jnp.ones((), a.dtype)))[0]

    work = Work(4.0 * rows * columns * steps, nbytes(a, b), 4 * columns)
    return Case(function, (a, b), work, tolerance=1e-4)


def lasso_path(rows, columns, prices, steps):
    """The same for several prices at once, which share the matrix, until all have
    settled: the products have few columns."""
    a = normal(rows, columns, scale=rows**-0.5)
    b = a @ np.linspace(-1, 1, columns, dtype=np.float32) + normal(rows, scale=0.05)
    step = np.float32(1 / np.linalg.norm(a, 2) ** 2)
    path = np.geomspace(1, 0.01, prices, dtype=np.float32)

    def function(params, a, b, path):
        def solve(price):
            def improve(w, _):
                return shrink(w - step * (a.T @ (a @ w - b)), step * price), None

            return lax.scan(improve, jnp.zeros(columns, a.dtype), length=steps)[0]

        return jax.vmap(solve)(path)

    work = Work(4.0 * rows * columns * prices * steps, nbytes(a, b, path), 4 * columns * prices)
    return Case(function, (a, b, path), work, tolerance=1e-4)


ROWS = [
    Row("lasso", "proximal gradients 442 × 10, 500 steps", lasso, (442, 10, 500), (439, 11, 500)),
    Row(
        "lasso-path",
        "the same for 10 prices, 500 steps",
        lasso_path,
        (442, 10, 10, 500),
        (439, 11, 9, 500),
    ),
]
