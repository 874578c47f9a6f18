"""Accesses of 16 bytes (compiler/kernel/neighbours.h, target/cuda/kernel/warps.h): where
there are some, and what maps, copies and rows of all shapes compute, interpreted. The
interpreter ends a kernel whose access is not aligned, as a device does."""

import re

import fake_gpu
import interpreted
import pytest
from interpreted import read_text, run

import jax
import ml_dtypes
import numpy as np
from jax import numpy as jnp

pytestmark = fake_gpu.needs_build
tools = interpreted.tools
# Enough that each thread of the largest grid has 16 neighbours.
MANY = 108 * 256 * 16


def draw(kind, *shape):
    numbers = np.random.default_rng(sum(shape)).integers(-50, 50, size=shape)
    return numbers.astype(kind)


def check(tools, folder, function, *arrays, rtol=0.0):
    """Runs a function; its PTX."""
    want = np.asarray(jax.jit(function)(*arrays))
    [got] = run(tools, function, *arrays)
    np.testing.assert_allclose(
        np.asarray(got, want.dtype).astype(np.float64),
        want.astype(np.float64),
        rtol=rtol,
        atol=1e-30,
    )
    return read_text(tools, folder, function, *arrays)


def count(text, access):
    """Loads or stores of 4 words, and all others of one element."""
    wide = len(re.findall(rf"{access}\.global(?:\.nc)?\.v4\.[bfu]32", text))
    return wide, len(re.findall(rf"{access}\.global", text)) - wide


def plus_one(x):
    return x + jnp.asarray(1, x.dtype)


BF16 = ml_dtypes.bfloat16


@pytest.mark.parametrize("kind", [np.float32, BF16, np.float16, np.int32])
def test_maps(tools, tmp_path, kind):
    text = check(tools, tmp_path, plus_one, draw(kind, MANY // 64, 64))
    assert count(text, "ld") == (1, 0) and count(text, "st") == (1, 0)


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_two_words(tools, tmp_path, kind):
    with jax.enable_x64(True):
        text = check(tools, tmp_path, plus_one, draw(kind, MANY))
    assert re.search(r"ld\.global(\.nc)?\.v2\.[bfu]64", text)
    assert re.search(r"st\.global\.v2\.[bfu]64", text)


@pytest.mark.parametrize("kind", [np.float32, BF16])
@pytest.mark.parametrize("shape", [(1021, 433), (7, 11, 13, 17, 27), (MANY + 3,)])
def test_rows_of_any_length(tools, tmp_path, kind, shape):
    """What has one shape is one long row; its last elements go one by one."""
    text = check(tools, tmp_path, lambda x, y: x * y - x, draw(kind, *shape), draw(kind, *shape))
    assert count(text, "ld") == (2, 2) and count(text, "st") == (1, 1)
    assert "rem.u" not in text and "div.u" not in text


def test_different_types(tools, tmp_path):
    """As wide as the narrowest: the others take several accesses."""
    x, y = draw(BF16, MANY), draw(np.float32, MANY)
    text = check(tools, tmp_path, lambda x, y: x.astype(jnp.float32) + y, x, y)
    assert count(text, "ld") == (3, 0) and count(text, "st") == (2, 0)


@pytest.mark.parametrize("columns", [512, 510, 509])
def test_broadcasts(tools, tmp_path, columns):
    """Rows whose lengths are no multiples begin anywhere: one by one."""
    rows = MANY // 512
    x, y, z = draw(np.float32, rows, columns), draw(np.float32, columns), draw(np.float32, rows, 1)
    text = check(tools, tmp_path, lambda x, y, z: x * y + z, x, y, z)
    assert (count(text, "ld")[0] == 2) == (columns % 4 == 0)
    assert (count(text, "st")[0] == 1) == (columns % 4 == 0)


def test_slices(tools, tmp_path):
    """What begins anywhere is read one by one, and written together."""
    x = draw(np.float32, MANY // 512, 515)
    text = check(tools, tmp_path, lambda x: x[:, 3:] * 2, x)
    assert count(text, "st") == (1, 0) and count(text, "ld")[0] == 0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, ::-1] + 1,
        lambda x: x.T + 1,
        lambda x: jnp.concatenate([x[:, 4:], x[:, :4]], 1) + 1,
        lambda x: jnp.pad(x, ((0, 0), (1, 3))) + 1,
        lambda x: jnp.roll(x, 1, 1) - x,
        lambda x: x[jnp.arange(x.shape[0]) // 2] + 1,
        lambda x: jnp.cumsum(x, 0)[::2],
        lambda x: x.reshape(-1, 2).sum(1),
    ],
    ids=["reverse", "transpose", "concatenate", "pad", "roll", "gather", "cumsum", "pairs"],
)
def test_movement(tools, tmp_path, function):
    check(tools, tmp_path, function, draw(np.float32, MANY // 512, 512))


def test_functions(tools, tmp_path):
    """What is called, or chosen, between the accesses."""

    def function(x):
        return jnp.where(x > 0, jnp.tanh(x), jax.scipy.special.erf(x) * jnp.exp(x / 50))

    text = check(tools, tmp_path, function, draw(np.float32, 864, 512), rtol=3e-6)
    assert count(text, "ld") == (1, 0) and count(text, "st") == (1, 0)


def test_few_elements_are_for_many_threads(tools, tmp_path):
    text = check(tools, tmp_path, plus_one, draw(np.float32, 64, 512))
    assert count(text, "ld") == (0, 1)


def softmax(x):
    return jax.nn.softmax(x.astype(jnp.float32), -1)


def norm(x):
    x = x.astype(jnp.float32)
    centered = x - x.mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("function", [softmax, norm])
@pytest.mark.parametrize("kind", [np.float32, BF16])
@pytest.mark.parametrize("columns", [256, 1024, 96, 36, 1300, 4096, 1001])
def test_rows(tools, tmp_path, function, kind, columns):
    """Lanes have neighbours, in registers or in loops, if all have as many."""
    x = draw(kind, 9, columns)
    text = check(tools, tmp_path, function, x, rtol=2e-4)
    if columns in (256, 1024):
        assert count(text, "ld") == (columns * x.itemsize // 16 // 32, 0)
        assert count(text, "st") == (columns * 4 // 16 // 32, 0)
    if columns == 1300 and x.itemsize == 4:
        assert count(text, "ld")[0] > 0


@pytest.mark.parametrize("columns", [64, 128, 2048, 2052, 5000, 5001])
def test_reductions(tools, tmp_path, columns):
    x = draw(np.float32, 1100, columns)[:40] if columns > 3000 else draw(np.float32, 40, columns)
    check(tools, tmp_path, lambda x: x.sum(1), x, rtol=1e-6)
    check(tools, tmp_path, lambda x: x.max(1), x)
    check(tools, tmp_path, lambda x: x.argmax(1), x)
    check(tools, tmp_path, lambda x: (x.astype(jnp.int32) * 3).sum(1), x)
