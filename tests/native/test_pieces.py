"""Padding, rows and columns that numbers pick, and columns times rows give what XLA:CPU gives."""

import os
import random

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax_functions
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
TYPES = [np.float32, np.int8, np.int32, ml_dtypes.bfloat16]


def compare(tools, function, arrays, seed):
    got = jax_functions.run(tools, function, arrays, jax_functions.TARGETS[seed % 3])
    wanted = jax.tree.leaves(jax.jit(function)(*arrays))
    for ours, theirs in zip(got, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        if ours.dtype == ml_dtypes.bfloat16:
            ours, theirs = ours.astype(np.float32), np.asarray(theirs, np.float32)
        np.testing.assert_array_equal(ours, theirs)


def draw_array(draw, seed, rank):
    sizes = {1: [7, 9000], 2: [33, 65, 300], 3: [5, 17, 70], 4: [2, 5, 9, 40]}[rank]
    shape = [draw.choice(sizes) for _ in range(rank)]
    kind = TYPES[seed % len(TYPES)]
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(kind)


@pytest.mark.parametrize("seed", range(40))
def test_pads(tools, seed):
    draw = random.Random(seed)
    x = draw_array(draw, seed, draw.choice([1, 2, 2, 3, 4]))
    mode = draw.choice(["reflect", "symmetric", "edge", "wrap"])
    # Wider than the array too.
    most = draw.choice([1, 4, 12])
    widths = [(draw.randrange(most + 1), draw.randrange(most + 1)) for _ in x.shape]
    form = draw.choice(["plain", "before", "after", "cut", "turned", "twice"])

    def function(x):
        if form == "before":
            return jnp.pad(x * x - 1, widths, mode)
        padded = jnp.pad(x, widths, mode)
        if form == "after":
            return padded * padded - 1
        if form == "cut":
            return padded[(*[slice(1, None, 2)] * x.ndim,)], padded
        if form == "turned":
            return padded[::-1], padded.T
        if form == "twice":
            return jnp.concatenate([padded, jnp.flip(padded, -1)], -1), padded + 1
        return padded

    compare(tools, function, [x], seed)


@pytest.mark.parametrize("seed", range(48))
def test_picks(tools, seed):
    draw = random.Random(seed)
    rank = draw.choice([1, 2, 2, 3])
    x = draw_array(draw, seed, rank)
    axis = draw.randrange(rank)
    size = x.shape[axis]
    shape = draw.choice([(5,), (70,), (3, 40), ()])
    # Before the first and behind the last, too.
    places = np.random.default_rng(seed).integers(-2 * size, 2 * size, shape, np.int32)
    mode = draw.choice(["fill", "clip", "wrap", None])
    form = draw.choice(["plain", "map", "table", "both", "sum", "mask", "twice"])

    def function(x, places):
        def take(x):
            if mode is None:
                return x[(*[slice(None)] * axis, places)]
            return jnp.take(x, places, axis=axis, mode=mode)

        if form == "map":
            return take(x) * 2 - 1
        if form == "table":
            return take(x * 3 - 1)
        if form == "both":
            return take(x) + 1, take(x + 2), x + 2
        if form == "sum":
            return take(x).astype(jnp.float32).sum(-1) if rank + len(shape) > 1 else take(x)
        if form == "mask":
            taken = take(x)
            return jnp.where(taken > 0, taken, -taken)
        if form == "twice":
            return jnp.take(take(x), jnp.abs(places.reshape(-1)) % 2, axis=0, mode="clip")
        return take(x)

    if form == "twice" and not shape and rank == 1:
        pytest.skip("nothing to pick from")
    compare(tools, function, [x, places], seed)


@pytest.mark.parametrize("seed", range(24))
def test_columns_and_rows(tools, seed):
    draw = random.Random(seed)
    rows, columns = draw.choice([(33, 300), (300, 33), (70, 130), (9, 9)])
    kind = TYPES[seed % len(TYPES)]
    x = np.random.default_rng(seed).integers(-4, 5, (rows, columns)).astype(kind)
    places = np.random.default_rng(seed).integers(-5, 5, rows, np.int32)

    def function(x, places):
        column, row, short = x[:, 3], x[5], x[2, :8]
        column = draw.choice([column, column * 2 - 1, short[places], x[places, 1]])
        row = draw.choice([row, row + 1, x[0] * row, x[:, 2][jnp.arange(columns) % rows]])
        product = column[:, None] * row[None, :]
        if draw.random() < 0.3:
            product = jnp.where(column[:, None] > row[None, :], product, x)
        if draw.random() < 0.3:
            product = product - jnp.concatenate([column[1:], column[:1]])[:, None]
        if draw.random() < 0.3:
            return product, product.astype(jnp.float32).max(-1), column
        return product

    state = draw.getstate()

    def again(*arrays):
        draw.setstate(state)
        return function(*arrays)

    compare(tools, again, [x, places], seed)


@pytest.mark.parametrize("seed", range(24))
def test_lists_of_places(tools, seed):
    draw = random.Random(seed)
    kind = TYPES[seed % len(TYPES)]
    shape = draw.choice([(30, 70), (9, 9, 40), (5, 6, 7, 33)])
    x = np.random.default_rng(seed).integers(-4, 5, shape).astype(kind)
    count = draw.choice([3, 40, 4000])
    i, j = np.random.default_rng(seed).integers(-12, 12, (2, count), np.int32)
    form = draw.choice(["picked", "along", "columns", "set", "added", "rows"])

    def function(x, i, j):
        if form == "along":
            places = jnp.abs(
                jnp.broadcast_to(i[:3].reshape(3, *[1] * (x.ndim - 1)), (3, *x.shape[1:]))
            )
            return jnp.take_along_axis(x, places, 0)
        if form == "columns":
            return x[i[:3, None], j[None, :8]] + 1
        if form == "set":
            return x.at[i[:1], j[:1]].set(1)
        if form == "added":
            return x.at[i * 2, j].add(1), x.at[i, j % 5].max(2)
        if form == "rows":
            part = x if x.ndim == 2 else x[..., 3:]
            return part[i * i % 7, j].astype(jnp.float32) * 2
        return x[i, j], x[j, i] - x[i, j]

    compare(tools, function, [x, i, j], seed)


@pytest.mark.parametrize("seed", range(30))
def test_few_neighbours(tools, seed):
    """Pieces along a short last dimension, computed and as they lie, pieces of pieces too."""
    draw = random.Random(seed)
    kind = TYPES[seed % len(TYPES)]
    outer = draw.choice([(300,), (7, 40), (3, 5, 9), (20000,)])
    widths = [draw.choice([1, 1, 1, 2, 3]) for _ in range(draw.choice([2, 3, 4]))]
    arrays = [
        np.random.default_rng(seed + i).integers(-4, 5, (*outer, width)).astype(kind)
        for i, width in enumerate(widths)
    ]
    form = draw.choice(["plain", "computed", "nested", "read", "twice"])

    def function(*pieces):
        if form == "computed":
            pieces = [piece * (i + 1) - pieces[0][..., :1] for i, piece in enumerate(pieces)]
        whole = jnp.concatenate(pieces, -1)
        if form == "nested":
            return jnp.concatenate([whole[..., :1], jnp.concatenate([whole, pieces[0]], -1)], -1)
        if form == "read":
            return whole.reshape(-1) * 2, whole.sum(-1, dtype=np.float32)
        return (whole, pieces[-1] + 1) if form == "twice" else whole

    compare(tools, function, arrays, seed)
