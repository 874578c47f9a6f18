"""Random products and convolutions of quantized tensors, also spelled as pairs of
dequantize and quantize around the op on floats: at most one unit from the definition,
and that seldom."""

import os
import random

import jax
import jax_functions
import numpy as np
import pytest
import tensor_file
from test_few_bit_products import check_units, requantize
from test_packed_types import run, type_of

pytestmark = jax_functions.needs_build
tools = jax_functions.tools

FIRST = int(os.environ.get("ALULA_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ALULA_RANDOM_COUNT", "40"))
STORAGE = {
    "i8": ("i8", -128, 127),
    "u8": ("ui8", 0, 255),
    "i4": ("i4", -8, 7),
    "u4": ("ui4", 0, 15),
}
DTYPES = {"i8": np.int8, "ui8": np.uint8}


class Quantized:
    """A tensor with one scale, or one for each place of an axis."""

    def __init__(self, draw, storage, shape, axis=None, zero=None):
        self.kind, self.low, self.high = STORAGE[storage]
        if storage == "i8" and draw.random() < 0.3:
            self.low = -127
        self.shape, self.axis = shape, axis
        count = 1 if axis is None else shape[axis]
        self.scales = [round(draw.uniform(0.01, 0.2), 4) for _ in range(count)]
        self.zero = draw.randint(self.low, self.high) if zero is None else zero
        bounds = f"<{self.low}:{self.high}>" if self.low == -127 else ""
        if axis is None:
            numbers = f"{self.scales[0]}:{self.zero}"
            self.element = f"!quant.uniform<{storage}{bounds}:f32, {numbers}>"
        else:
            numbers = ", ".join(f"{scale}:{self.zero}" for scale in self.scales)
            self.element = f"!quant.uniform<{storage}{bounds}:f32:{axis}, {{{numbers}}}>"
        self.type, self.real = type_of(shape, self.element), type_of(shape, "f32")

    def draw(self, seed):
        values = np.random.default_rng(seed).integers(
            self.low, self.high, self.shape, endpoint=True
        )
        if self.kind in DTYPES:
            return values.astype(DTYPES[self.kind])
        return values.astype(np.int8).astype(tensor_file.DTYPES[self.kind])

    def widen(self, stored):
        scale = np.asarray(self.scales)
        if self.axis is not None:
            scale = scale.reshape([-1 if d == self.axis else 1 for d in range(len(self.shape))])
        return (stored.astype(np.float64) - self.zero) * scale


def make_product(draw):
    storage = draw.choice(list(STORAGE))
    batch = draw.choice([(), (), (draw.randint(1, 3),)])
    m, k, n = draw.choice([1, 2, 5, 40]), draw.randint(1, 300), draw.choice([1, 3, 17, 64, 130])
    b = len(batch)
    left_last, right_last = draw.random() < 0.7, draw.random() < 0.5
    left = Quantized(draw, storage, (*batch, m, k) if left_last else (*batch, k, m))
    shape = (*batch, k, n) if right_last else (*batch, n, k)
    axis = draw.choice([None, b + 1 if right_last else b])
    right = Quantized(draw, storage, shape, axis, zero=0)
    dims = [b + 1 if left_last else b, b if right_last else b + 1]
    listed = (
        f"batching_dims = [{', '.join(map(str, range(b)))}] x [{', '.join(map(str, range(b)))}], "
        if b
        else ""
    )
    op = f"stablehlo.dot_general %a, %b, {listed}contracting_dims = [{dims[0]}] x [{dims[1]}]"

    def compute(x, y):
        x = x if left_last else np.swapaxes(x, -1, -2)
        return x @ (y if right_last else np.swapaxes(y, -1, -2))

    return left, right, op, compute


def make_convolution(draw):
    storage = draw.choice(["i8", "u8"])
    features, outputs = draw.choice([1, 3, 16]), draw.choice([4, 8, 33])
    size, window = draw.randint(3, 9), draw.randint(1, 3)
    pads = [(draw.randint(0, 2), draw.randint(0, 2)) for _ in range(2)]
    strides = [draw.randint(1, 2) for _ in range(2)]
    left = Quantized(draw, storage, (2, size, size + 1, features))
    shape = (window, window, features, outputs)
    right = Quantized(draw, storage, shape, draw.choice([None, 3]), zero=0)
    padding = ", ".join(f"[{low}, {high}]" for low, high in pads)
    op = (
        "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
        f"window = {{stride = {strides}, pad = [{padding}]}} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    )

    def compute(x, y):
        with jax.enable_x64(True):
            return np.asarray(
                jax.lax.conv_general_dilated(
                    x, y, strides, pads, dimension_numbers=("NHWC", "HWIO", "NHWC")
                )
            )

    return left, right, op, compute


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_quantized(tools, seed):
    draw = random.Random(seed)
    left, right, op, compute = draw.choice([make_product, make_product, make_convolution])(draw)
    x, y = left.draw(seed), right.draw(seed + 1)
    real = compute(left.widen(x), right.widen(y))
    storage = left.element.partition("<")[2][:2]
    out = Quantized(draw, storage, real.shape)
    steps = (out.high - out.low) / 2
    scale = float(f"{max(np.abs(real).max(), 1e-3) / steps:.3g}")
    out.element = out.element.replace(f", {out.scales[0]}:", f", {scale}:")
    out.type = type_of(real.shape, out.element)
    if draw.random() < 0.5:
        body = f"""%0 = {op.replace("%a", "%x").replace("%b", "%y")} : ({left.type}, {right.type}) -> {out.type}"""
    else:
        body = f"""%a = stablehlo.uniform_dequantize %x : ({left.type}) -> {left.real}
      %b = stablehlo.uniform_dequantize %y : ({right.type}) -> {right.real}
      %r = {op} : ({left.real}, {right.real}) -> {out.real}
      %0 = stablehlo.uniform_quantize %r : ({out.real}) -> {out.type}"""
    text = f"""func.func @main(%x: {left.type}, %y: {right.type}) -> {out.type} {{
      {body}
      return %0 : {out.type}
    }}"""
    target = jax_functions.TARGETS[seed % len(jax_functions.TARGETS)]
    (got, _), *_ = run(tools, text, [x, y], [left.kind, right.kind], target)[0]
    check_units(got, requantize(real, scale, out.zero, out.low, out.high))
