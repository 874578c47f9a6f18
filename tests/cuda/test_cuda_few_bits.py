"""Products of bytes, of small floats and of tf32 by tensor cores, large tiles
(compiler/target/cuda/kernel/lower_dot.cpp), interpreted: to NumPy, bit by bit where they are exact."""

import re

import changed_ptx
import fake_gpu
import interpreted
import pytest
from interpreted import TARGET, check, draw, read_program, read_text, run

import jax
import ml_dtypes
import numpy as np
from jax import lax
from jax import numpy as jnp
from support.tool_runs import check_success, run_tool

import jax_functions

pytestmark = fake_gpu.needs_build
tools = interpreted.tools


def multiply(left, right):
    def function(a, b):
        return lax.dot_general(a, b, (((left,), (right,)), ((), ())))

    return function


BYTES = {"i8": np.int8, "u8": np.uint8}
MIXES = ["i8 u8", "u8 i8", "u8 u8"]


def draw_bytes(kind, *shape):
    """All of their numbers."""
    limits = np.iinfo(BYTES[kind])
    numbers = np.random.default_rng(len(shape) + sum(shape))
    return numbers.integers(limits.min, limits.max + 1, size=shape).astype(BYTES[kind])


def widened(function):
    """Of bytes as i32: the compiler reads the bytes."""

    def on_words(*arrays):
        return function(*[a.astype(jnp.int32) if a.dtype.itemsize == 1 else a for a in arrays])

    return on_words


def check_exact(tools, function, *arrays):
    """As NumPy computes it, bit by bit."""
    want = np.asarray(function(*arrays))
    [got] = run(tools, function, *arrays)
    np.testing.assert_array_equal(got, want, strict=True)


def lie(left, right, a, b):
    """a along its depth (1) or across, b across (0) or along."""
    return a if left else a.T.copy(), b.T.copy() if right else b


LAYOUTS = [(1, 0), (1, 1), (0, 0), (0, 1)]


@pytest.mark.parametrize(
    "mix,left,right", [("i8 i8", *lies) for lies in LAYOUTS] + [(mix, 0, 0) for mix in MIXES]
)
def test_bytes(tools, mix, left, right):
    mix = mix.split()
    a, b = lie(left, right, draw_bytes(mix[0], 144, 160), draw_bytes(mix[1], 160, 96))
    check_exact(tools, widened(multiply(left, right)), a, b)


@pytest.mark.parametrize("left,right", LAYOUTS)
@pytest.mark.parametrize("rows,depth,columns", [(129, 65, 67), (132, 40, 68)])
def test_edges_of_bytes(tools, left, right, rows, depth, columns):
    """Lines that begin at multiples of 1, 4 and 8 bytes."""
    a, b = lie(left, right, draw_bytes("i8", rows, depth), draw_bytes("i8", depth, columns))
    check_exact(tools, widened(multiply(left, right)), a, b)


@pytest.mark.parametrize("left,right", LAYOUTS)
@pytest.mark.parametrize("rows,depth,columns", [(132, 68, 76), (130, 34, 66)])
def test_lines_of_few_bytes(tools, left, right, rows, depth, columns):
    """Lines that begin at multiples of 8 and of 4 bytes."""
    check(
        tools,
        multiply(left, right),
        *lie(left, right, draw("bf16", rows, depth), draw("bf16", depth, columns)),
    )


def test_batches_of_bytes(tools):
    q, k = draw_bytes("i8", 2, 40, 3, 64), draw_bytes("i8", 2, 56, 3, 64)
    check_exact(tools, widened(lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k)), q, k)
    p, v = draw_bytes("u8", 2, 3, 40, 56), draw_bytes("i8", 2, 3, 56, 32)
    check_exact(tools, widened(lambda p, v: jnp.einsum("bhqk,bhkd->bqhd", p, v)), p, v)


def test_parts_of_bytes(tools, tmp_path):
    a, b = draw_bytes("i8", 40, 1000), draw_bytes("i8", 1000, 24)
    check_exact(tools, widened(multiply(1, 0)), a, b)
    assert read_text(tools, tmp_path, widened(multiply(1, 0)), a, b).count(".entry") == 2


