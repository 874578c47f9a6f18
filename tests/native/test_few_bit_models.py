"""Layers of quantized models as JAX's libraries lower them (qwix, AQT, GGUF's packed
nibbles, f8, MX, caches of bytes): JAX's numbers, weights as arguments and as
constants of the program."""

import subprocess

import jax
import jax.numpy as jnp
import jax_functions
import ml_dtypes
import numpy as np
import pytest
import tensor_file
from jax import lax
from test_packed_types import run

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

KINDS = {np.dtype(dtype): kind for kind, dtype in tensor_file.DTYPES.items()}
M, K, N, TILE = 3, 256, 96, 32


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def integers(dtype, *shape, seed=0):
    info = ml_dtypes.iinfo(dtype)
    draws = np.random.default_rng(seed).integers(int(info.min), int(info.max) + 1, shape)
    return draws.astype(dtype)


def scales(*shape, seed=9):
    return np.random.default_rng(seed).uniform(0.01, 0.02, shape).astype(np.float32)


def quantize(x, bits, axis):
    """As AQT does while a model runs: symmetric, with the largest magnitude."""
    limit = 2.0 ** (bits - 1) - 0.5
    scale = jnp.max(jnp.abs(x), axis=axis, keepdims=True) / limit
    q = jnp.clip(x / scale, -limit + 0.5, limit - 0.5)
    return lax.round(q, lax.RoundingMethod.TO_NEAREST_EVEN).astype(jnp.int8), scale


