"""Scatters of single elements, whose kernels compute their indices, against XLA."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax_functions
import numpy as np
import pytest
from jax import numpy as jnp

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
SIZE, COUNT = 70001, 90003


def draw(seed, low, high, count, kind):
    return np.random.default_rng(seed).integers(low, high, count).astype(kind)


X = draw(1, -9, 9, SIZE, np.float32)
Y = draw(2, -9, 9, COUNT, np.float32)
# Negative ones count from the end; some are outside.
I = draw(3, -SIZE - 50, SIZE + 50, COUNT, np.int32)
K = draw(4, -SIZE, SIZE, SIZE, np.int32)

# Both zeros, and no numbers.
Z = np.where(Y > 5, np.nan, np.where(abs(Y) < 3, np.copysign(0, Y), Y)).astype(np.float32)


def get_bits(x):
    return jnp.where(jnp.isnan(x), 1, jax.lax.bitcast_convert_type(x, jnp.int32))


CASES = {
    "add": (lambda x, i, y: x.at[i].add(y), X, I, Y),
    "number": (lambda x, i: x.at[i].add(2.0), X, I),
    "largest": (lambda x, i, y: x.at[i * 3 - 1].max(abs(y)), X, I, Y),
    "largest of many": (lambda i, z: get_bits(jnp.full(900, -0.0).at[i % 900].max(z)), I, Z),
    "least of many": (lambda i, z: get_bits(jnp.full(900, 0.0).at[i % 900].min(z)), I, Z),
    "dropped": (lambda x, i, y: x.at[i].add(y, mode="drop"), X, I, Y),
    "two dimensions": (lambda x, i, y: x.reshape(1, -1).at[0, i].add(y), X, I, Y),
    "unique": (
        lambda x, y: x.at[jnp.arange(999) * 3].add(y[:999], unique_indices=True), X, Y,
    ),
    "its own indices": (lambda k: k.at[k].add(k), K),
    "made of itself": (lambda k: k.at[jnp.where(k < 5, k + 3, k)].add(1), K),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_scatter(tools, name):
    function, *arguments = CASES[name]
    got = jax_functions.run(tools, function, arguments, "cpu:host")
    np.testing.assert_array_equal(got[0], jax.jit(function)(*arguments))