def test_sums_modulo_2_to_32(tools):
    a, b = np.full((16, 33100), 255, np.uint8), np.full((33100, 16), 255, np.uint8)
    a[3], b[:, 5] = 127, 1
    check_exact(tools, widened(multiply(1, 0)), a, b)


def test_quantized_epilogue(tools, tmp_path):
    """Zero points, scales, rounding to bytes: where the sums are."""

    def function(x, w, zero, scale):
        sums = lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        scaled = (sums - zero).astype(jnp.float32) * scale
        return jnp.clip(jnp.round(scaled), -128, 127).astype(jnp.int8)

    numbers = np.random.default_rng(3)
    zero = numbers.integers(-999, 999, size=96).astype(np.int32)
    scale = numbers.uniform(1e-4, 1e-3, size=96).astype(np.float32)
    arrays = [draw_bytes("i8", 130, 64), draw_bytes("i8", 64, 96), zero, scale]
    check_exact(tools, function, *arrays)
    text = read_text(tools, tmp_path, function, *arrays)
    assert text.count(".entry") == 1 and "mma.sync.aligned.m16n8k32" in text
    # Threads store neighbours.
    assert "st.global.u32" in text and not re.search(r"st\.global\.[us]8", text)


QUANTIZED = """
func.func @main(%x: tensor<140x96xi8>, %w: tensor<96x80xi8>) -> tensor<140x80xi8> {
  %0 = stablehlo.bitcast_convert %x : (tensor<140x96xi8>) -> tensor<140x96x!quant.uniform<i8:f32, 0.02:-7>>
  %1 = stablehlo.bitcast_convert %w : (tensor<96x80xi8>) -> tensor<96x80x!quant.uniform<i8:f32, 0.01>>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]
      : (tensor<140x96x!quant.uniform<i8:f32, 0.02:-7>>, tensor<96x80x!quant.uniform<i8:f32, 0.01>>)
      -> tensor<140x80x!quant.uniform<i8:f32, 0.25:3>>
  %3 = stablehlo.bitcast_convert %2 : (tensor<140x80x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<140x80xi8>
  return %3 : tensor<140x80xi8>
}
"""


def test_quantized_types(tools, tmp_path):
    """Dequantize, multiply, quantize, but at halves: sums of bytes and one factor."""
    x, w = draw_bytes("i8", 140, 96), draw_bytes("i8", 96, 80)
    [got] = jax_functions.run_text(tools, QUANTIZED, [x, w], TARGET)
    exact = ((x.astype(np.int64) + 7) @ w.astype(np.int64)) * (0.02 * 0.01 / 0.25)
    want = np.clip(np.rint(exact) + 3, -128, 127)
    near = np.abs(np.abs(exact - np.trunc(exact)) - 0.5) < 1e-4
    np.testing.assert_array_equal(got[~near], want[~near])
    assert near.mean() < 0.01 and np.abs(got - want).max() <= 1
    text = read_program(tools, tmp_path, QUANTIZED)
    assert "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" in text


def test_tensor_cores_of_bytes(tools, tmp_path):
    for left, right in LAYOUTS:
        a, b = lie(left, right, draw_bytes("i8", 128, 256), draw_bytes("u8", 256, 64))
        text = read_text(tools, tmp_path, widened(multiply(left, right)), a, b)
        assert "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32" in text
        assert "cp.async.cg.shared.global" in text and "ldmatrix.sync" in text
        # Bytes that lie across their depth are turned in registers.
        assert ("prmt.b32" in text) == (not left or not right)
        assert not re.search(r"ld\.global(\.nc)?\.[us]8|\.local", text)


FLOATS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def draw_small(kind, *shape):
    numbers = np.random.default_rng(len(shape) + sum(shape))
    return (numbers.normal(size=shape) * 2).astype(FLOATS[kind])


