"""Reductions of rows and what is made of them and the rows: random programs of
random shapes, by several threads, must give what XLA gives."""

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


def layer_norm(x, scale):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale


def moments(x, scale):
    both = x.mean(-1), (x * x).mean(-1)
    return both[0], (x - both[0][..., None]) * scale / jnp.sqrt(both[1][..., None] + 1)


def masked(x, scale):
    mask = jnp.arange(x.shape[-1]) <= jnp.arange(x.shape[-2])[:, None]
    return jax.nn.softmax(jnp.where(mask, x * scale, -1e9))


def furthest(x, scale):
    place = jnp.argmax(jnp.abs(x), -1)
    picked = x == x.max(-1, keepdims=True)
    return place, jnp.where(picked, 0, x) * scale, (x.max(-1) - x.min(-1)).sum()


def turned(x, scale):
    y = jax.nn.log_softmax(jnp.swapaxes(jnp.sin(x), -1, -2))
    return y, jnp.swapaxes(y, -1, -2) * scale


def planes(x, scale):
    axes = (-1, -2)
    y = x - x.max(axes, keepdims=True)
    return jnp.exp(y) / jnp.exp(y).sum(axes, keepdims=True) + scale


def gradient(x, scale):
    return jax.grad(lambda x: (layer_norm(x, scale) * jax.nn.softmax(x)).sum())(x)


PROGRAMS = [
    lambda x, scale: jax.nn.softmax(x * scale),
    lambda x, scale: jax.nn.log_softmax(x) * scale,
    lambda x, scale: jax.nn.logsumexp(x, -1) + scale.sum(),
    lambda x, scale: x / jnp.linalg.norm(x, axis=-1, keepdims=True) * scale,
    lambda x, scale: jnp.cumsum(jax.nn.softmax(x), -1) * scale,
    lambda x, scale: x.astype(jnp.int32).max(-1)[..., None] - x.astype(jnp.int32),
    *(layer_norm, moments, masked, furthest, turned, planes, gradient),
]
TYPES = [np.float32, np.float32, np.float64, ml_dtypes.bfloat16, np.float16]


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("seed", range(60))
def test_rows(tools, seed):
    draw = random.Random(seed)
    program = PROGRAMS[seed % len(PROGRAMS)]
    shape = [draw.choice([1, 2, 3, 8, 17, 64, 130]) for _ in range(draw.choice([2, 2, 3]))]
    shape[-1] = draw.choice([1, 2, 7, 16, 33, 100, 1024, 2500])
    kind = draw.choice(TYPES)
    numbers = np.random.default_rng(seed)
    x = (numbers.standard_normal(shape) * 4).astype(kind)
    scale = numbers.uniform(0.5, 2, shape[-1:]).astype(kind)
    target = jax_functions.TARGETS[seed % 3]
    got = jax_functions.run(tools, program, [x, scale], target)
    want = jax.tree.leaves(jax.jit(program)(x, scale))
    epsilon = float(ml_dtypes.finfo(kind).eps)
    for ours, theirs in zip(got, want, strict=True):
        theirs = np.asarray(theirs, np.float64)
        limit = 16 * epsilon * max(1, np.abs(theirs).max(initial=0))
        np.testing.assert_allclose(np.asarray(ours, np.float64), theirs, rtol=0, atol=limit)


@pytest.mark.parametrize("seed", range(12))
def test_top_k(tools, seed):
    # Equal elements keep their order, NaNs come first.
    numbers = np.random.default_rng(seed)
    rows, size, k = [(1, 5, 5), (3, 40, 7), (2, 1000, 100), (1, 5000, 128)][seed % 4]
    x = numbers.integers(0, 50, (rows, size)).astype(np.float32)
    if seed % 3 == 0:
        x[numbers.uniform(size=x.shape) < 0.01] = np.nan
    if seed % 5 == 0:
        x.sort()
    got = jax_functions.run(
        tools, lambda x: jax.lax.top_k(x, k), [x], jax_functions.TARGETS[seed % 3]
    )
    for ours, theirs in zip(got, jax.lax.top_k(x, k), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "shape,axes", [((100000, 3), 0), ((300000,), 0), ((7, 300, 70, 5), (0, 1, 2)), ((2, 200000), 1)]
)
def test_long_sums(tools, shape, axes):
    # Errors of many terms do not add up.
    x = np.random.default_rng(0).uniform(0, 1, shape).astype(np.float32)
    got = jax_functions.run(tools, lambda x: x.sum(axes), [x], "cpu:host")[0]
    np.testing.assert_allclose(got, x.astype(np.float64).sum(axes), rtol=1e-6)


