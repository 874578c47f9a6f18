"""Gradients of convolutions, by their inputs and by their weights, of random
windows, strides, dilations and paddings, as XLA computes them."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
import pytest
from jax import lax

import jax_functions

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

LAYOUTS = {
    1: ("NWC", "WIO", "NWC"),
    2: ("NHWC", "HWIO", "NHWC"),
    3: ("NDHWC", "DHWIO", "NDHWC"),
}


def draw_convolution(random, dims):
    """Shapes and a function of the input and the weights."""
    largest = {1: 90, 2: 24, 3: 8}[dims]
    while True:
        sizes = random.integers(1, largest + 1, dims)
        window = random.integers(1, 5, dims)
        strides = random.integers(1, 4, dims)
        dilation = random.integers(1, 3, dims)
        padding = random.integers(-1, 4, (dims, 2))
        extent = (window - 1) * dilation + 1
        if np.all(sizes + padding.sum(1) >= extent) and np.all(sizes + padding.min(1) > 0):
            break
    batch, features, outputs = random.integers(1, 5), random.integers(1, 70), random.integers(1, 70)

    def convolve(x, w):
        return lax.conv_general_dilated(
            x,
            w,
            strides.tolist(),
            padding.tolist(),
            rhs_dilation=dilation.tolist(),
            dimension_numbers=LAYOUTS[dims],
        )

    return (batch, *sizes, features), (*window, features, outputs), convolve


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_gradients(tools, kind, seed):
    random = np.random.default_rng(seed)
    x_shape, w_shape, convolve = draw_convolution(random, seed % 3 + 1)
    with jax.enable_x64(True):
        x = random.standard_normal(x_shape).astype(kind)
        w = random.standard_normal(w_shape).astype(kind)
        g = random.standard_normal(jax.eval_shape(convolve, x, w).shape).astype(kind)

        def by_weights(x, g):
            like = jax.ShapeDtypeStruct(w_shape, x.dtype)
            return jax.linear_transpose(lambda w: convolve(x, w), like)(g)[0]

        def by_input(w, g):
            like = jax.ShapeDtypeStruct(x_shape, w.dtype)
            return jax.linear_transpose(lambda x: convolve(x, w), like)(g)[0]

        def step(x, g, w):
            return 0.9 * w + by_weights(x, g)

        for function, arrays in ((by_weights, (x, g)), (by_input, (w, g)), (step, (x, g, w))):
            want = np.asarray(jax.jit(function)(*[a.astype("float64") for a in arrays]))
            (got,) = jax_functions.run(tools, function, arrays, "cpu:host")
            assert got.dtype == kind and got.shape == want.shape
            limit = {"float32": 2e-5, "float64": 1e-12}[kind] * max(1, np.abs(want).max())
            np.testing.assert_allclose(got, want, rtol=0, atol=limit)