def multiply_small(left, right):
    def function(a, b):
        dims = (((left,), (right,)), ((), ()))
        return lax.dot_general(a, b, dims, preferred_element_type=jnp.float32)

    return function


def check_small(tools, left, right, a, b):
    [got] = run(tools, multiply_small(left, right), a, b)
    x, y = np.asarray(a if left else a.T, np.float64), np.asarray(b.T if right else b, np.float64)
    want = x @ y
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    there = np.isfinite(want)
    limit = 2**-20 * np.abs(want[there]).max()
    np.testing.assert_allclose(got[there], want[there], rtol=0, atol=limit)


@pytest.mark.parametrize(
    "kinds,left,right",
    [("e4m3 e5m2", *lies) for lies in LAYOUTS] + [("e4m3 e4m3", 1, 0), ("e5m2 e5m2", 0, 1)],
)
def test_floats_of_bytes(tools, kinds, left, right, tmp_path):
    kinds = kinds.split()
    a, b = lie(left, right, draw_small(kinds[0], 130, 96), draw_small(kinds[1], 96, 80))
    check_small(tools, left, right, a, b)
    text = read_text(tools, tmp_path, multiply_small(left, right), a, b)
    assert "mma.sync.aligned" in text


@pytest.mark.parametrize("kind", FLOATS)
def test_all_floats_of_bytes(tools, kind):
    """Each of them times one: numbers of all exponents, infinities and NaN."""
    every = np.arange(256, dtype=np.uint8).view(FLOATS[kind])
    a = np.zeros((256, 64), FLOATS[kind])
    a[:, 5] = every
    b = np.zeros((64, 32), FLOATS[kind])
    b[5] = 1
    check_small(tools, 1, 0, a, b)


def lie_in_batches(left, right, a, b):
    return a if left else a.swapaxes(1, 2).copy(), b.swapaxes(1, 2).copy() if right else b


# A tile of each for all cores.
MANY = 108


@pytest.mark.parametrize("left,right,kind", [(1, 0, "bf16"), (0, 1, "f16")])
def test_large_tiles(tools, tmp_path, left, right, kind):
    """128 x 128 by 128 threads, more stages than there are at once, edges."""
    a, b = lie_in_batches(left, right, draw(kind, MANY, 120, 168), draw(kind, MANY, 168, 72))

    def function(a, b):
        dims = (((2 if left else 1,), (2 if right else 1,)), ((0,), (0,)))
        return lax.dot_general(a, b, dims) + 1

    check(tools, function, a, b)
    text = read_text(tools, tmp_path, function, a, b)
    assert ".reqntid 128, 1, 1" in text and ".extern .shared .align 16 .b8" in text
    assert ".local" not in text and not re.search(r"ld\.global(\.nc)?\.[bu]16", text)


def test_large_tiles_of_bytes(tools):
    a, b = lie_in_batches(0, 0, draw_bytes("i8", MANY, 112, 336), draw_bytes("i8", MANY, 336, 80))
    function = widened(lambda a, b: lax.dot_general(a, b, (((1,), (1,)), ((0,), (0,)))))
    check_exact(tools, function, a, b)


def test_bands_of_rows(tools, tmp_path):
    """Each tile once, in an order that shares columns; the last band is lower."""
    a, b = draw("bf16", 128 * 10 - 3, 32), draw("bf16", 32, 128 * 11)
    check(tools, multiply(1, 0), a, b)
    assert ".reqntid 128, 1, 1" in read_text(tools, tmp_path, multiply(1, 0), a, b)


TF32 = lax.DotAlgorithmPreset.TF32_TF32_F32


def write_tf32(left, right, a, b):
    """A program, which JAX writes for GPUs alone."""

    def function(a, b):
        return lax.dot_general(a, b, (((left,), (right,)), ((), ())), precision=TF32)

    traced = jax.jit(function).trace(a, b)
    return traced.lower(lowering_platforms=("cuda",)).as_text()


