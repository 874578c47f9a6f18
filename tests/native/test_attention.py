"""Attention by tiles of rows (compiler/target/cpu/kernel/lower_attention.cpp): masks of all kinds,
few and many keys, to what the same is in f64."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax_functions
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp
from support.attention_inputs import WAYS, split

pytestmark = jax_functions.needs_build
tools = jax_functions.tools
TARGETS = jax_functions.TARGETS
LOWEST = float(np.finfo(np.float32).min)

# Heads, rows, keys, numbers of a head. On every target 2049 keys are several chunks.
SHAPES = [
    (3, 256, 256, 64),
    (5, 253, 253, 61),
    (2, 100, 300, 32),
    (3, 300, 65, 20),
    (2, 17, 33, 16),
    (1, 64, 5000, 64),
    (2, 257, 2049, 80),
]


def draw(shape, kind=np.float32):
    heads, rows, keys, size = shape
    draws = np.random.default_rng(rows + keys)
    return [draws.standard_normal((heads, n, size)).astype(kind) for n in (rows, keys, keys)]


def attend(q, k, v, change=lambda s: s):
    scores = change(jnp.einsum("hqd,hkd->hqk", q, k) * (q.shape[-1] ** -0.5))
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores).astype(v.dtype), v)


def compute(q, k, v, change=lambda s: s):
    """The same, in f64 by NumPy."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    with np.errstate(all="ignore"):
        scores = change(np.einsum("hqd,hkd->hqk", q, k) * (q.shape[-1] ** -0.5))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("hqk,hkd->hqd", weights / weights.sum(-1, keepdims=True), v)


def check(tools, function, arrays, want, target="cpu:host", error=2e-6):
    [got] = jax_functions.run(tools, function, arrays, target)
    got = got.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_allclose(got, want, rtol=error, atol=error * 4)


def check_mask(tools, arrays, mask, hidden, target="cpu:host"):
    """By one that is known when the program is compiled and by one that is not."""

    def change(s, mask, where):
        return where(mask, s, s.dtype.type(hidden))

    want = compute(*arrays, lambda s: change(s, mask, np.where))
    check(tools, lambda q, k, v: attend(q, k, v, lambda s: change(s, jnp.asarray(mask), jnp.where)),
          arrays, want, target)  # fmt: skip
    check(tools, lambda q, k, v, mask: attend(q, k, v, lambda s: change(s, ~mask, jnp.where)),
          [*arrays, ~mask], want, target)  # fmt: skip


def place(rows, keys):
    """How far a key lies before a row, if both end together."""
    return np.arange(rows)[:, None] + keys - rows - np.arange(keys)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_lengths(tools, shape, target):
    arrays = draw(shape)
    check(tools, attend, arrays, compute(*arrays), target)


@pytest.mark.parametrize("hidden", [-1e9, -np.inf, LOWEST, -20.0, -106.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_causal_masks(tools, shape, hidden):
    check_mask(tools, draw(shape), place(*shape[1:3]) >= 0, hidden)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_windows_and_rows_without_keys(tools, shape, target):
    """Blocks are hidden in front, behind, and all of them."""
    away = place(*shape[1:3])
    mask = (away >= 0) & (away < 40)
    check_mask(tools, draw(shape), mask, -1e9, target)
    mask[: len(mask) // 2 + 3] = False
    for hidden in (-1e9, -np.inf):
        check_mask(tools, draw(shape), mask, hidden, target)


@pytest.mark.parametrize("shape", SHAPES)
def test_masks_without_order(tools, shape):
    heads, rows, keys, _ = shape
    mask = np.random.default_rng(0).random((heads, rows, keys)) < 0.1
    check_mask(tools, draw(shape), mask, -1e9)


@pytest.mark.parametrize("shape", SHAPES)
def test_masks_that_are_computed(tools, shape):
    """From where the program begins, which only a call knows; an addition is no mask."""
    arrays = draw(shape)
    _, rows, keys, _ = shape

    def hide(s, start, np):
        return np.where(np.arange(rows)[:, None] + start >= np.arange(keys), s, s.dtype.type(-1e9))

    for start in (keys - rows, -5, keys):
        want = compute(*arrays, lambda s, start=start: hide(s, start, np))
        check(tools, lambda q, k, v, start: attend(q, k, v, lambda s: hide(s, start, jnp)),
              [*arrays, np.int32(start)], want)  # fmt: skip
    bias = np.random.default_rng(1).standard_normal((rows, keys)).astype(np.float32)
    bias[:, keys // 2 :] -= 1e4
    want = compute(*arrays, lambda s: s + bias)
    check(tools, lambda q, k, v, bias: attend(q, k, v, lambda s: s + bias), [*arrays, bias], want)


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_that_are_none(tools, shape, number):
    """A key behind the mask is not seen; a value is, since zero times it is not a number."""
    mask = place(*shape[1:3]) >= 0
    for which in range(3):
        arrays = draw(shape)
        arrays[which][:, -1, 3] = number
        check_mask(tools, arrays, mask, -1e9)
        # Scores of some rows are infinite with either sign.
        if which != 1 or np.isnan(number):
            check(tools, attend, arrays, compute(*arrays))


@pytest.mark.parametrize("shape", SHAPES)
def test_maxima_that_grow(tools, shape):
    arrays = draw(shape)
    arrays[1] *= np.linspace(0, 10, shape[2], dtype=np.float32)[:, None]
    check(tools, attend, arrays, compute(*arrays), error=2e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_bf16(tools, shape, target):
    """Weights are rounded, sums are not."""
    arrays = draw(shape, ml_dtypes.bfloat16)
    mask = place(*shape[1:3]) >= 0

    def function(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k, preferred_element_type=jnp.float32)
        scores = jnp.where(mask, scores / 8, -jnp.inf)
        return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores).astype(q.dtype), v)

    scale = shape[-1] ** 0.5 / 8
    want = compute(*arrays, lambda s: np.where(mask, s * scale, -np.inf))
    if shape[1] > shape[2]:
        want[:, : shape[1] - shape[2]] = np.nan
    check(tools, function, arrays, want, target, error=2e-2)


@pytest.mark.parametrize("target", TARGETS)
def test_heads_in_groups(tools, target):
    """As JAX has it: heads behind tokens, keys of two heads for six, lengths."""
    draws = np.random.default_rng(0)
    q = draws.standard_normal((2, 90, 6, 32)).astype(np.float32)
    k, v = draws.standard_normal((2, 2, 90, 2, 32)).astype(np.float32)
    lengths = np.array([90, 41], np.int32)

    def function(q, k, v, lengths):
        return jax.nn.dot_product_attention(
            q, k, v, is_causal=True, query_seq_lengths=lengths, key_value_seq_lengths=lengths
        )

    arrays = [q, k, v, lengths]
    want = np.asarray(jax.jit(function)(*arrays)).astype(np.float64)
    check(tools, function, arrays, want, target, error=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_queries_keys_and_values_in_one_array(tools, way):
    x = np.random.default_rng(0).standard_normal((2, 70, 288)).astype(np.float32)

    def function(x, np=jnp, softmax=jax.nn.softmax):
        q, k, v = split(x, way, np)
        weights = softmax(np.einsum("bqhd,bkhd->bhqk", q, k) / 6)
        return np.einsum("bhqk,bkhd->bqhd", weights, v) * 2 + 1

    def softmax(s):
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    check(tools, function, [x], function(x.astype(np.float64), np, softmax), error=4e-6)
