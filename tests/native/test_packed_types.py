"""Elements of 2 and 4 bits share bytes in artifacts and in memory: what a program
does with them gives NumPy's numbers, for shapes whose rows end within a byte too."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import jax_functions
import tensor_file
from alula.bindings import dtypes

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

KINDS = ["i2", "i4", "ui2", "ui4", "f4E2M1FN"]
SHAPES = [(), (1,), (7,), (8,), (3, 5), (4, 6), (2, 3, 7), (33, 64), (129, 257)]


def bits_of(kind):
    return 2 if kind.endswith("2") else 4


def draw(kind, shape, seed=0):
    """Every code, in any order."""
    bits = bits_of(kind)
    codes = np.random.default_rng(seed).integers(0, 1 << bits, shape)
    if kind.startswith("i"):
        sign = 1 << (bits - 1)
        codes = (codes ^ sign) - sign
    flat = np.ravel(codes).astype(np.uint8)
    return flat.view(tensor_file.DTYPES[kind]).reshape(shape)


def codes(array):
    """The bits that count, as bytes: ml_dtypes leaves others as they come."""
    flat = np.ascontiguousarray(array).reshape(-1)
    code = dtypes.CODES.get(array.dtype.name)
    return dtypes.pack(code, flat) if code in dtypes.PACKING else flat.view(np.uint8)


def type_of(shape, kind):
    return "tensor<" + "".join(f"{size}x" for size in shape) + kind + ">"


def run(tools, text, arrays, kinds, target="cpu:host"):
    compiler, runtime = tools
    artifact = compiler.compile(text.encode(), [target])
    executable = runtime.load(artifact)
    arguments = [runtime.new_buffer(a, k) for a, k in zip(arrays, kinds)]
    results = executable.call(executable.find("main"), arguments)
    got = [(r.array().copy(), r.size) for r in results]
    for buffer in (*arguments, *results):
        buffer.release()
    executable.destroy()
    return got, artifact


def check(tools, text, arrays, kinds, expected, target="cpu:host"):
    got, _ = run(tools, text, arrays, kinds, target)
    for (array, size), wanted in zip(got, expected, strict=True):
        np.testing.assert_array_equal(codes(array), codes(wanted))
        if wanted.dtype.name in dtypes.CODES:
            assert size == dtypes.packed_bytes(dtypes.CODES[wanted.dtype.name], wanted.size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("target", ["cpu:host", "cpu:x86-64-v2"])
def test_map_and_convert(tools, kind, shape, target):
    x, y = draw(kind, shape, 1), draw(kind, shape, 2)
    t, wide = type_of(shape, kind), type_of(shape, "f32")
    text = f"""func.func @main(%x: {t}, %y: {t}) -> ({t}, {wide}, {t}) {{
      %0 = stablehlo.maximum %x, %y : {t}
      %1 = stablehlo.convert %x : ({t}) -> {wide}
      %2 = stablehlo.convert %y : ({t}) -> {wide}
      %3 = stablehlo.subtract %1, %2 : {wide}
      return %0, %3, %y : {t}, {wide}, {t}
    }}"""
    a, b = x.astype(np.float32), y.astype(np.float32)
    largest = np.where(a >= b, a, b)
    if kind.startswith("f"):
        # Of two zeros the positive one is the larger.
        both = (a == 0) & (b == 0)
        largest = np.where(both & ~(np.signbit(a) & np.signbit(b)), 0.0, largest)
    expected = [largest.astype(x.dtype), a - b, y]
    check(tools, text, [x, y], [kind, kind], expected, target)


@pytest.mark.parametrize("kind", KINDS)
def test_movement(tools, kind):
    x, y = draw(kind, (5, 7), 3), draw(kind, (2, 3), 4)
    k = kind
    text = f"""func.func @main(%x: tensor<5x7x{k}>, %y: tensor<2x3x{k}>, %i: tensor<i32>, %at: tensor<4x1xi32>)
        -> (tensor<7x5x{k}>, tensor<35x{k}>, tensor<3x2x{k}>, tensor<10x7x{k}>, tensor<5x7x{k}>, tensor<4x7x{k}>, tensor<5x9x{k}>, tensor<5x7x{k}>) {{
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<5x7x{k}>) -> tensor<7x5x{k}>
      %1 = stablehlo.reshape %x : (tensor<5x7x{k}>) -> tensor<35x{k}>
      %2 = stablehlo.slice %x [1:4, 2:6:2] : (tensor<5x7x{k}>) -> tensor<3x2x{k}>
      %3 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<5x7x{k}>, tensor<5x7x{k}>) -> tensor<10x7x{k}>
      %4 = stablehlo.dynamic_update_slice %x, %y, %i, %i : (tensor<5x7x{k}>, tensor<2x3x{k}>, tensor<i32>, tensor<i32>) -> tensor<5x7x{k}>
      %5 = "stablehlo.gather"(%x, %at) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}}> : (tensor<5x7x{k}>, tensor<4x1xi32>) -> tensor<4x7x{k}>
      %6 = stablehlo.slice %y [0:1, 0:1] : (tensor<2x3x{k}>) -> tensor<1x1x{k}>
      %7 = stablehlo.reshape %6 : (tensor<1x1x{k}>) -> tensor<{k}>
      %8 = stablehlo.pad %x, %7, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<5x7x{k}>, tensor<{k}>) -> tensor<5x9x{k}>
      %9 = stablehlo.reverse %x, dims = [0, 1] : tensor<5x7x{k}>
      return %0, %1, %2, %3, %4, %5, %8, %9 : tensor<7x5x{k}>, tensor<35x{k}>, tensor<3x2x{k}>, tensor<10x7x{k}>, tensor<5x7x{k}>, tensor<4x7x{k}>, tensor<5x9x{k}>, tensor<5x7x{k}>
    }}"""
    updated = x.copy()
    updated[2:4, 2:5] = y
    at = np.array([[4], [0], [3], [3]], np.int32)
    padded = np.empty((5, 9), x.dtype)
    padded[:] = y[0, 0]
    padded[:, 1:8] = x
    expected = [
        x.T, x.reshape(-1), x[1:4, 2:6:2], np.concatenate([x, x]), updated, x[at[:, 0]], padded,
        x[::-1, ::-1],
    ]  # fmt: skip
    check(tools, text, [x, y, np.array(2, np.int32), at], [kind, kind, "i32", "i32"], expected)


@pytest.mark.parametrize("kind", ["i2", "i4", "ui2", "ui4"])
def test_sort_reduce_scatter_loop(tools, kind):
    x = draw(kind, (4, 9), 5)
    k = kind
    sign = "SIGNED" if kind.startswith("i") else "UNSIGNED"
    text = f"""func.func @main(%x: tensor<4x9x{k}>, %at: tensor<3x1xi32>, %u: tensor<3x9x{k}>)
        -> (tensor<4x9x{k}>, tensor<4x{k}>, tensor<4x9x{k}>, tensor<4x9x{k}>) {{
      %0 = "stablehlo.sort"(%x) <{{dimension = 1 : i64, is_stable = true}}> ({{
        ^bb0(%a: tensor<{k}>, %b: tensor<{k}>):
          %c = stablehlo.compare LT, %a, %b, {sign} : (tensor<{k}>, tensor<{k}>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
      }}) : (tensor<4x9x{k}>) -> tensor<4x9x{k}>
      %zero = stablehlo.constant dense<0> : tensor<{k}>
      %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x9x{k}>, tensor<{k}>) -> tensor<4x{k}>
      %2 = "stablehlo.scatter"(%x, %at, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
        ^bb0(%a: tensor<{k}>, %b: tensor<{k}>):
          stablehlo.return %b : tensor<{k}>
      }}) : (tensor<4x9x{k}>, tensor<3x1xi32>, tensor<3x9x{k}>) -> tensor<4x9x{k}>
      %n = stablehlo.constant dense<0> : tensor<i32>
      %3:2 = stablehlo.while(%i = %n, %s = %x) : tensor<i32>, tensor<4x9x{k}>
        cond {{
          %five = stablehlo.constant dense<5> : tensor<i32>
          %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }} do {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.add %i, %one : tensor<i32>
          %rolled = stablehlo.slice %s [0:4, 1:9] : (tensor<4x9x{k}>) -> tensor<4x8x{k}>
          %first = stablehlo.slice %s [0:4, 0:1] : (tensor<4x9x{k}>) -> tensor<4x1x{k}>
          %both = stablehlo.concatenate %rolled, %first, dim = 1 : (tensor<4x8x{k}>, tensor<4x1x{k}>) -> tensor<4x9x{k}>
          stablehlo.return %next, %both : tensor<i32>, tensor<4x9x{k}>
        }}
      return %0, %1, %2, %3#1 : tensor<4x9x{k}>, tensor<4x{k}>, tensor<4x9x{k}>, tensor<4x9x{k}>
    }}"""
    at = np.array([[3], [0], [7]], np.int32)
    u = draw(kind, (3, 9), 6)
    wide = x.astype(np.int32)
    scattered = x.copy()
    scattered[3], scattered[0] = u[0], u[1]
    low = np.iinfo(np.int8).min
    total = wide.sum(1) & ((1 << bits_of(kind)) - 1)
    if kind.startswith("i"):
        half = 1 << (bits_of(kind) - 1)
        total = (total ^ half) - half
    assert low < total.min()
    expected = [
        np.sort(wide, 1).astype(x.dtype), total.astype(x.dtype), scattered, np.roll(x, -5, 1),
    ]  # fmt: skip
    check(tools, text, [x, at, u], [kind, "i32", kind], expected)


@pytest.mark.parametrize("rows, columns", [(5, 7), (6, 64), (64, 33)])
def test_weights_are_read_where_they_lie(tools, rows, columns):
    w = draw("i4", (rows, columns), 7)
    x = np.random.default_rng(8).standard_normal((3, rows)).astype(np.float32)
    text = f"""func.func @main(%x: tensor<3x{rows}xf32>, %w: tensor<{rows}x{columns}xi4>) -> tensor<3x{columns}xf32> {{
      %0 = stablehlo.convert %w : (tensor<{rows}x{columns}xi4>) -> tensor<{rows}x{columns}xf32>
      %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<3x{rows}xf32>, tensor<{rows}x{columns}xf32>) -> tensor<3x{columns}xf32>
      return %1 : tensor<3x{columns}xf32>
    }}"""
    got, _ = run(tools, text, [x, w], ["f32", "i4"])
    np.testing.assert_allclose(got[0][0], x @ w.astype(np.float32), rtol=1e-5, atol=1e-5)


def test_constants_take_half_a_byte(tools):
    w = draw("i4", (512, 512), 9)
    numbers = "[" + ",".join("[" + ",".join(str(int(v)) for v in row) + "]" for row in w) + "]"
    text = f"""func.func @main(%i: tensor<i32>) -> (tensor<512x512xi4>, tensor<1x512xi4>) {{
      %0 = stablehlo.constant dense<{numbers}> : tensor<512x512xi4>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.dynamic_slice %0, %i, %z, sizes = [1, 512] : (tensor<512x512xi4>, tensor<i32>, tensor<i32>) -> tensor<1x512xi4>
      return %0, %1 : tensor<512x512xi4>, tensor<1x512xi4>
    }}"""
    got, artifact = run(tools, text, [np.array(77, np.int32)], ["i32"])
    np.testing.assert_array_equal(codes(got[0][0]), codes(w))
    np.testing.assert_array_equal(codes(got[1][0]), codes(w[77:78]))
    assert got[0][1] == 512 * 512 // 2
    assert 512 * 512 // 2 < len(artifact) < 512 * 512 // 2 + 32768


PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_a_large_matrix_takes_half_a_byte_for_each_number(tools, tmp_path):
    w = draw("i4", (4096, 4096), 11)
    text = f"""func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {{
      %0 = stablehlo.constant dense<"0x{np.ravel(w).view(np.uint8).tobytes().hex()}"> : tensor<4096x4096xi4>
      %1 = stablehlo.convert %0 : (tensor<4096x4096xi4>) -> tensor<4096x4096xf32>
      %2 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4096xf32>) -> tensor<4096x4096xf32>
      %3 = stablehlo.multiply %1, %2 : tensor<4096x4096xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096xf32>
      return %4 : tensor<4096xf32>
    }}"""
    compiler, runtime = tools
    artifact = compiler.compile(text.encode(), ["cpu:host"])
    half = 4096 * 4096 // 2
    assert half < len(artifact) < half + 65536
    x = np.random.default_rng(12).integers(-3, 4, 4096).astype(np.float32)
    executable = runtime.load(artifact)
    argument = runtime.new_buffer(x, "f32")
    (result,) = executable.call(executable.find("main"), [argument])
    np.testing.assert_array_equal(result.array(), x @ w.astype(np.float32))
    for thing in (argument, result):
        thing.release()
    executable.destroy()
    # Nor does a process that runs it ever hold more.
    file = tmp_path / "large.alula"
    file.write_bytes(artifact)
    command = [str(jax_functions.BUILD / "bin/alula-run"), str(file), "--random"]
    # A process of its own counts, since a child begins with the peak of its parent.
    peak = subprocess.check_output([sys.executable, "-c", PEAK, *command])
    assert half < 1024 * int(peak) < 1.5 * half + (8 << 20)


@pytest.mark.parametrize("count", [1, 2, 7, 64, 1001])
def test_sizes_known_at_run_time(tools, count):
    x = draw("i4", (count, 3), 10)
    text = """func.func @main(%x: tensor<?x3xi4>) -> (tensor<?x3xi4>, tensor<?x3xi32>, tensor<3x?xi4>) {
      %0 = stablehlo.negate %x : tensor<?x3xi4>
      %1 = stablehlo.convert %x : (tensor<?x3xi4>) -> tensor<?x3xi32>
      %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x3xi4>) -> tensor<3x?xi4>
      return %0, %1, %2 : tensor<?x3xi4>, tensor<?x3xi32>, tensor<3x?xi4>
    }"""
    wide = x.astype(np.int32)
    negated = np.where(wide == -8, -8, -wide).astype(ml_dtypes.int4)
    check(tools, text, [x], ["i4"], [negated, wide, x.T])


def test_bits_of_bytes(tools):
    x = np.arange(256, dtype=np.uint8).reshape(16, 16)
    text = """func.func @main(%x: tensor<16x16xui8>) -> (tensor<16x16x2xui4>, tensor<16x16xui8>) {
      %0 = stablehlo.bitcast_convert %x : (tensor<16x16xui8>) -> tensor<16x16x2xui4>
      %1 = stablehlo.bitcast_convert %0 : (tensor<16x16x2xui4>) -> tensor<16x16xui8>
      return %0, %1 : tensor<16x16x2xui4>, tensor<16x16xui8>
    }"""
    nibbles = np.stack([x & 15, x >> 4], -1).view(ml_dtypes.uint4)
    check(tools, text, [x], ["ui8"], [nibbles, x])


def test_an_element_on_the_host(tools):
    """A loop whose trip count is an element of a packed tensor."""
    x = draw("i4", (9,), 11)
    x[5] = 6
    text = """func.func @main(%x: tensor<9xi4>, %a: tensor<300x300xf32>) -> tensor<300x300xf32> {
      %s = stablehlo.slice %x [5:6] : (tensor<9xi4>) -> tensor<1xi4>
      %n = stablehlo.reshape %s : (tensor<1xi4>) -> tensor<i4>
      %z = stablehlo.constant dense<0> : tensor<i4>
      %0:2 = stablehlo.while(%i = %z, %v = %a) : tensor<i4>, tensor<300x300xf32>
        cond {
          %c = stablehlo.compare LT, %i, %n : (tensor<i4>, tensor<i4>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i4>
          %next = stablehlo.add %i, %one : tensor<i4>
          %w = stablehlo.add %v, %v : tensor<300x300xf32>
          stablehlo.return %next, %w : tensor<i4>, tensor<300x300xf32>
        }
      return %0#1 : tensor<300x300xf32>
    }"""
    a = np.ones((300, 300), np.float32)
    check(tools, text, [x, a], ["i4", "f32"], [a * 64])
