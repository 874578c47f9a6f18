"""Convolutions with constant kernels of every type that lies in panels, of random windows,
strides, dilations and paddings, beside sums of f64."""

import os
from functools import partial

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import jax_functions
import numpy as np
import pytest
from jax import lax
from test_convolution_gradients import LAYOUTS

pytestmark = jax_functions.needs_build
tools = jax_functions.tools


def draw(random, dims):
    largest = {1: 90, 2: 20, 3: 7}[dims]
    while True:
        sizes, window = random.integers(1, largest + 1, dims), random.integers(1, 5, dims)
        options = {
            "window_strides": random.integers(1, 4, dims).tolist(),
            "padding": random.integers(-1, 4, (dims, 2)).tolist(),
            "rhs_dilation": random.integers(1, 3, dims).tolist(),
            "lhs_dilation": [int(random.integers(1, 3))] * dims,
            "dimension_numbers": LAYOUTS[dims],
        }
        batch, outputs = random.integers(1, 4), random.integers(8, 110)
        features = int(random.choice([1, 2, 3, 6, 16, 33, 64, 130]))
        shapes = (batch, *sizes, features), (*window, features, outputs)
        like = [jax.ShapeDtypeStruct(shape, "float32") for shape in shapes]
        try:
            result = jax.eval_shape(partial(lax.conv_general_dilated, **options), *like)
        except (TypeError, ValueError):
            continue
        if min(result.shape) > 0:
            return *shapes, options


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v3"])
def test_constant_kernel(tools, kind, seed, target):
    random = np.random.default_rng(seed)
    x_shape, w_shape, options = draw(random, seed % 3 + 1)
    with jax.enable_x64(True):
        x, w = (jnp.asarray(random.standard_normal(shape), kind) for shape in (x_shape, w_shape))

        def convolve(x, w, out=None):
            # Wide results of narrow products, and results that others read.
            y = lax.conv_general_dilated(x, w, preferred_element_type=out, **options)
            return y, jnp.maximum(y, 0)

        wide = "float32" if kind == "bfloat16" else kind
        want, _ = jax.jit(convolve)(*[np.asarray(a, "float64") for a in (x, w)])
        got, positive = jax_functions.run(
            tools, lambda x: convolve(x, w, wide), [np.asarray(x)], target
        )
        assert got.dtype == wide and got.shape == want.shape
        terms = np.prod(w_shape[:-1])
        limit = {"float64": 1e-13}.get(kind, 1e-6) * terms
        np.testing.assert_allclose(got, want, rtol=0, atol=limit)
        np.testing.assert_array_equal(positive, np.maximum(got, 0))
