"""Rows that are reduced side by side, by bodies of several ops: numbers of rows that fill
no block, ties, NaNs, several types, sizes that only the call knows."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import export, lax
from jax import numpy as jnp

import jax_functions  # isort: skip

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
TARGETS = jax_functions.TARGETS
TYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.uint16, np.int32]


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


def draw(kind, *shape):
    """Few values, so that there are ties; NaNs if there are any."""
    x = np.random.default_rng(len(shape)).integers(0, 9, shape).astype(kind)
    if np.dtype(kind).kind == "f" or kind == ml_dtypes.bfloat16:
        x[np.random.default_rng(3).random(shape) < 0.02] = np.nan
    return x


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "shape", [(64, 10), (37, 33), (5, 100), (3, 50, 17), (2, 3, 4, 20), (200, 9)]
)
def test_places(tools, kind, shape):
    x = draw(kind, *shape)
    for target in TARGETS:
        got = jax_functions.run(
            tools, lambda x: (jnp.argmax(x, -1), jnp.argmin(x, -1)), [x], target
        )
        np.testing.assert_array_equal(got[0], np.asarray(jnp.argmax(x, -1)))
        np.testing.assert_array_equal(got[1], np.asarray(jnp.argmin(x, -1)))


def fold(x, y):
    """An order that matters, and three states."""
    return lax.reduce(
        (x, y, x),
        (jnp.float32(1), jnp.int32(2), jnp.float32(3)),
        lambda a, b: (a[0] * 0.5 + b[0], a[1] * 3 + b[1], jnp.maximum(a[2], b[0] - a[0])),
        (1,),
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows", [1, 7, 16, 40, 130])
def test_order(tools, target, rows):
    x = np.random.default_rng(1).integers(-9, 9, (rows, 12)).astype(np.float32)
    y = np.random.default_rng(2).integers(-9, 9, (rows, 12)).astype(np.int32)
    got = jax_functions.run(tools, fold, [x, y], target)
    a, b, c = (
        np.full(rows, start, kind)
        for start, kind in [(1, np.float32), (2, np.int32), (3, np.float32)]
    )
    for k in range(12):
        a, b, c = a * np.float32(0.5) + x[:, k], b * 3 + y[:, k], np.maximum(c, x[:, k] - a)
    for ours, want in zip(got, (a, b, c), strict=True):
        np.testing.assert_array_equal(ours, want)


@pytest.mark.parametrize("target", TARGETS)
def test_any_size(tools, target):
    n, m = export.symbolic_shape("n, m")
    exported = export.export(jax.jit(lambda x: jnp.argmax(x, 1)), platforms=["cpu"])(
        jax.ShapeDtypeStruct((n, m), np.float32)
    )
    for shape in [(1, 1), (5, 3), (16, 300), (33, 20), (200, 7)]:
        x = draw(np.float32, *shape)
        got = jax_functions.run_program(tools, exported.mlir_module_serialized, [x], target)[0]
        np.testing.assert_array_equal(got, np.asarray(jnp.argmax(x, 1)))
