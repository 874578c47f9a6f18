"""Bodies that attract each other, differences on grids, prices by chance."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.case import Case, Row, Work, nbytes, normal

SOFTENING, STEP = 0.05, 0.01


def pull_on_each(xp, positions, masses):
    """Accelerations from all pairs."""
    apart = positions[None] - positions[:, None]
    square = (apart * apart).sum(-1) + SOFTENING**2
    weights = masses / (square * xp.sqrt(square))
    return (apart * weights[:, :, None]).sum(1)


def bodies(count, steps):
    positions, speeds = normal(count, 3), normal(count, 3, scale=0.1, seed=1)
    masses = np.full(count, 1 / count, np.float32)

    def function(params, positions, speeds, masses):
        def step(_, state):
            x, v, a = state
            v = v + STEP / 2 * a
            x = x + STEP * v
            a = pull_on_each(jnp, x, masses)
            return x, v + STEP / 2 * a, a

        first = pull_on_each(jnp, positions, masses)
        return lax.fori_loop(0, steps, step, (positions, speeds, first))[:2]

    def numpy(params, x, v, masses):
        half = np.float32(STEP / 2)
        a = pull_on_each(np, x, masses)
        for _ in range(steps):
            v = v + half * a
            x = x + np.float32(STEP) * v
            a = pull_on_each(np, x, masses)
            v = v + half * a
        return x, v

    # Differences, squares, the weight, sums.
    flops = 20.0 * count * count * (steps + 1)
    work = Work(flops, nbytes(positions, speeds, masses), 2 * positions.nbytes)
    return Case(function, (positions, speeds, masses), work, numpy=numpy)


def heat(rows, columns, steps):
    """Five points; the border stays."""
    u = normal(rows, columns)

    def change(u):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u[1:-1, 1:-1] + np.float32(0.2) * (around - 4 * u[1:-1, 1:-1])

    def function(params, u):
        return lax.fori_loop(0, steps, lambda _, u: u.at[1:-1, 1:-1].set(change(u)), u)

    def numpy(params, u):
        u = u.copy()
        for _ in range(steps):
            u[1:-1, 1:-1] = change(u)
        return u

    work = Work(7.0 * u.size * steps, u.nbytes * steps, u.nbytes * steps)
    return Case(function, (u,), work, numpy=numpy)


def waves(planes, rows, columns, steps):
    """Seven points of a box whose ends meet."""
    now = normal(planes, rows, columns)
    before = now * np.float32(0.99)

    def laplace(xp, u):
        around = sum(xp.roll(u, by, axis) for axis in range(3) for by in (1, -1))
        return around - 6 * u

    def function(params, before, now):
        def step(_, state):
            before, now = state
            return now, 2 * now - before + np.float32(0.1) * laplace(jnp, now)

        return lax.fori_loop(0, steps, step, (before, now))

    def numpy(params, before, now):
        for _ in range(steps):
            before, now = now, 2 * now - before + np.float32(0.1) * laplace(np, now)
        return before, now

    traffic = now.nbytes * steps
    work = Work(11.0 * now.size * steps, 2 * traffic, traffic)
    return Case(function, (before, now), work, numpy=numpy)


def reactions(rows, columns, steps):
    """Two substances that spread and react, as Gray and Scott have it; ends meet."""
    u, v = 1 + normal(rows, columns, scale=0.1), 0.25 + normal(rows, columns, scale=0.1, seed=1)

    def function(params, u, v):
        def laplace(u):
            wide = jnp.pad(u, 1, mode="wrap")
            return wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * u

        def step(state, _):
            u, v = state
            rate = u * v * v
            u, v = (
                u + 0.16 * laplace(u) - rate + 0.035 * (1 - u),
                v + 0.08 * laplace(v) + rate - 0.1 * v,
            )
            return (u, v), None

        return lax.scan(step, (u, v), length=steps)[0]

    traffic = 2 * u.nbytes * steps
    return Case(function, (u, v), Work(24.0 * u.size * steps, traffic, traffic))


def asian_option(paths, steps):
    """The price of an option on the mean of a stock over its way, and its standard error."""
    start = np.full(paths, 100, np.float32)
    key = np.array([0, 7], np.uint32)
    drift, spread, strike = 0.02 / steps, 0.2 / steps**0.5, 100.0

    def function(params, key, start):
        def step(state, key):
            logs, sums = state
            chance = jax.random.normal(key, (paths,), jnp.float32).astype(start.dtype)
            logs = logs + (drift - spread**2 / 2) + spread * chance
            return (logs, sums + jnp.exp(logs)), None

        keys = jax.random.split(key, steps)
        first = (jnp.log(start), jnp.zeros_like(start))
        (_, sums), _ = lax.scan(step, first, keys)
        gains = jnp.maximum(sums / steps - strike, 0)
        return gains.mean(), gains.std() / paths**0.5

    return Case(function, (key, start), Work(0, start.nbytes, 8), tolerance=1e-4)


ROWS = [
    Row("bodies", "1024 bodies, 4 steps", bodies, (1024, 4), (1019, 4)),
    Row("heat", "heat 1024², 10 steps", heat, (1024, 1024, 10), (1021, 1019, 9)),
    Row("waves", "waves 128³, 4 steps", waves, (128, 128, 128, 4), (127, 125, 123, 4)),
    Row("reactions", "Gray-Scott 512², 20 steps", reactions, (512, 512, 20), (509, 507, 19)),
    Row("asian-option", "Asian option, 16k × 64", asian_option, (16384, 64), (16381, 61)),
]
