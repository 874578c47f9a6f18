"""Few rows times a matrix (compiler/target/cuda/kernel/thin_product.h), interpreted, to
what the same is in f64; how the matrix is read."""

import re

import fake_gpu
import interpreted
import pytest
from interpreted import TYPES, draw, read_text

import jax
import ml_dtypes
import numpy as np
from jax import lax
from jax import numpy as jnp

pytestmark = fake_gpu.needs_build
tools = interpreted.tools
BF16 = ml_dtypes.bfloat16


def check(tools, folder, function, *arrays):
    """Runs a function; its PTX."""
    interpreted.check(tools, function, *arrays)
    return read_text(tools, folder, function, *arrays)


def along_columns(x, w):
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())))


def along_depth(x, w):
    return lax.dot_general(x, w, (((1,), (1,)), ((), ())))


def has_wide_loads(text):
    return bool(re.search(r"ld\.global(\.nc)?\.v4\.[bfu]32", text))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rows", [1, 3, 8, 15])
@pytest.mark.parametrize("function", [along_columns, along_depth])
def test_rows_times_a_matrix(tools, tmp_path, function, rows, kind):
    """Every element of the matrix is read once, 16 bytes at a time, by parts of the depth."""
    w = draw(kind, 512, 256) if function is along_columns else draw(kind, 256, 512)
    text = check(tools, tmp_path, function, draw(kind, rows, 512), w)
    assert text.count(".entry ") == (2 if function is along_columns else 1)
    if rows * 16 // np.dtype(TYPES[kind]).itemsize <= 64:
        assert has_wide_loads(text)


@pytest.mark.parametrize("kind", ["bf16", "f32"])
@pytest.mark.parametrize("depth,columns", [(333, 129), (130, 1000), (1000, 66), (1024, 32)])
@pytest.mark.parametrize("function", [along_columns, along_depth])
def test_odd_sizes(tools, tmp_path, function, depth, columns, kind):
    w = draw(kind, depth, columns)
    check(
        tools,
        tmp_path,
        function,
        draw(kind, 2, depth),
        w if function is along_columns else np.ascontiguousarray(w.T),
    )


@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_matrix_times_columns(tools, tmp_path, kind):
    """The matrix on the left: a vector, and a few columns."""
    w = draw(kind, 300, 512)
    check(tools, tmp_path, lambda w, x: w @ x, w, draw(kind, 512))
    check(tools, tmp_path, lambda w, x: w @ x, w, draw(kind, 512, 3))
    check(tools, tmp_path, lambda w, x: w.T @ x, w, draw(kind, 300, 2))


def test_long_depth(tools, tmp_path):
    """Parts of a column's depth, by a warp each."""
    x, w = draw("f32", 1, 16384), draw("f32", 40, 16384)
    text = check(tools, tmp_path, along_depth, x, w)
    assert text.count(".entry ") == 2


@pytest.mark.parametrize("kind", ["bf16", "f32"])
def test_attention_of_one_token(tools, tmp_path, kind):
    q, k = draw(kind, 2, 1, 3, 64), draw(kind, 2, 160, 3, 64)
    check(tools, tmp_path, lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), q, k)
    p, v = draw(kind, 2, 3, 1, 160), draw(kind, 2, 160, 3, 64)
    check(tools, tmp_path, lambda p, v: jnp.einsum("bhqk,bkhd->bqhd", p, v), p, v)


def test_what_follows(tools, tmp_path):
    """An epilogue, in parts or not, and in a loop of one workgroup."""
    w = draw("f32", 256, 256) / 16

    def function(x, bias, w):
        return jax.nn.relu(along_columns(x, w) + bias) * x[:, :1]

    check(tools, tmp_path, function, draw("f32", 2, 256), draw("f32", 256), w)
    check(tools, tmp_path, lambda x, w: jnp.tanh(along_depth(x, w)), draw("f32", 2, 256), w)

    def loop(x, w):
        return lax.fori_loop(0, 3, lambda i, y: jnp.tanh(along_columns(y, w)), x)

    check(tools, tmp_path, loop, draw("f32", 1, 256), w)


def test_integers(tools, tmp_path):
    """Sums are exact."""
    numbers = np.random.default_rng(0)
    x, w = (numbers.integers(-128, 128, s).astype(np.int8) for s in [(2, 512), (512, 128)])
    for right, matrix in [(0, w), (1, np.ascontiguousarray(w.T))]:

        def function(x, w, right=right):
            dims = (((1,), (right,)), ((), ()))
            return lax.dot_general(x, w, dims, preferred_element_type=jnp.int32)

        [got] = interpreted.run(tools, function, x, matrix)
        np.testing.assert_array_equal(got, x.astype(np.int32) @ w.astype(np.int32))
