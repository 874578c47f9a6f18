"""Weights that are constants of the program: packed when it is compiled, they
give what XLA gives."""

import os
import random

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp

import jax_functions

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
BF16 = ml_dtypes.bfloat16


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


def check(tools, function, x, seed):
    got = jax_functions.run(tools, function, [x], jax_functions.TARGETS[seed % 3])
    want = jax.tree.leaves(jax.jit(function)(x))
    for ours, theirs in zip(got, want, strict=True):
        limit = 64 * np.finfo(x.dtype).eps * max(1, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=limit)


def uniform(shape, dtype, seed):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


@pytest.mark.parametrize("seed", range(24))
def test_products(tools, seed):
    draw = random.Random(seed)
    kind = draw.choice([np.float32, np.float32, np.float64])
    m, k, n = draw.choice([1, 4, 16, 130]), draw.choice([1, 64, 300]), draw.choice([9, 33, 64, 200])
    k = max(k, 4096 // n + 1) if draw.random() < 0.8 else k
    x = uniform((m, k), kind, seed)
    form = draw.choice(["plain", "transposed", "heads", "scanned", "shared"])
    w = uniform((k, n), kind, seed + 1)
    bias = uniform(n, kind, seed + 2)

    def function(x):
        if form == "transposed":
            return jax.nn.relu(lax.dot_general(x, np.asarray(w.T), (((1,), (1,)), ((), ()))) + bias)
        if form == "heads" and n % 8 == 0:
            return jnp.einsum("mk,kha->mha", x, w.reshape(k, 8, -1)) * 2
        if form == "scanned":
            return lax.fori_loop(0, 3, lambda i, y: y + jnp.tanh(x @ w), jnp.zeros((m, n), kind))
        if form == "shared":
            return x @ w, (x + 1) @ w
        return x @ w + bias

    check(tools, function, x, seed)


@pytest.mark.parametrize("seed", range(24))
def test_products_of_bf16(tools, seed):
    """In pairs of rows, of which the last may lack one; judged by the same numbers in f64."""
    draw = random.Random(seed)
    m, k, n = draw.choice([1, 3, 4, 16, 130]), draw.choice([2, 65, 300, 301]), draw.choice([9, 64, 201])
    k = max(k, 4096 // n + 1) if draw.random() < 0.8 else k
    x, w = (uniform(shape, BF16, seed + i) for i, shape in enumerate([(m, k), (k, n)]))
    form = draw.choice(["f32", "bf16", "transposed", "rounded", "scanned"])

    def function(x, kind=jnp.float32):
        if form == "bf16":
            kind = kind if kind == jnp.float64 else BF16
            return jnp.matmul(x, w, preferred_element_type=kind)
        if form == "transposed":
            dims = (((1,), (1,)), ((), ()))
            return lax.dot_general(x, np.asarray(w.T), dims, preferred_element_type=kind)
        if form == "scanned":
            add = lambda i, y: y + jnp.matmul(x, w, preferred_element_type=kind)  # noqa: E731
            return lax.fori_loop(0, 3, add, jnp.zeros((m, n), kind))
        if form == "rounded":
            x = lax.reduce_precision(x.astype(kind) * 3, 8, 7).astype(x.dtype)
        return jnp.matmul(x, w, preferred_element_type=kind)

    (got,) = jax_functions.run(tools, function, [x], jax_functions.TARGETS[seed % 3])
    want = np.asarray(jax.jit(function, static_argnums=1)(x, jnp.float64))
    limit = (2.0**-8 if got.dtype == BF16 else 1e-5) * max(1, np.abs(want).max())
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=0, atol=limit)


@pytest.mark.parametrize("seed", range(16))
def test_convolutions(tools, seed):
    draw = random.Random(seed)
    kind = draw.choice([np.float32, np.float64])
    channels, features = draw.choice([3, 16]), draw.choice([24, 40, 128])
    window = draw.choice([(1, 1), (3, 3), (5, 2)])
    groups = draw.choice([1, 1, 2]) if channels == 16 else 1
    layout = draw.choice([("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")])
    shape = {"N": 2, "H": 19, "W": 14, "C": channels}
    weights = {"H": window[0], "W": window[1], "I": channels // groups, "O": features}
    x = uniform([shape[d] for d in layout[0]], kind, seed)
    w = uniform([weights[d] for d in layout[1]], kind, seed + 1)

    def function(x):
        y = lax.conv_general_dilated(
            x, w, (1, 2), draw_padding, dimension_numbers=layout, feature_group_count=groups
        )
        return jnp.maximum(y, 0)

    draw_padding = draw.choice(["SAME", "VALID"])
    check(tools, function, x, seed)


@pytest.mark.parametrize("features", [96, 224, 320])
def test_features_that_are_divided(tools, features):
    """So many places and features that blocks of features begin inside of the kernel."""
    x = uniform((1, 20, 20, 48), np.float32, features)
    w = uniform((1, 1, 48, features), np.float32, 1)
    layout = ("NHWC", "HWIO", "NHWC")
    check(
        tools,
        lambda x: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout),
        x,
        features,
    )