def round_tf32(x):
    """To ten bits of mantissa, halves away from zero."""
    bits = x.view(np.uint32) + np.uint32(0x1000)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("left,right", LAYOUTS)
@pytest.mark.parametrize("rows,depth,columns", [(144, 72, 80), (130, 65, 67)])
def test_tf32(tools, left, right, rows, depth, columns):
    """What a program says in a product's algorithm: numbers are rounded, sums are f32."""
    a, b = draw("f32", rows, depth), draw("f32", depth, columns)
    arrays = lie(left, right, a, b)
    [got] = jax_functions.run_text(tools, write_tf32(left, right, *arrays), arrays, TARGET)
    want = round_tf32(a).astype(np.float64) @ round_tf32(b).astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=0, atol=2**-20 * np.abs(want).max())
    # It is not what f32 gives.
    assert np.abs(got - a.astype(np.float64) @ b).max() > 2**-14 * np.abs(want).max()


def test_what_is_tf32(tools, tmp_path):
    """What asks for it, not what may not be less exact; the option asks for all others."""
    a, b = draw("f32", 128, 64), draw("f32", 64, 64)
    tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
    assert tf32 in read_program(tools, tmp_path, write_tf32(1, 0, a, b))
    assert "mma.sync" not in read_text(tools, tmp_path, multiply(1, 0), a, b)
    for precision, is_tf32 in [(None, True), (lax.Precision.HIGHEST, False)]:

        def function(a, b, precision=precision):
            return jnp.matmul(a, b, precision=precision)

        program, artifact = tmp_path / "p.mlir", tmp_path / "p.alula"
        program.write_text(jax.jit(function).lower(a, b).as_text())
        words = [f"--target={TARGET}", "--accuracy=tf32-products"]
        check_success(run_tool("alula-compile", program, "-o", artifact, *words))
        image = check_success(run_tool("alula-inspect", artifact, f"--extract={TARGET}"))
        assert (tf32.encode() in image) == is_tf32


# The first barrier is for tiles that one workgroup does one after the other.
MISTAKES = {
    "bf16": {
        **{f"barrier {i}": (r"bar\.sync\s+0;", "", i) for i in range(1, 4)},
        "a stage that has not arrived": (r"wait_group 2;", "wait_group 3;", 0),
        "a sum that begins anew": (
            r"mma(\.\S+) \{(%\w+),([^}]*\}), (\{[^}]*\}, \{[^}]*\}), \{[^}]*\}",
            r"mma\1 {\2,\3, \4, {\2, \2, \2, \2}",
            -1,
        ),
        "columns that are not transposed": (r"(x4)\.trans", r"\1", 0),
    },
    "i8": {
        "barrier": (r"bar\.sync\s+0;", "", 1),
        "other bytes": (r"25632;", "30001;", 0),
        "bytes without a sign": (r"s32\.s8\.s8\.s32", "s32.u8.s8.s32", 0),
    },
}


@pytest.mark.parametrize("kind,mistake", [(k, m) for k in MISTAKES for m in MISTAKES[k]])
def test_seeded_mistakes(tools, tmp_path, kind, mistake):
    """Each of them ends the kernel, and with it its process, or gives other numbers."""
    if kind == "i8":
        function = widened(multiply(0, 0))
        arrays = [draw_bytes(kind, 336, 144), draw_bytes(kind, 336, 80)]
    else:
        function, arrays = multiply(1, 0), [draw(kind, 144, 168), draw(kind, 168, 80)]
    program = jax.jit(function).lower(*arrays).as_text().encode()
    artifact = tools[0].compile(program, [TARGET])
    [right] = run(tools, function, *arrays)
    edit = changed_ptx.replace(*MISTAKES[kind][mistake])
    got, said = changed_ptx.run(tmp_path, kind, changed_ptx.change(artifact, edit), arrays)
    if got is None:
        assert "without a barrier" in said or "has not been waited for" in said, said
        return
    wrong = got.view(right.dtype).reshape(right.shape).astype(np.float64)
    assert np.abs(wrong - right.astype(np.float64)).max() > 0.1
