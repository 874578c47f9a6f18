"""Products of bytes and of weights of few bits: the numbers are NumPy's, and what
weights stand for is never in memory as a whole."""

import re
import subprocess

import jax_functions
import numpy as np
import pytest
from test_packed_types import draw, run, type_of

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

LIMITS = {"i4": (-8, 7), "ui4": (0, 15), "i8": (-128, 127), "ui8": (0, 255)}
TARGETS = ["cpu:host", "cpu:x86-64-v3", "cpu:x86-64-v2"]


def weights(kind, shape, seed=0):
    if kind.endswith("4"):
        return draw(kind, shape, seed)
    low, high = LIMITS[kind]
    array = np.random.default_rng(seed).integers(low, high, shape, endpoint=True)
    return array.astype(np.uint8 if kind == "ui8" else np.int8)


def uniform(shape, seed):
    return np.random.default_rng(seed).uniform(0.5, 2, shape).astype(np.float32)


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check_sums(got, a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    limit = (a.shape[1] + 4) * 2.0**-23 * (np.abs(a) @ np.abs(b))
    assert (np.abs(got - a @ b) <= limit).all(), np.abs(got - a @ b).max()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("left,right", [("ui8", "i8"), ("i8", "i4"), ("i8", "i8"), ("ui8", "ui4")])
@pytest.mark.parametrize("m", [1, 2, 40])
def test_widened_integers(tools, target, left, right, m):
    """As JAX spells products of integers: operands are widened before."""
    k, n = 130, 70
    a, b = weights(left, (m, k), 1), weights(right, (k, n), 2)
    s, t, wide = (type_of((m, k), kind) for kind in (left, right, "i32"))
    t, wide_b, out = type_of((k, n), right), type_of((k, n), "i32"), type_of((m, n), "i32")
    text = f"""func.func @main(%x: {s}, %w: {t}) -> {out} {{
      %a = stablehlo.convert %x : ({s}) -> {wide}
      %b = stablehlo.convert %w : ({t}) -> {wide_b}
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({wide}, {wide_b}) -> {out}
      return %0 : {out}
    }}"""
    (got, _), *_ = run(tools, text, [a, b], [left, right], target)[0]
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


def block_scaled(kind, m, k, n, group, transposed):
    """A float product with weights that are scaled in blocks along the sums."""
    groups = k // group
    stored = (n, k) if transposed else (k, n)
    tiles = (n, groups, group) if transposed else (groups, group, n)
    scales = (n, groups, 1) if transposed else (groups, 1, n)
    w, f = type_of(stored, kind), type_of(stored, "f32")
    tile, scale = type_of(tiles, "f32"), type_of(scales, "f32")
    x, out = type_of((m, k), "f32"), type_of((m, n), "f32")
    side = 1 if transposed else 0
    return (
        f"""func.func @main(%x: {x}, %w: {w}, %s: {scale}) -> {out} {{
      %a = stablehlo.convert %w : ({w}) -> {f}
      %b = stablehlo.reshape %a : ({f}) -> {tile}
      %c = stablehlo.broadcast_in_dim %s, dims = [0, 1, 2] : ({scale}) -> {tile}
      %d = stablehlo.multiply %b, %c : {tile}
      %e = stablehlo.reshape %d : ({tile}) -> {f}
      %0 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [{side}] : ({x}, {f}) -> {out}
      return %0 : {out}
    }}""",
        stored,
        scales,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    "m,k,n,group", [(1, 640, 300, 32), (2, 96, 77, 3), (40, 1024, 130, 64), (5, 600, 64, 600)]
)
def test_block_scales(tools, target, kind, transposed, m, k, n, group):
    text, stored, scales = block_scaled(kind, m, k, n, group, transposed)
    x, w, s = normal((m, k), 1), weights(kind, stored, 2), uniform(scales, 3)
    (got, _), *_ = run(tools, text, [x, w, s], ["f32", kind, "f32"], target)[0]
    right = w.astype(np.float32).reshape(*stored)
    if transposed:
        right = (right.reshape(n, k // group, group) * s).reshape(n, k).T
    else:
        right = (right.reshape(k // group, group, n) * s).reshape(k, n)
    check_sums(got, x, right)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("m,lines", [(1, 48), (3, 12), (3, 5), (40, 48)])
def test_scales_of_blocks_of_columns(tools, target, kind, transposed, m, lines):
    """A scale is shared by columns that blocks of the product divide differently."""
    k, n, group = 512, 960, 64
    stored = (n, k) if transposed else (k, n)
    tiles = (n // lines, lines, k // group, group)
    tiles = tiles if transposed else (*tiles[2:], *tiles[:2])
    scales = (tiles[0], 1, tiles[2], 1)
    w, f = type_of(stored, kind), type_of(stored, "f32")
    tile, scale = type_of(tiles, "f32"), type_of(scales, "f32")
    x, out = type_of((m, k), "f32"), type_of((m, n), "f32")
    text = f"""func.func @main(%x: {x}, %w: {w}, %s: {scale}) -> {out} {{
      %a = stablehlo.convert %w : ({w}) -> {f}
      %b = stablehlo.reshape %a : ({f}) -> {tile}
      %c = stablehlo.broadcast_in_dim %s, dims = [0, 1, 2, 3] : ({scale}) -> {tile}
      %d = stablehlo.multiply %b, %c : {tile}
      %e = stablehlo.reshape %d : ({tile}) -> {f}
      %0 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [{int(transposed)}] : ({x}, {f}) -> {out}
      return %0 : {out}
    }}"""
    a, b, s = normal((m, k), 1), weights(kind, stored, 2), uniform(scales, 3)
    (got, _), *_ = run(tools, text, [a, b, s], ["f32", kind, "f32"], target)[0]
    right = (b.astype(np.float32).reshape(tiles) * s).reshape(stored)
    check_sums(got, a, right.T if transposed else right)


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("m", [1, 33])
def test_one_scale_and_none(tools, kind, m):
    k, n = 300, 140
    x, w = type_of((m, k), "f32"), type_of((k, n), kind)
    f, out = type_of((k, n), "f32"), type_of((m, n), "f32")
    text = f"""func.func @main(%x: {x}, %w: {w}, %s: tensor<f32>) -> ({out}, {out}) {{
      %a = stablehlo.convert %w : ({w}) -> {f}
      %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> {f}
      %c = stablehlo.multiply %b, %a : {f}
      %0 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : ({x}, {f}) -> {out}
      %d = stablehlo.convert %w : ({w}) -> {f}
      %1 = stablehlo.dot_general %x, %d, contracting_dims = [1] x [0] : ({x}, {f}) -> {out}
      return %0, %1 : {out}, {out}
    }}"""
    a, b, s = normal((m, k), 1), weights(kind, (k, n), 2), np.float32(0.37)
    got, _ = run(tools, text, [a, b, np.asarray(s)], ["f32", kind, "f32"])
    check_sums(got[0][0], a, b.astype(np.float32) * s)
    check_sums(got[1][0], a, b.astype(np.float32))


# Batch e of matrices of rows k and columns n: which of the dimensions the integers
# have in which order, and the scales; `g` of them share one along k.
BATCHES = {
    "experts": ("ekn", "egn"),
    "experts, transposed": ("enk", "eng"),
    "keys of a cache": ("nek", "ne"),
    "values of a cache": ("ken", "ke"),
    "a scale for each matrix": ("ekn", "e"),
    "a scale for each column": ("enk", "en"),
    "none": ("enk", ""),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("layout", BATCHES)
@pytest.mark.parametrize("m,sizes,group", [(1, {"e": 3, "k": 128, "n": 70}, 32), (2, {"e": 2, "k": 66, "n": 131}, 33), (40, {"e": 4, "k": 96, "n": 64}, 32)])  # fmt: skip
def test_batches(tools, target, kind, layout, m, sizes, group):
    order, scaled = BATCHES[layout]
    sizes = sizes | {"g": sizes["k"] // group}
    stored = tuple(sizes[d] for d in order)
    # What is multiplied: a block of k is a dimension of its own.
    tiles, scales = [], []
    for d in order:
        if d == "k" and "g" in scaled:
            tiles += [sizes["g"], group]
            scales += [sizes["g"], 1]
        else:
            tiles.append(sizes[d])
            scales.append(sizes[d] if d in scaled else 1)
    w, f, tile = (type_of(*t) for t in ((stored, kind), (stored, "f32"), (tiles, "f32")))
    x, out = type_of((sizes["e"], m, sizes["k"]), "f32"), type_of((sizes["e"], m, sizes["n"]), "f32")
    numbers = f"batching_dims = [0] x [{order.index('e')}], contracting_dims = [2] x [{order.index('k')}]"
    text = f"""func.func @main(%x: {x}, %w: {w}, %s: {type_of(scales, "f32")}) -> {out} {{
      %a = stablehlo.convert %w : ({w}) -> {f}
      %b = stablehlo.reshape %a : ({f}) -> {tile}
      %c = stablehlo.broadcast_in_dim %s, dims = {list(range(len(scales)))} : ({type_of(scales, "f32")}) -> {tile}
      %d = stablehlo.multiply %b, %c : {tile}
      %e = stablehlo.reshape %d : ({tile}) -> {f}
      %0 = stablehlo.dot_general %x, %e, {numbers} : ({x}, {f}) -> {out}
      return %0 : {out}
    }}"""
    a = normal((sizes["e"], m, sizes["k"]), 1)
    b, s = weights(kind, stored, 2), uniform(scales, 3)
    (got, _), *_ = run(tools, text, [a, b, s], ["f32", kind, "f32"], target)[0]
    right = (b.astype(np.float32).reshape(tiles) * s).reshape(stored)
    for one, left, matrix in zip(
        got, a, right.transpose([order.index(d) for d in "ekn"]), strict=True
    ):
        check_sums(one, left, matrix)


def test_other_spellings(tools):
    """Zero points and a batch without scales."""
    k, n = 256, 96
    text = f"""func.func @main(%x: tensor<7x{k}xf32>, %w: tensor<{k}x{n}xui4>, %z: tensor<{n}xf32>,
        %p: tensor<3x7x{k}xf32>, %q: tensor<3x{k}x{n}xi4>) -> (tensor<7x{n}xf32>, tensor<3x7x{n}xf32>) {{
      %a = stablehlo.convert %w : (tensor<{k}x{n}xui4>) -> tensor<{k}x{n}xf32>
      %b = stablehlo.broadcast_in_dim %z, dims = [1] : (tensor<{n}xf32>) -> tensor<{k}x{n}xf32>
      %c = stablehlo.subtract %a, %b : tensor<{k}x{n}xf32>
      %0 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<7x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<7x{n}xf32>
      %d = stablehlo.convert %q : (tensor<3x{k}x{n}xi4>) -> tensor<3x{k}x{n}xf32>
      %1 = stablehlo.dot_general %p, %d, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x7x{k}xf32>, tensor<3x{k}x{n}xf32>) -> tensor<3x7x{n}xf32>
      return %0, %1 : tensor<7x{n}xf32>, tensor<3x7x{n}xf32>
    }}"""
    x, w, z = normal((7, k), 1), weights("ui4", (k, n), 2), uniform(n, 3)
    p, q = normal((3, 7, k), 4), weights("i4", (3, k, n), 5)
    got, _ = run(tools, text, [x, w, z, p, q], ["f32", "ui4", "f32", "f32", "i4"])
    check_sums(got[0][0], x, w.astype(np.float32) - z)
    for one, a, b in zip(got[1][0], p, q, strict=True):
        check_sums(one, a, b.astype(np.float32))


def quantized(shape, storage, scale, zero=0, axis=None):
    numbers = f"{scale}:{zero}"
    if axis is not None:
        listed = ", ".join(f"{one}:{zero}" for one in scale)
        return type_of(shape, f"!quant.uniform<{storage}:f32:{axis}, {{{listed}}}>")
    return type_of(shape, f"!quant.uniform<{storage}:f32, {numbers}>")


def requantize(real, scale, zero, low, high):
    return np.clip(np.rint(real / scale + zero), low, high)


def check_units(got, expected):
    """At most one unit, and that seldom: exact halves go either way."""
    difference = np.abs(got.astype(int) - expected)
    assert difference.max() <= 1
    assert (difference > 0).sum() <= max(1, 2e-4 * difference.size)


@pytest.mark.parametrize(
    "storage,kind,low,high,zero", [("i8", "i8", -128, 127, -7), ("u8", "ui8", 0, 255, 130), ("i4", "i4", -8, 7, 1)]
)  # fmt: skip
@pytest.mark.parametrize("m", [1, 37])
@pytest.mark.parametrize("per_axis", [False, True])
def test_quantized_product(tools, storage, kind, low, high, zero, m, per_axis):
    k, n = 200, 90
    scales = uniform(n, 5).astype(np.float64) / 100
    left = quantized((m, k), storage, 0.03, zero)
    right = quantized(
        (k, n), storage, list(scales) if per_axis else 0.02, 0, 1 if per_axis else None
    )
    out_scale = 1.7 if kind != "i4" else 0.5
    out = quantized((m, n), storage, out_scale, zero)
    text = f"""func.func @main(%x: {left}, %w: {right}) -> {out} {{
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({left}, {right}) -> {out}
      return %0 : {out}
    }}"""
    a, b = weights(kind, (m, k), 1), weights(kind, (k, n), 2)
    (got, _), *_ = run(tools, text, [a, b], [kind, kind])[0]
    real = (
        (a.astype(np.float64) - zero)
        * 0.03
        @ (b.astype(np.float64) * (scales if per_axis else 0.02))
    )
    check_units(got, requantize(real, out_scale, zero, low, high))


@pytest.mark.parametrize("zero", [0, -7, -128])
@pytest.mark.parametrize("groups", [1, 2])
def test_quantized_convolution(tools, zero, groups):
    left = quantized((2, 9, 8, 4), "i8", 0.03, zero)
    scales = uniform(16, 5).astype(np.float64) / 100
    right = quantized((3, 3, 4 // groups, 16), "i8", list(scales), 0, 3)
    out = quantized((2, 9, 8, 16), "i8", 0.5, 3)
    text = f"""func.func @main(%x: {left}, %w: {right}) -> {out} {{
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : ({left}, {right}) -> {out}
      return %0 : {out}
    }}"""
    a, b = weights("i8", (2, 9, 8, 4), 1), weights("i8", (3, 3, 4 // groups, 16), 2)
    (got, _), *_ = run(tools, text, [a, b], ["i8", "i8"])[0]
    x = np.pad((a.astype(np.float64) - zero) * 0.03, ((0, 0), (1, 1), (1, 1), (0, 0)))
    w = b.astype(np.float64) * scales
    real = np.zeros((2, 9, 8, 16))
    for g in range(groups):
        features, outputs = slice(g * 4 // groups, (g + 1) * 4 // groups), slice(g * 16 // groups, (g + 1) * 16 // groups)  # fmt: skip
        for i in range(3):
            for j in range(3):
                real[..., outputs] += x[:, i : i + 9, j : j + 8, features] @ w[i, j, :, outputs]
    check_units(got, requantize(real, 0.5, 3, -128, 127))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("left,right", [("i8", "i8"), ("ui8", "i8"), ("i8", "ui8"), ("ui8", "ui8")])
@pytest.mark.parametrize("m,k,n", [(1, 130, 70), (2, 4096, 96), (40, 1301, 33), (300, 77, 65)])
def test_constant_bytes(tools, target, left, right, m, k, n):
    """They are packed when the program is compiled."""
    a, b = weights(left, (m, k), 1), weights(right, (k, n), 2)
    s, t, out = type_of((m, k), left), type_of((k, n), right), type_of((m, n), "i32")
    text = f"""func.func @main(%x: {s}) -> {out} {{
      %w = stablehlo.constant dense<"0x{b.tobytes().hex().upper()}"> : {t}
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({s}, {t}) -> {out}
      return %0 : {out}
    }}"""
    (got, _), *_ = run(tools, text, [a], [left], target)[0]
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


def test_weights_stay_narrow(tools, tmp_path):
    """No memory of a call holds a matrix of floats, nor does the artifact."""
    for m in (1, 64):
        text, *_ = block_scaled("i4", m, 1024, 1024, 32, False)
        path = tmp_path / "a.alula"
        path.write_bytes(tools[0].compile(text.encode(), ["cpu:host"]))
        inspect = jax_functions.BUILD / "bin/alula-inspect"
        listing = subprocess.run([inspect, path], capture_output=True, text=True, check=True).stdout
        sizes = re.findall(r"(\d+) scratch bytes", listing) + re.findall(r"arena (\d+)", listing)
        assert len(sizes) >= 2 and max(map(int, sizes)) < 1 << 20, listing
