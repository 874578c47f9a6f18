"""Sorts, and reductions that choose: of values that are equal, of NaNs, of rows
short and long, bit by bit what XLA gives."""

import os
import platform

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

KINDS = ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "uint32", "int64"]
# Below and above where merging, short digits, long digits and parts begin.
SIZES = [5, 63, 64, 257, 1000, 5000, 140_000]


def draw(kind, shape, seed):
    random = np.random.default_rng(seed)
    if "int" in kind:
        limits = np.iinfo(kind)
        return random.integers(limits.min, limits.max, shape, kind, endpoint=True)
    values = np.round(random.standard_normal(shape) * 50) / 10
    flat = values.reshape(-1)
    for special in (np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf):
        flat[random.integers(0, flat.size, 2)] = special
    return values.astype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)


def check(tools, function, *arrays, target="cpu:host"):
    with jax.enable_x64(True):
        want = jax.tree.leaves(jax.jit(function)(*arrays))
        got = jax_functions.run(tools, function, arrays, target)
    for theirs, ours in zip(want, got):
        theirs = np.asarray(theirs)
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_sort(tools, kind, size):
    x = draw(kind, size, size)
    check(tools, lambda x: (jnp.sort(x), jnp.sort(x, descending=True)), x)
    check(tools, lambda x: (jnp.argsort(x), jnp.argsort(x, descending=True)), x)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(7, 90), (90, 7), (3, 70, 5)])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns(tools, kind, shape, axis):
    x = draw(kind, shape, axis)
    check(tools, lambda x: (jnp.sort(x, axis), jnp.argsort(x, axis)), x)


@pytest.mark.parametrize("kind", ["float32", "float64", "int32"])
@pytest.mark.parametrize("shape", [(3, 70_001), (20, 40_000), (2, 33_000, 2)])
def test_long_rows(tools, kind, shape):
    x = draw(kind, shape, 3)
    check(tools, lambda x: (jnp.sort(x, 1), jnp.argsort(x, 1)), x)


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("values", ["equal", "few", "outlier", "falling", "no zeros or NaNs"])
def test_distributions(tools, kind, values):
    size = 200_003
    if values == "equal":
        x = np.ones(size)
    elif values == "few":
        x = np.random.default_rng(1).integers(0, 5, size)
    elif values == "outlier":
        x = np.random.default_rng(1).integers(0, 100, size)
        x[77] = 127
    elif values == "falling":
        x = np.arange(size, 0, -1)
    else:
        x = np.random.default_rng(1).random(size) * 100 + 1
    x = x.astype(kind)
    check(tools, lambda x: (jnp.sort(x), jnp.argsort(x), jnp.sort(x, descending=True)), x)


@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v3"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("size", [129, 300, 140_000, 300_000])
def test_zeros_and_nans_keep_their_order(tools, target, kind, size):
    """Of both signs, and NaNs with all kinds of other bits."""
    if target != "cpu:host" and platform.machine() != "x86_64":
        pytest.skip("for x86-64")
    random = np.random.default_rng(size)
    x = random.standard_normal(size).astype(kind)
    bits = x.view(f"u{x.itemsize}")
    signs = random.integers(0, 2, size).astype(bits.dtype) << bits.dtype.type(8 * x.itemsize - 1)
    zeros, nans = random.random((2, size)) < 0.3
    bits[zeros] = signs[zeros]
    quiet = np.array(np.nan, kind).view(bits.dtype)
    payloads = random.integers(0, 1 << 20, size).astype(bits.dtype)
    bits[nans] = (signs | quiet | payloads)[nans]
    check(tools, lambda x: (jnp.sort(x), jnp.sort(x, descending=True)), x, target=target)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86-64")
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int32", "uint8", "int64"])
@pytest.mark.parametrize("size", SIZES)
def test_narrower_vectors(tools, kind, size):
    x = draw(kind, size, size)
    check(tools, lambda x: (jnp.sort(x), jnp.argsort(x)), x, target="cpu:x86-64-v3")


def test_sorts_in_a_loop(tools):
    x = draw("float32", 100_000, 4)
    check(tools, lambda x: lax.fori_loop(0, 3, lambda i, x: jnp.sort(x)[::-1] + i, x), x)


@pytest.mark.parametrize("size", SIZES)
def test_values_go_along(tools, size):
    keys, values = draw("int8", size, 1), draw("float64", size, 2)
    check(tools, lambda k, v: lax.sort((k, v, v * 2), num_keys=1), keys, values)
    check(tools, lambda k, v: lax.sort((k, v), num_keys=2), keys, values)


def test_keys_that_are_computed(tools):
    x = draw("int32", 3000, 5)

    def by_square(x):
        # Two elements may have one key: the first stays first.
        return lax.sort((jnp.bitwise_and(x, 63), x), num_keys=1)[1]

    check(tools, by_square, x)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [200, 255, 256, 257, 4000, 50_257])
def test_argmax(tools, kind, size):
    x = draw(kind, size, size)
    check(tools, lambda x: (jnp.argmax(x), jnp.argmin(x)), x)
    if "int" not in kind:
        usual = np.where(np.isnan(x), 0, x).astype(x.dtype)
        check(tools, lambda x: (jnp.argmax(x), jnp.argmin(x)), usual)


@pytest.mark.parametrize("axis", [0, 1])
def test_argmax_of_rows(tools, axis):
    x = np.round(np.random.default_rng(0).standard_normal((300, 600)) * 9).astype(np.float32)
    check(tools, lambda x: jnp.argmax(x, axis), x)


def test_a_reduction_whose_order_counts(tools):
    x = np.random.default_rng(3).integers(0, 9, 1000).astype(np.float32)

    # Of those that are equal, the last.
    def choose(a, b):
        is_later = a[0] <= b[0]
        return jnp.where(is_later, b[0], a[0]), jnp.where(is_later, b[1], a[1])

    def last(x):
        places = jnp.arange(x.size, dtype=jnp.int32)
        return lax.reduce((x, places), (-jnp.float32(jnp.inf), jnp.int32(-1)), choose, (0,))

    check(tools, last, x)


@pytest.mark.parametrize("kind, size", [("float32", 18_000_001), ("float64", 9_000_001)])
def test_chunks_that_are_large(tools, kind, size):
    """Against NumPy: XLA would take seconds."""
    x = np.random.default_rng(1).integers(-(2**31), 2**31, size).astype(kind)
    with jax.enable_x64(True):
        got = jax_functions.run(tools, lambda x: (jnp.sort(x), jnp.argsort(x)), [x], "cpu:host")
    np.testing.assert_array_equal(got[0], np.sort(x))
    np.testing.assert_array_equal(got[1], np.argsort(x, kind="stable"))


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_ranges_that_are_large(tools, kind):
    """Most of the numbers have all digits but the last in common."""
    numbers = np.random.default_rng(2)
    x = numbers.integers(1 << 20, (1 << 20) + 900, 400_000).astype(kind)
    x[numbers.integers(0, x.size, 999)] = numbers.integers(-(2**31), 2**31, 999)
    check(tools, jnp.sort, x)
    check(tools, jnp.argsort, x)
