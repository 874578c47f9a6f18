"""Rows by warps (compiler/target/cuda/kernel/warps.h), interpreted: reductions of all
lengths and types, a softmax and norms as one launch, to what NumPy makes of the same."""

import math
import re

import fake_gpu
import interpreted
import pytest
from interpreted import TYPES, read_text, run

import jax
import ml_dtypes
import numpy as np
from jax import lax
from jax import numpy as jnp

pytestmark = fake_gpu.needs_build
tools = interpreted.tools


def draw(kind, *shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(TYPES[kind])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def norm(x):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)


def jax_norm(x):
    wide = x.astype(jnp.float32)
    centered = wide - wide.mean(-1, keepdims=True)
    variance = (centered**2).mean(-1, keepdims=True)
    return (centered * lax.rsqrt(variance + 1e-5)).astype(x.dtype)


SHAPES = [(1, 64), (3, 32), (7, 33), (40, 100), (2, 3, 1000), (2100, 40), (2, 5000)]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["softmax", "norm"])
def test_in_a_softmax_and_a_norm(tools, name, kind):
    function, check = {"softmax": (jax.nn.softmax, softmax), "norm": (jax_norm, norm)}[name]
    for shape in SHAPES if kind == "f32" else SHAPES[2:4]:
        x = draw(kind, *shape)
        [got] = run(tools, function, x)
        epsilon = max(float(ml_dtypes.finfo(x.dtype).eps), 2**-20)
        want = check(x.astype(np.float64))
        np.testing.assert_allclose(
            got.astype(np.float64), want, rtol=0, atol=4 * epsilon * np.abs(want).max()
        )


@pytest.mark.parametrize("columns", [32, 45, 3000])
@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "u8", "bool"])
def test_exact_reductions(tools, kind, columns):
    numbers = np.random.default_rng(columns).integers(-100, 100, (50, columns))
    if kind == "bool":
        x, functions = numbers > -98, [(jnp.all, np.all), (jnp.any, np.any)]
    else:
        x = numbers.astype({"u": "uint", "i": "int"}[kind[0]] + kind[1:])
        functions = [(jnp.max, np.max), (jnp.min, np.min), (jnp.argmax, np.argmax)]
        functions += [(lambda a, axis: a.sum(axis, dtype=a.dtype),) * 2]
        functions += [(lambda a, axis: a.prod(axis, dtype=a.dtype),) * 2]
    with jax.enable_x64(True):
        for ours, check in functions:
            [got] = run(tools, lambda a, ours=ours: ours(a, axis=1), x)
            np.testing.assert_array_equal(got, check(x, axis=1))


def test_first_of_equals(tools):
    """An argmax can't change the order of its elements."""
    x = np.random.default_rng(0).integers(0, 3, (64, 777)).astype(np.float32)
    x[5, 700] = x[9, 3] = np.nan
    for function, check in [(jnp.argmax, np.argmax), (jnp.argmin, np.argmin)]:
        [got] = run(tools, lambda a, function=function: function(a, axis=1), x)
        np.testing.assert_array_equal(got, check(x, axis=1))


def test_extremes_of_floats(tools):
    x = draw("f32", 20, 99)
    x[3, 50], x[4, 7] = np.nan, np.inf
    for kind in TYPES.values():
        y = x.astype(kind)
        for function, check in [(jnp.max, np.max), (jnp.min, np.min)]:
            [got] = run(tools, lambda a, function=function: function(a, axis=1), y)
            want = check(y.astype(np.float32), axis=1)
            np.testing.assert_array_equal(got.astype(np.float32), want)


def test_in_a_loop(tools):
    """The one workgroup of a loop has eight warps."""

    def function(x):
        return lax.fori_loop(0, 3, lambda _, a: jax.nn.softmax(a * 2), x)

    x = draw("f32", 21, 50)
    want = x.astype(np.float64)
    for _ in range(3):
        want = softmax(want * 2)
    [got] = run(tools, function, x)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_texts(tools, tmp_path):
    """Neighbours are read and shuffles add up; nothing waits for a workgroup."""
    x = draw("f32", 64, 512)
    for function in (lambda a: a.sum(1), lambda a: a.max(1), lambda a: jnp.argmax(a, 1)):
        text = read_text(tools, tmp_path, function, x)
        assert "shfl.sync.bfly.b32" in text and "bar.sync" not in text
    # Lanes would have nothing to do; and what can't be bracketed otherwise.
    assert "shfl" not in read_text(tools, tmp_path, jax.nn.softmax, draw("f32", 2000, 16))
    assert "shfl" not in read_text(tools, tmp_path, lambda a: a.prod(1), x)


def layer_norm(x, scale, bias):
    return jax_norm(x) * scale + bias


def rms_norm(x):
    return x * lax.rsqrt((x.astype(jnp.float32) ** 2).mean(-1, keepdims=True) + 1e-5)


