"""Transposes of any order, element and size give what NumPy gives."""

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
TYPES = [np.float32, np.float64, np.int8, np.int16, ml_dtypes.bfloat16, np.int32]
COMPLEX = [np.complex64, np.complex128]


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("seed", range(40))
def test_transposes(tools, seed):
    draw = random.Random(seed)
    rank = draw.choice([2, 2, 3, 4])
    sizes = [1, 2, 7, 8, 16, 40, 65] if rank > 2 else [1, 9, 64, 200, 333]
    shape = [draw.choice(sizes) for _ in range(rank)]
    permutation = draw.sample(range(rank), rank)
    numbers = np.random.default_rng(seed)
    x = numbers.integers(-100, 100, shape).astype(TYPES[seed % len(TYPES)])
    form = draw.choice(["plain", "sum", "computed", "returned twice"])

    def function(x):
        y = jnp.transpose(x * x if form == "computed" else x, permutation)
        if form == "sum":
            return y + y
        return (y, x, y - y) if form == "returned twice" else y

    got = jax_functions.run(tools, function, [x], jax_functions.TARGETS[seed % 3])
    for ours, theirs in zip(got, jax.tree.leaves(jax.jit(function)(x)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", [*TYPES, *COMPLEX])
@pytest.mark.parametrize(
    "shape, permutation",
    [
        ((1531, 3071), (1, 0)),
        ((2048, 2112), (1, 0)),
        ((3, 771, 2056), (0, 2, 1)),
        ((701, 11, 601), (2, 1, 0)),
        ((1031, 5, 3, 307), (3, 1, 2, 0)),
    ],
)
def test_large(tools, kind, shape, permutation):
    """What is written past the caches."""
    x = np.arange(np.prod(shape)).astype(np.int64) * 40503 % 100
    x = x.reshape(shape).astype(kind)
    for target in ["cpu:host", "cpu:x86-64-v3"]:
        got = jax_functions.run(tools, lambda x: jnp.transpose(x, permutation), [x], target)
        np.testing.assert_array_equal(got[0], x.transpose(permutation))
