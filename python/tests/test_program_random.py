"""Random procedures over a few globals, against what NumPy makes of them: where
values share memory, none may see another one's bytes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alula import Program, like

NAMES = ("_a", "_b", "_c")


def draw(random, steps):
    """A list of steps: what happens to which values."""
    made = []
    for _ in range(steps):
        kind = random.choice(["load", "store", "add", "scale", "update", "give", "loop", "branch"])
        made.append((str(kind), *map(int, random.integers(0, 1000, 3))))
    return made


def run(steps, get, put, x, ops):
    """One procedure; `ops` is NumPy's or JAX's way to do it."""
    values, given = [x], []

    def pick(n):
        return values[n % len(values)]

    for kind, a, b, c in steps:
        name = NAMES[a % 3]
        if kind == "load":
            values.append(get(name))
        elif kind == "store":
            put(name, pick(b))
        elif kind == "add":
            values.append(pick(a) * 0.5 + pick(b))
        elif kind == "scale":
            values.append(ops.tanh(pick(a)) + c % 7)
        elif kind == "update":
            values.append(ops.update(pick(a), pick(b), c % (x.shape[0] - 1)))
        elif kind == "loop":
            values.append(ops.loop(pick(a), pick(b)))
        elif kind == "branch":
            values.append(ops.branch(pick(a), pick(b)))
        else:
            given.append(pick(a))
    return given


class InNumpy:
    tanh = staticmethod(np.tanh)

    @staticmethod
    def update(a, b, row):
        made = np.array(a)
        made[row : row + 2] = b[:2]
        return made

    @staticmethod
    def loop(a, b):
        for i in range(3):
            a = InNumpy.update(a * 0.5, b, i)
        return a

    @staticmethod
    def branch(a, b):
        return a + 1 if a[0, 0] > b[0, 0] else b * 2


class InJax:
    tanh = staticmethod(jnp.tanh)

    @staticmethod
    def update(a, b, row):
        return jax.lax.dynamic_update_slice(a, b[:2], (row, 0))

    @staticmethod
    def loop(a, b):
        return jax.lax.fori_loop(
            0, 3, lambda i, v: jax.lax.dynamic_update_slice(v * 0.5, b[:2], (i, 0)), a
        )

    @staticmethod
    def branch(a, b):
        return jax.lax.cond(a[0, 0] > b[0, 0], lambda: a + 1, lambda: b * 2)


# Small ones share kernels, large ones have kernels and loops of their own.
@pytest.mark.parametrize("rows, columns", [(4, 3), (64, 600)])
@pytest.mark.parametrize("seed", range(12))
def test_random_procedures(rows, columns, seed):
    random = np.random.default_rng(seed)
    start = {n: random.standard_normal((rows, columns), np.float32) for n in NAMES}
    x = random.standard_normal((rows, columns), np.float32)
    programs = [draw(random, int(random.integers(4, 14))) for _ in range(3)]

    def procedure(steps):
        def body(self, x=like(x)):
            put = lambda name, value: setattr(self, name, value)  # noqa: E731
            return run(steps, lambda name: getattr(self, name), put, x, InJax)

        return body

    body = {n: jnp.asarray(v) for n, v in start.items()}
    body |= {f"f{i}": procedure(steps) for i, steps in enumerate(programs)}
    program = Program.create_from_dict("Random", body)()
    state = dict(start)
    kept = []
    for i in random.integers(0, 3, 6):
        expected = run(programs[i], state.__getitem__, state.__setitem__, x, InNumpy)
        ours = getattr(program, f"f{i}")(x)
        kept.append((ours, expected))
    # Compared at the end: results are snapshots.
    for ours, expected in kept:
        for a, b in zip(ours, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)
    for name in NAMES:
        np.testing.assert_allclose(getattr(program, name), state[name], rtol=2e-5, atol=1e-5)