ONE_LAUNCH = {
    "softmax": (jax.nn.softmax, (64, 512)),
    "softmax of odd rows": (jax.nn.softmax, (70, 333)),
    "softmax of the longest that lanes keep": (jax.nn.softmax, (3, 2048)),
    "log_softmax": (jax.nn.log_softmax, (20, 96)),
    "norm": (jax_norm, (2, 8, 768)),
    "rms_norm": (rms_norm, (16, 256)),
    "masked": (lambda x: jax.nn.softmax(jnp.where(x > 0, x, -1e30)), (33, 64)),
    "temperature": (lambda x: jax.nn.softmax(jnp.tanh(x / 8) * 8), (33, 64)),
}


@pytest.mark.parametrize("name", ONE_LAUNCH)
def test_one_launch(tools, tmp_path, name):
    """Every element of a row of at most 1,024 is loaded once, and in a register since."""
    function, shape = ONE_LAUNCH[name]
    x = draw("f32", *shape)
    text = read_text(tools, tmp_path, function, x)
    assert text.count(".entry ") == 1 and "bar.sync" not in text
    if shape[-1] % 32 == 0 and shape[-1] <= 1024:
        words = re.findall(r"ld\.global(?:\.nc)?(?:\.v(\d))?\.f32", text)
        assert sum(int(word or 1) for word in words) == shape[-1] // 32
        of_lane = shape[-1] // 32
        assert len(words) == of_lane // math.gcd(of_lane, 4) and ".local" not in text
    [got] = run(tools, function, x)
    with jax.enable_x64(True):
        want = np.asarray(jax.jit(function)(x.astype(np.float64)))
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)


def test_much_work_for_each_element(tools, tmp_path):
    """Functions are not written out for each column: lanes keep what they cost."""

    def function(x):
        y = lax.lgamma(jnp.abs(x) + 1) * lax.erf(x) + jnp.tan(x / 4)
        return y / jnp.abs(y).sum(1, keepdims=True)

    x = draw("f32", 3, 512)
    text = read_text(tools, tmp_path, function, x)
    assert text.count(".entry ") == 1 and ".local" in text and len(text) < 60_000
    [got] = run(tools, function, x)
    with jax.enable_x64(True):
        want = np.asarray(jax.jit(function)(x.astype(np.float64)))
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-6)


def test_a_layer_norm_with_weights(tools, tmp_path):
    x, scale, bias = draw("bf16", 12, 384), draw("bf16", 384), draw("bf16", 384) * 2
    text = read_text(tools, tmp_path, layer_norm, x, scale, bias)
    assert text.count(".entry ") == 1
    [got] = run(tools, layer_norm, x, scale, bias)
    wide = [array.astype(np.float64) for array in (x, scale, bias)]
    want = norm(wide[0]) * wide[1] + wide[2]
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("shape", [(3, 40), (1, 96), (5, 64)])
def test_rows_that_are_read_outside(tools, tmp_path, shape):
    """What the program returns is in memory, and in the loop all the same."""

    def function(x):
        e = jnp.exp(x - x.max(1, keepdims=True))
        total = e.sum(1)
        return e, total, e / total[:, None], jnp.argmax(jnp.sin(e), 1)

    x = draw("f32", *shape)
    # More are several kernels.
    assert (read_text(tools, tmp_path, function, x).count(".entry ") == 1) == (x.size < 200)
    got = run(tools, function, x)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    for mine, want in zip(got[:3], [e, e.sum(1), e / e.sum(1, keepdims=True)]):
        np.testing.assert_allclose(mine, want, rtol=1e-5)
    np.testing.assert_array_equal(got[3], np.argmax(np.sin(e), 1))


def test_other_columns_of_a_row(tools):
    """A lane has its own columns alone: what reads others is no part of the loop."""

    def function(x):
        e = jnp.exp(x - x.max(1, keepdims=True))
        return e[:, ::-1] / e.sum(1, keepdims=True) + e.reshape(6, 8, 8).swapaxes(1, 2).reshape(
            6, 64
        )

    x = draw("f32", 6, 64)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    want = e[:, ::-1] / e.sum(1, keepdims=True)
    want = want + e.reshape(6, 8, 8).swapaxes(1, 2).reshape(6, 64)
    [got] = run(tools, function, x)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_columns_of_several_dimensions(tools, tmp_path):
    def function(x):
        return jax.nn.softmax(x, axis=(1, 2))

    x = draw("f32", 5, 7, 24)
    assert read_text(tools, tmp_path, function, x).count(".entry ") == 1
    want = softmax(x.astype(np.float64).reshape(5, -1)).reshape(x.shape)
    [got] = run(tools, function, x)
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("columns", [64, 1500])
def test_wide_and_complex_rows(tools, columns):
    """1,500 of 8 bytes are more than lanes keep: they are computed again."""

    def function(x):
        power = jnp.exp(-jnp.abs(x))
        return power / power.sum(1, keepdims=True)

    real = np.random.default_rng(columns).normal(size=(2, 3, columns))
    with jax.enable_x64(True):
        for x in (real[0], real[0] + 1j * real[1]):
            [got] = run(tools, function, x)
            power = np.exp(-np.abs(x))
            np.testing.assert_allclose(got, power / power.sum(1, keepdims=True), rtol=1e-12)
