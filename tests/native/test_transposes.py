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