def qwix_tiles(x, w, s):
    wide = w.astype(jnp.float32).reshape(K // TILE, TILE, N)
    return x @ (wide * s).reshape(K, N)


def qwix_channels(x, w, s):
    return x @ (w.astype(jnp.float32) * s)


def qwix_bf16(x, w, s):
    wide = w.astype(jnp.bfloat16).reshape(K // TILE, TILE, N)
    return (x.astype(jnp.bfloat16) @ (wide * s.astype(jnp.bfloat16)).reshape(K, N)).astype(
        jnp.float32
    )


def aqt_int8(x, w, s):
    q, scale = quantize(x, 8, 1)
    sums = lax.dot_general(q, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    return sums.astype(jnp.float32) * scale * s


def aqt_int4(x, w, s):
    q, scale = quantize(x, 4, 1)
    sums = lax.dot_general(
        q, w.astype(jnp.int8), (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32
    )
    return sums.astype(jnp.float32) * scale * s


def aqt_integers(x, w):
    return lax.dot_general(
        x.astype(jnp.int32), w.astype(jnp.int32), (((1,), (0,)), ((), ())),
        preferred_element_type=jnp.int32,
    )  # fmt: skip


def packed_nibbles(x, packed, s, zeros):
    """Rows of outputs; the lower halves of 32 neighbours come first."""
    low, high = packed & 15, packed >> 4
    q = jnp.concatenate([low, high], axis=-1).reshape(N, K // TILE, TILE)
    wide = (q.astype(jnp.float32) - zeros) * s
    return x @ wide.reshape(N, K).T


def f8_product(x, w, s):
    dims = (((1,), (0,)), ((), ()))
    sums = lax.dot_general(x, w, dims, preferred_element_type=jnp.float32)
    return sums * s


def f8_mixed(x, w):
    dims = (((1,), (0,)), ((), ()))
    return lax.dot_general(x, w, dims, preferred_element_type=jnp.bfloat16).astype(jnp.float32)


def mx_weights(x, w, s):
    wide = w.astype(jnp.bfloat16).reshape(K // TILE, TILE, N)
    scale = s.astype(jnp.bfloat16).reshape(K // TILE, 1, N)
    return x @ (wide * scale).reshape(K, N).astype(jnp.float32)


def mx_both(x, xs, w, s):
    def widen(q, scale):
        rows = q.shape[0]
        wide = q.astype(jnp.bfloat16).reshape(rows, K // TILE, TILE)
        return (wide * scale.astype(jnp.bfloat16)[..., None]).reshape(rows, K)

    dims = (((1,), (1,)), ((), ()))
    return lax.dot_general(widen(x, xs), widen(w, s), dims, preferred_element_type=jnp.float32)


def byte_cache(q, keys, key_scale, values, value_scale):
    """One token of attention over a cache of bytes with a scale for each head and place."""
    k = keys.astype(jnp.float32) * key_scale
    v = values.astype(jnp.float32) * value_scale
    weights = jax.nn.softmax(jnp.einsum("bhd,bshd->bhs", q, k) / 8)
    return jnp.einsum("bhs,bshd->bhd", weights, v)


def byte_convolution(x, w):
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
        preferred_element_type=jnp.int32,
    )  # fmt: skip


def e8m0(*shape, seed=4):
    powers = np.random.default_rng(seed).integers(-4, 4, shape)
    return np.exp2(powers).astype(ml_dtypes.float8_e8m0fnu)


F4, E4, E5 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
# The function, what varies from call to call, and weights. Exact: equal to JAX.
LAYERS = {
    "qwix i4, tiles": (qwix_tiles, [normal(M, K)], [integers(ml_dtypes.int4, K, N), scales(K // TILE, 1, N)]),
    "qwix i8, tiles": (qwix_tiles, [normal(40, K)], [integers(np.int8, K, N), scales(K // TILE, 1, N)]),
    "qwix i8, channels": (qwix_channels, [normal(1, K)], [integers(np.int8, K, N), scales(1, N)]),
    "qwix bf16": (qwix_bf16, [normal(M, K)], [integers(ml_dtypes.int4, K, N), scales(K // TILE, 1, N)]),
    "AQT i8": (aqt_int8, [normal(M, K)], [integers(np.int8, K, N), scales(1, N)]),
    "AQT i4": (aqt_int4, [normal(40, K)], [integers(ml_dtypes.int4, K, N), scales(1, N)]),
    "AQT u8 x i8": (aqt_integers, [integers(np.uint8, M, K)], [integers(np.int8, K, N)]),
    "AQT i8 x i8": (aqt_integers, [integers(np.int8, 40, K)], [integers(np.int8, K, N)]),
    "nibbles": (packed_nibbles, [normal(M, K)], [integers(np.uint8, N, K // TILE, TILE // 2), scales(N, K // TILE, 1), np.float32(8)]),
    "f8": (f8_product, [normal(M, K).astype(E4)], [normal(K, N, seed=1).astype(E4), np.float32(0.02)]),
    "f8 mixed": (f8_mixed, [normal(M, K).astype(E5)], [normal(K, N, seed=1).astype(E4)]),
    "MX weights": (mx_weights, [normal(M, K)], [normal(K, N, seed=1).astype(F4), e8m0(K // TILE, N)]),
    "MX f8": (mx_both, [normal(M, K).astype(E4), e8m0(M, K // TILE)], [normal(N, K, seed=1).astype(E4), e8m0(N, K // TILE)]),
    "cache": (byte_cache, [normal(2, 4, 64)], [integers(np.int8, 2, 33, 4, 64), scales(2, 33, 4, 1), integers(np.int8, 2, 33, 4, 64, seed=1), scales(2, 33, 4, 1, seed=2)]),
    "convolution": (byte_convolution, [integers(np.int8, 2, 9, 8, 16)], [integers(np.int8, 3, 3, 16, 32)]),
}  # fmt: skip
# Results of bf16 are rounded; elsewhere sums have another order.
TOLERANCES = {"qwix bf16": 2e-2, "f8 mixed": 1e-2}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("constant", [False, True], ids=["arguments", "constants"])
@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v3"])
def test_layer(tools, name, constant, target):
    function, inputs, weights = LAYERS[name]
    inputs, weights = list(map(np.asarray, inputs)), list(map(np.asarray, weights))
    expected = np.asarray(jax.jit(function)(*inputs, *weights))
    if constant:
        text = jax.jit(lambda *xs: function(*xs, *weights)).lower(*inputs).as_text()
        arrays = inputs
    else:
        text = jax.jit(function).lower(*inputs, *weights).as_text()
        arrays = inputs + weights
    kinds = [KINDS[array.dtype] for array in arrays]
    (got, _), *_ = run(tools, text, arrays, kinds, target)[0]
    if expected.dtype == np.int32:
        np.testing.assert_array_equal(got, expected)
    else:
        limit = TOLERANCES.get(name, 2e-6) * np.abs(expected).max()
        assert np.abs(got - expected).max() <= limit, np.abs(got - expected).max() / limit


@pytest.mark.parametrize("kind,dtype", [("i4", ml_dtypes.int4), ("i8", np.int8)])
def test_constants_stay_narrow(tools, kind, dtype):
    """Weights that the program holds take in the artifact what their bits take."""
    size, bits = 1024, int(kind[1:])
    w, s = integers(dtype, size, size), scales(size // TILE, 1, size)

    def function(x):
        wide = jnp.asarray(w).astype(jnp.float32).reshape(size // TILE, TILE, size)
        return x @ (wide * s).reshape(size, size)

    x = normal(1, size)
    text = jax.jit(function).lower(x).as_text()
    ((got, _),), artifact = run(tools, text, [x], ["f32"])
    right = (w.astype(np.float64).reshape(size // TILE, TILE, size) * s).reshape(size, size)
    assert np.abs(got - x @ right).max() <= 1e-5 * np.abs(x @ right).max()
    assert len(artifact) <= 1.15 * (w.size * bits // 8 + s.nbytes) + (1 << 16)


def pair(x, scale, zero, low=-128, high=127):
    """What a quantized number that is dequantized at once is."""
    q = np.clip(np.rint(x / np.float32(scale) + np.float32(zero)), low, high)
    return (q - zero) * np.float32(scale)


def test_pairs_around_floats(tools):
    """A convolution and a linear layer as torch's PT2E exports them through torch_xla:
    activations with one scale and zero point, weights of floats with scales for each
    output, the ops themselves on floats."""
    x, w = normal(2, 3, 8, 8), normal(4, 3, 3, 3, seed=1)
    v, bias = normal(10, 144, seed=2), normal(4, seed=3)
    w_scales = np.abs(w).max((1, 2, 3)) / np.float32(127)
    v_scales = np.abs(v).max(1) / np.float32(127)

    def per_axis(shape, numbers):
        listed = ", ".join(f"{number:.9g}" for number in numbers)
        return f"tensor<{shape}x!quant.uniform<i8<-127:127>:f32:0, {{{listed}}}>>"

    qx = "tensor<2x3x8x8x!quant.uniform<i8:f32, 0.025:3>>"
    qw, qv = per_axis("4x3x3x3", w_scales), per_axis("10x144", v_scales)
    qh = "tensor<2x144x!quant.uniform<i8:f32, 0.05:-128>>"
    qy = "tensor<2x10x!quant.uniform<i8:f32, 0.5:7>>"
    text = f"""func.func @main(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<10x144xf32>, %c: tensor<4xf32>) -> tensor<2x10xf32> {{
      %0 = stablehlo.uniform_quantize %x : (tensor<2x3x8x8xf32>) -> {qx}
      %1 = stablehlo.uniform_dequantize %0 : ({qx}) -> tensor<2x3x8x8xf32>
      %2 = stablehlo.uniform_quantize %w : (tensor<4x3x3x3xf32>) -> {qw}
      %3 = stablehlo.uniform_dequantize %2 : ({qw}) -> tensor<4x3x3x3xf32>
      %4 = stablehlo.convolution(%1, %3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
      %5 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<2x4x6x6xf32>
      %6 = stablehlo.add %4, %5 : tensor<2x4x6x6xf32>
      %7 = stablehlo.constant dense<0.0> : tensor<2x4x6x6xf32>
      %8 = stablehlo.maximum %6, %7 : tensor<2x4x6x6xf32>
      %9 = stablehlo.reshape %8 : (tensor<2x4x6x6xf32>) -> tensor<2x144xf32>
      %10 = stablehlo.uniform_quantize %9 : (tensor<2x144xf32>) -> {qh}
      %11 = stablehlo.uniform_dequantize %10 : ({qh}) -> tensor<2x144xf32>
      %12 = stablehlo.uniform_quantize %v : (tensor<10x144xf32>) -> {qv}
      %13 = stablehlo.uniform_dequantize %12 : ({qv}) -> tensor<10x144xf32>
      %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<10x144xf32>) -> tensor<144x10xf32>
      %15 = stablehlo.dot_general %11, %14, contracting_dims = [1] x [0] : (tensor<2x144xf32>, tensor<144x10xf32>) -> tensor<2x10xf32>
      %16 = stablehlo.uniform_quantize %15 : (tensor<2x10xf32>) -> {qy}
      %17 = stablehlo.uniform_dequantize %16 : ({qy}) -> tensor<2x10xf32>
      return %17 : tensor<2x10xf32>
    }}"""
    ((got, _),), _ = run(tools, text, [x, w, v, bias], ["f32"] * 4)
    wide = np.float64
    a = pair(x, 0.025, 3).astype(wide)
    filters = pair(w, w_scales[:, None, None, None], 0, -127, 127).astype(wide)
    h = np.zeros((2, 4, 6, 6))
    for i in range(3):
        for j in range(3):
            window = a[:, :, i : i + 6, j : j + 6]
            h += np.einsum("nchw,oc->nohw", window, filters[:, :, i, j])
    h = np.maximum(h + bias[:, None, None], 0).reshape(2, 144).astype(np.float32)
    h = pair(h, 0.05, -128).astype(wide)
    y = (h @ pair(v, v_scales[:, None], 0, -127, 127).T.astype(wide)).astype(np.float32)
    expected = pair(y, 0.5, 7)
    assert len(set(expected.ravel())) > 5
    assert np.abs(got - expected).max() <= 0.5
    compiled = subprocess.run(
        [jax_functions.BUILD / "bin" / "alula-opt", "--input-lower-quantized"],
        input=text, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for product in ("dot_general", "convolution"):
        (line,) = [line for line in compiled.splitlines() if f"stablehlo.{product}" in line]
        assert line.endswith("i32>"), line
