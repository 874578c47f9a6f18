"""Elements that are computed from transposed ones, in tiles."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import export
from jax import numpy as jnp

import jax_functions  # isort: skip

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
TARGETS = jax_functions.TARGETS


def draw(shape, kind, seed=0):
    draws = np.random.default_rng(seed)
    if np.dtype(kind).kind == "c":
        return (draws.standard_normal(shape) + 1j * draws.standard_normal(shape)).astype(kind)
    return draws.integers(-100, 100, shape).astype(kind)


KINDS = [np.bool_, np.int8, np.int16, np.float16, ml_dtypes.bfloat16, np.int32, np.float32, np.complex64]  # fmt: skip
SHAPES = [
    ((300, 260), (1, 0)),
    ((33, 1000), (1, 0)),
    ((3, 70, 65), (0, 2, 1)),
    ((40, 5, 129), (2, 1, 0)),
    ((64, 3, 2, 50), (3, 1, 0, 2)),
    ((2, 32, 9, 8), (0, 2, 3, 1)),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape,order", SHAPES)
def test_one_transpose(tools, kind, shape, order):
    x = draw(shape, kind)

    def function(x):
        y = x.transpose(order)
        return jnp.where(y, 3, 5) if kind == np.bool_ else y + y * y

    # Each op rounds: on processors that compute in f16 XLA fuses the two.
    if kind == np.float16:
        turned = x.transpose(order)
        want = turned + turned * turned
    else:
        want = np.asarray(jax.jit(function)(x))
    for target in TARGETS:
        got = jax_functions.run(tools, function, [x], target)[0]
        if np.dtype(kind).kind == "c":
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-5)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("target", TARGETS)
def test_several(tools, target):
    """Of several types, crossed alike and otherwise, some twice, and two results."""
    x, y = draw((90, 70, 80), np.float32), draw((80, 90, 70), np.int8, 1)
    z, w = draw((70, 90, 80), np.float32, 2), draw((80, 70, 90), np.float32, 3)

    def function(x, y, z, w):
        a = x.transpose(2, 1, 0)  # 80, 70, 90
        b = y.transpose(0, 2, 1).astype(jnp.float32)
        c = z.transpose(2, 0, 1)
        return jnp.where(a > b, a + w, c), a * b - a

    arrays = [x, y, z, w]
    got = jax_functions.run(tools, function, arrays, target)
    for ours, want in zip(got, jax.jit(function)(*arrays), strict=True):
        np.testing.assert_array_equal(ours, want)


@pytest.mark.parametrize("target", TARGETS)
def test_sum_of_sides(tools, target):
    x = draw((257, 257), np.float32)
    got = jax_functions.run(tools, lambda x: (x + x.T) * 0.5, [x], target)[0]
    np.testing.assert_array_equal(got, (x + x.T) * np.float32(0.5))


@pytest.mark.parametrize("target", TARGETS)
def test_any_size(tools, target):
    n, m = export.symbolic_shape("n, m")
    exported = export.export(jax.jit(lambda x: x.T * 2 + 1), platforms=["cpu"])(
        jax.ShapeDtypeStruct((n, m), np.float32)
    )
    for shape in [(1, 1), (5, 300), (300, 5), (200, 333), (64, 128)]:
        x = draw(shape, np.float32)
        got = jax_functions.run_program(tools, exported.mlir_module_serialized, [x], target)[0]
        np.testing.assert_array_equal(got, x.T * 2 + 1)