def ends(x, scale):
    """Loops that read one row and others that read or write several."""
    return (
        jnp.abs(x).sum(-1),
        (x * x).sum(-1),
        x.max(-1),
        jnp.abs(x).min(-1),
        x * scale + 1,
        jax.nn.softmax(x),
        layer_norm(x, scale),
    )


@pytest.mark.parametrize("seed", range(30))
def test_row_ends(tools, seed):
    # The last numbers of a row go by a part of a vector. Rows lie anywhere: equal
    # ones have equal results, and neighbours full of NaN do not show.
    draw = random.Random(seed)
    longest = [24, 130, 700, 1300, 5000][seed % 5]
    columns = draw.randint(9, longest)
    kind = draw.choice(TYPES)
    target = jax_functions.TARGETS[seed % 6 % 4 % 3]
    row = np.random.default_rng(seed).standard_normal(columns).astype(kind)
    x = np.stack([row, np.full_like(row, np.nan)] * 18)
    scale = np.random.default_rng(seed + 1).uniform(0.5, 2, columns).astype(kind)
    got = jax_functions.run(tools, ends, [x, scale], target)
    want = jax.tree.leaves(jax.jit(ends)(row[None], scale))
    epsilon = float(ml_dtypes.finfo(kind).eps)
    for ours, theirs in zip(got, want, strict=True):
        theirs = np.asarray(theirs, np.float64)
        assert np.isnan(np.asarray(ours[1::2], np.float64)).all()
        for k in range(0, len(x), 2):
            np.testing.assert_array_equal(ours[k], ours[0])
        limit = 16 * epsilon * max(1, np.abs(theirs).max(initial=0))
        np.testing.assert_allclose(np.asarray(ours[:1], np.float64), theirs, rtol=0, atol=limit)


@pytest.mark.parametrize("target", jax_functions.TARGETS)
@pytest.mark.parametrize(
    "kind",
    [ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2],
    ids=lambda kind: np.dtype(kind).name,
)
def test_narrow_extremes(tools, kind, target):
    # One of the elements, bit by bit, also of NaNs, infinities and both zeros.
    numbers = np.random.default_rng(0)
    x = (numbers.standard_normal((9, 130, 37)) * 8).astype(kind)
    x[0] = -abs(x[0])
    x[0, 3, 5], x[1, 2] = 0.0, -0.0
    x[2, :, 4], x[3, 7] = np.nan, np.nan
    if np.dtype(kind) != ml_dtypes.float8_e4m3fn:
        x[4, 11], x[5, :, 9] = np.inf, -np.inf

    def extremes(x):
        pool = (1, 3, 4), (1, 2, 3), "VALID"
        lowest, highest = jnp.asarray(-jnp.inf, x.dtype), jnp.asarray(jnp.inf, x.dtype)
        if x.dtype == jnp.float8_e4m3fn:
            lowest, highest = jnp.asarray(-448, x.dtype), jnp.asarray(448, x.dtype)
        lax = jax.lax
        return (
            *(lax.reduce(x, lowest, lax.max, dims) for dims in ((2,), (1,), (0, 2), (0, 1, 2))),
            *(lax.reduce(x, highest, lax.min, dims) for dims in ((2,), (1,), (0, 2), (0, 1, 2))),
            lax.reduce_window(x, lowest, lax.max, *pool),
            lax.reduce_window(x, highest, lax.min, *pool),
        )

    # XLA:CPU's smallest of columns of bf16 ignore NaN.
    def find(of, axes, best, side):
        wanted = best(of, axes)
        zeros = (of == 0) & (np.signbit(of) == side)
        return np.where((wanted == 0) & zeros.any(axes), -0.0 if side else 0.0, wanted)

    wide = x.astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (1, 3, 4))[:, ::2, ::3]
    cases = [*((wide, dims) for dims in ((2,), (1,), (0, 2), (0, 1, 2))), (windows, (3, 4, 5))]
    largest = [find(*case, np.max, False) for case in cases]
    smallest = [find(*case, np.min, True) for case in cases]
    want = [*largest[:4], *smallest[:4], largest[4], smallest[4]]
    got = jax_functions.run(tools, extremes, [x], target)
    for ours, theirs in zip(got, want, strict=True):
        ours = np.asarray(ours, np.float32)
        np.testing.assert_array_equal(ours, theirs)
        known = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(ours)[known], np.signbit(theirs)[known])
