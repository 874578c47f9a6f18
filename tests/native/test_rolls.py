"""Pieces of a tensor in another order, read by maps, give what NumPy gives."""

import os
import random

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp

import jax_functions

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
TYPES = [np.float32, np.int8, np.int32, ml_dtypes.bfloat16]


def draw_rolled(draw, x):
    """One of the ways in which a program reads neighbours on a ring."""
    axis = draw.randrange(x.ndim)
    size = x.shape[axis]
    if draw.random() < 0.2:
        axes = tuple(range(x.ndim))
        shifts = tuple(draw.randrange(-3, 4) for _ in axes)
        return lambda x: jnp.roll(x, shifts, axes)
    if draw.random() < 0.2:
        # Pieces with a gap and one that comes twice.
        cuts = sorted(draw.randrange(size + 1) for _ in range(2))

        def function(x):
            head, tail = (jax.lax.slice_in_dim(x, *ends, axis=axis)
                          for ends in ((0, cuts[0]), (cuts[1], size)))  # fmt: skip
            whole = jnp.concatenate([tail, x, head, tail], axis)
            return jax.lax.slice_in_dim(whole, 0, size, axis=axis)

        return function
    shift = draw.choice([1, -1, size // 2, size - 2, draw.randrange(-size, size + 1)])
    return lambda x: jnp.roll(x, shift, axis)


@pytest.mark.parametrize("seed", range(60))
def test_rolls(tools, seed):
    draw = random.Random(seed)
    rank = draw.choice([1, 2, 2, 3, 4])
    sizes = {1: [70000, 3000], 2: [33, 65, 300, 401], 3: [9, 17, 64, 130], 4: [3, 8, 65, 100]}[rank]
    shape = [draw.choice(sizes) for _ in range(rank)]
    kind = TYPES[seed % len(TYPES)]
    x, y = np.random.default_rng(seed).integers(-4, 5, (2, *shape)).astype(kind)
    rolls = [draw_rolled(draw, x) for _ in range(draw.choice([1, 2, 4]))]
    form = draw.choice(["sum", "twice", "chain", "returned", "reduced", "loop"])

    def function(x, y):
        total = y
        for roll in rolls:
            total = total + roll(x * y if form == "twice" else x)
        if form == "chain":
            return rolls[0](total * x) - total
        if form == "returned":
            return total, rolls[0](x), total - x
        if form == "reduced":
            return total.max(-1)
        if form == "loop":
            return jax.lax.fori_loop(0, 3, lambda i, c: (c[1], rolls[0](c[1]) - c[0]), (x, total))
        return total

    got = jax_functions.run(tools, function, [x, y], jax_functions.TARGETS[seed % 3])
    for ours, theirs in zip(got, jax.tree.leaves(jax.jit(function)(x, y)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
