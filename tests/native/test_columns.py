"""Reductions of columns, whole and in blocks, and what follows them: random
shapes, by several threads, must give what XLA gives."""

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
TYPES = [np.float32, np.float32, np.float64, ml_dtypes.bfloat16, np.float16, np.int32]


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


def sums(x, axes):
    return x.sum(axes), jnp.exp(-jnp.abs(x)).sum(axes)


def moments(x, axes):
    # What follows a sum is computed where the sum is stored.
    return jnp.tanh(x.mean(axes) * 2 + 1), jnp.var(x, axes)


def normalized(x, axes):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(axes, keepdims=True) + 1)


def extremes(x, axes):
    return x.max(axes), jnp.minimum(x.min(axes), 0), (x > 0).any(axes), (x != 0).all(axes)


def places(x, axes):
    axis = axes[0] if isinstance(axes, tuple) else axes
    return jnp.argmax(x, axis), jnp.argmin(jnp.abs(x), axis)


PROGRAMS = [sums, moments, normalized, extremes, places]


def draw_shape(draw):
    """And the axes, of which the last is none."""
    columns = draw.choice([1, 3, 16, 67, 255, 256, 257, 1000, 1024, 1500, 4099])
    rows = draw.choice([0, 1, 2, 7, 8, 9, 30, 64, 133])
    kind = draw.randrange(5)
    if kind == 0:
        return (rows, columns), 0
    if kind == 1:
        return (draw.choice([1, 3, 70]), rows, columns % 500 + 1), 1
    if kind == 2:
        return (draw.choice([1, 5]), rows, columns % 300 + 1), (0, 1)
    if kind == 3:
        return (rows, draw.choice([2, 9]), columns % 700 + 1), 0
    return (draw.choice([2, 3]), draw.choice([1, 4]), rows, columns % 90 + 1), (0, 2)


@pytest.mark.parametrize("seed", range(100))
def test_columns(tools, seed):
    draw = random.Random(seed)
    program = PROGRAMS[seed % len(PROGRAMS)]
    shape, axes = draw_shape(draw)
    if program in (extremes, places):
        # There is no largest of none.
        shape = tuple(max(size, 1) for size in shape)
    kind = draw.choice(TYPES)
    numbers = np.random.default_rng(seed)
    x = (numbers.standard_normal(shape) * 4).astype(kind)
    target = jax_functions.TARGETS[seed % 3]
    got = jax_functions.run(tools, lambda x: program(x, axes), [x], target)
    want = jax.tree.leaves(jax.jit(lambda x: program(x, axes))(x))
    for ours, theirs in zip(got, want, strict=True):
        theirs = np.asarray(theirs)
        if theirs.dtype.kind in "biu":
            np.testing.assert_array_equal(ours, theirs)
            continue
        epsilon = float(ml_dtypes.finfo(theirs.dtype).eps)
        theirs = theirs.astype(np.float64)
        finite = np.nan_to_num(np.abs(theirs), nan=0, posinf=0)
        limit = 16 * epsilon * max(1, finite.max(initial=0))
        np.testing.assert_allclose(np.asarray(ours, np.float64), theirs, rtol=0, atol=limit)


@pytest.mark.parametrize("rows", [8191, 8192, 8193, 8200, 30000])
@pytest.mark.parametrize("columns", [1, 67, 1027])
def test_long_columns(tools, rows, columns):
    # So many rows are summed up in parts.
    if rows == 30000 and columns == 1027:
        columns = 300
    x = np.random.default_rng(0).uniform(0, 1, (rows, columns)).astype(np.float32)
    got = jax_functions.run(tools, lambda x: (x.sum(0), x.max(0)), [x], "cpu:host")
    np.testing.assert_allclose(got[0], x.astype(np.float64).sum(0), rtol=1e-6)
    np.testing.assert_array_equal(got[1], x.max(0))


@pytest.mark.parametrize("shape,axes", [((3, 20000, 5), (0, 1)), ((40, 300, 9, 33), (0, 1, 2))])
def test_long_axes(tools, shape, axes):
    x = np.random.default_rng(0).uniform(0, 1, shape).astype(np.float32)
    got = jax_functions.run(tools, lambda x: x.sum(axes), [x], "cpu:host")[0]
    np.testing.assert_allclose(got, x.astype(np.float64).sum(axes), rtol=1e-6)
