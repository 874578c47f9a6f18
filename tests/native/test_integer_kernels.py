"""The column of the quantized suite tells integers from floats."""

import jax_functions
import pytest
from integer_kernels import find_floats
from test_few_bit_products import quantized

pytestmark = jax_functions.needs_build
tools = jax_functions.tools


def product(left, right, result):
    return f"""func.func @main(%x: {left}, %w: {right}) -> {result} {{
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({left}, {right}) -> {result}
      return %0 : {result}
    }}"""


@pytest.mark.parametrize(
    "storage,depth,floats",
    [("i8", 40, []), ("i16", 40, ["dot_general of f32"]), ("i8", 200000, ["dot_general of f32"])],
)
def test_products(tools, storage, depth, floats):
    compiler, _ = tools
    text = product(
        quantized((2, depth), storage, 0.5, 3),
        quantized((depth, 3), storage, 0.25),
        quantized((2, 3), storage, 0.5, -1),
    )
    after = compiler.compile(text.encode(), ["cpu:host"], until="dispatch").decode()
    assert [word for word in find_floats(after) if "memory" not in word] == floats
    assert floats or find_floats(after) == []


def test_memory():
    text = """module {
  func.func @main(%arg0: tensor<2xi8> loc("a":1:1)) -> (tensor<2xf64>) {
    %0 = dispatch.launch @a::@b(%arg0) : (tensor<2xi8>) -> tensor<2xf32> loc(#loc5)
    %1 = dispatch.launch @c::@d(%0) : (tensor<2xf32>) -> tensor<2xf64> loc("tensor<2xbf16>")"""
    assert find_floats(text) == ["f32 in memory"]
