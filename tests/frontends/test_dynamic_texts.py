"""Programs of unknown sizes as torch-mlir, TensorFlow and torchax write them: shapes computed with `shape`, `tensor` and
`arith`, weights at the end of the text, in globals, or as leading arguments.

The programs are written here, in the form that each front end gives them; `./dev test frontends` has the front ends
themselves write larger ones."""

import os
import pathlib
import subprocess

import alula
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("ALULA_BUILD", "build")

# As torch_mlir.fx writes a layer with a bias and a ReLU.
DENSE = """
module {
  func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x3xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_3_torch.float32> : tensor<3xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_3_4_torch.float32> : tensor<3x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = arith.constant dense<1> : tensor<1xi64>
    %c512_i64 = arith.constant 512 : i64
    %0 = shape.const_shape [3] : tensor<1xindex>
    %1 = stablehlo.transpose %cst_0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %2 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %3 = stablehlo.convert %cst_2 : (tensor<1xi64>) -> tensor<1xf32>
    %4 = stablehlo.reshape %3 : (tensor<1xf32>) -> tensor<f32>
    %5 = shape.shape_of %2 : tensor<?x3xf32> -> tensor<2xindex>
    %6 = stablehlo.dynamic_broadcast_in_dim %2, %5, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %7 = stablehlo.dynamic_broadcast_in_dim %4, %5, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x3xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<?x3xf32>
    %9 = shape.shape_of %8 : tensor<?x3xf32> -> tensor<2xindex>
    %10 = shape.broadcast %9, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %11 = stablehlo.dynamic_broadcast_in_dim %8, %10, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %12 = stablehlo.dynamic_broadcast_in_dim %cst, %10, dims = [1] : (tensor<3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %13 = stablehlo.add %11, %12 : tensor<?x3xf32>
    %14 = shape.shape_of %13 : tensor<?x3xf32> -> tensor<2xindex>
    %15 = stablehlo.dynamic_broadcast_in_dim %cst_1, %14, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x3xf32>
    %16 = stablehlo.maximum %13, %15 : tensor<?x3xf32>
    return %16 : tensor<?x3xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      torch_tensor_3_torch.float32: "0x04000000BIAS",
      torch_tensor_3_4_torch.float32: "0x04000000WEIGHT"
    }
  }
#-}
"""

# And words with their places, cut in two, multiplied with each other: two unknown sizes.
WORDS = """
module {
  func.func @main(%arg0: tensor<?x?xi64>) -> tensor<?x?x?xf32> {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %cst = stablehlo.constant dense_resource<torch_tensor_7_4_torch.float32> : tensor<7x4xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_16_4_torch.float32> : tensor<16x4xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c2_i64 = arith.constant 2 : i64
    %cst_1 = arith.constant dense<0> : tensor<3xi64>
    %cst_2 = arith.constant dense<1> : tensor<3xi64>
    %cst_3 = arith.constant dense<[0, 0, 2]> : tensor<3xi64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %dim_4 = tensor.dim %arg0, %c1 : tensor<?x?xi64>
    %1 = arith.index_cast %dim_4 : index to i64
    %2 = "stablehlo.gather"(%cst, %arg0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<7x4xf32>, tensor<?x?xi64>) -> tensor<?x?x4xf32>
    %from_elements = tensor.from_elements %1 : tensor<1xi64>
    %3 = stablehlo.reshape %from_elements : (tensor<1xi64>) -> tensor<i64>
    %4 = stablehlo.convert %3 : (tensor<i64>) -> tensor<f64>
    %5 = stablehlo.ceil %4 : tensor<f64>
    %6 = stablehlo.convert %5 : (tensor<f64>) -> tensor<i64>
    %7 = stablehlo.reshape %6 : (tensor<i64>) -> tensor<1xi64>
    %8 = stablehlo.dynamic_iota %7, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
    %9 = shape.shape_of %8 : tensor<?xi64> -> tensor<1xindex>
    %10 = stablehlo.dynamic_broadcast_in_dim %c, %9, dims = [] : (tensor<i64>, tensor<1xindex>) -> tensor<?xi64>
    %11 = stablehlo.multiply %8, %10 : tensor<?xi64>
    %12 = "stablehlo.gather"(%cst_0, %11) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<16x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
    %dim_5 = tensor.dim %12, %c0 : tensor<?x4xf32>
    %from_elements_6 = tensor.from_elements %c1, %dim_5, %c4 : tensor<3xindex>
    %13 = stablehlo.dynamic_reshape %12, %from_elements_6 : (tensor<?x4xf32>, tensor<3xindex>) -> tensor<1x?x4xf32>
    %14 = shape.shape_of %2 : tensor<?x?x4xf32> -> tensor<3xindex>
    %15 = shape.shape_of %13 : tensor<1x?x4xf32> -> tensor<3xindex>
    %16 = shape.cstr_broadcastable %14, %15 : tensor<3xindex>, tensor<3xindex>
    %17 = shape.assuming %16 -> (tensor<?x?x4xf32>) {
      %30 = shape.broadcast %14, %15 : tensor<3xindex>, tensor<3xindex> -> tensor<3xindex>
      %31 = stablehlo.dynamic_broadcast_in_dim %2, %30, dims = [0, 1, 2] : (tensor<?x?x4xf32>, tensor<3xindex>) -> tensor<?x?x4xf32>
      %32 = stablehlo.dynamic_broadcast_in_dim %13, %30, dims = [0, 1, 2] : (tensor<1x?x4xf32>, tensor<3xindex>) -> tensor<?x?x4xf32>
      %33 = stablehlo.add %31, %32 : tensor<?x?x4xf32>
      shape.assuming_yield %33 : tensor<?x?x4xf32>
    }
    %dim_7 = tensor.dim %17, %c0 : tensor<?x?x4xf32>
    %18 = arith.index_cast %dim_7 : index to i64
    %dim_8 = tensor.dim %17, %c1 : tensor<?x?x4xf32>
    %19 = arith.index_cast %dim_8 : index to i64
    %from_elements_9 = tensor.from_elements %18, %19, %c2_i64 : tensor<3xi64>
    %20 = stablehlo.real_dynamic_slice %17, %cst_1, %from_elements_9, %cst_2 : (tensor<?x?x4xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<?x?x2xf32>
    %c4_i64 = arith.constant 4 : i64
    %from_elements_10 = tensor.from_elements %18, %19, %c4_i64 : tensor<3xi64>
    %21 = stablehlo.real_dynamic_slice %17, %cst_3, %from_elements_10, %cst_2 : (tensor<?x?x4xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<?x?x2xf32>
    %22 = stablehlo.dot_general %20, %21, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<?x?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x?xf32>
    %23 = arith.muli %0, %1 : i64
    %from_elements_11 = tensor.from_elements %23, %1 : tensor<2xi64>
    %24 = stablehlo.dynamic_reshape %22, %from_elements_11 : (tensor<?x?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %from_elements_12 = tensor.from_elements %0, %1, %1 : tensor<3xi64>
    %25 = stablehlo.dynamic_reshape %24, %from_elements_12 : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    return %25 : tensor<?x?x?xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      torch_tensor_7_4_torch.float32: "0x04000000WORDS",
      torch_tensor_16_4_torch.float32: "0x04000000PLACES"
    }
  }
#-}
"""

# As TensorFlow's converter writes a layer with softmax of a SavedModel for a shape with None in it: variables are globals.
SOFTMAX = """
module {
  func.func @__inference_pruned_14(%arg0: tensor<?x4xf32>) -> tensor<?x3xf32> attributes {allow_soft_placement = false} {
    %0 = shape.const_shape [3] : tensor<1xindex>
    %cst = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %vars.__sm_node2__b1 = ml_program.global_load @vars.__sm_node2__b1 : tensor<3xf32>
    %vars.__sm_node1__w1 = ml_program.global_load @vars.__sm_node1__w1 : tensor<4x3xf32>
    %1 = stablehlo.dot %arg0, %vars.__sm_node1__w1, precision = [DEFAULT, DEFAULT] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %2 = shape.shape_of %1 : tensor<?x3xf32> -> tensor<2xindex>
    %3 = shape.broadcast %2, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %4 = stablehlo.dynamic_broadcast_in_dim %1, %3, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %5 = stablehlo.dynamic_broadcast_in_dim %vars.__sm_node2__b1, %3, dims = [1] : (tensor<3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %6 = stablehlo.add %4, %5 : tensor<?x3xf32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %dim = tensor.dim %7, %c0 : tensor<?xf32>
    %from_elements = tensor.from_elements %dim, %c1 : tensor<2xindex>
    %8 = stablehlo.dynamic_reshape %7, %from_elements : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %9 = shape.shape_of %6 : tensor<?x3xf32> -> tensor<2xindex>
    %10 = shape.cstr_broadcastable %9, %from_elements : tensor<2xindex>, tensor<2xindex>
    %11 = shape.assuming %10 -> (tensor<?x3xf32>) {
      %18 = shape.shape_of %6 : tensor<?x3xf32> -> tensor<2xindex>
      %19 = shape.broadcast %18, %from_elements : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %20 = stablehlo.dynamic_broadcast_in_dim %6, %19, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
      %21 = stablehlo.dynamic_broadcast_in_dim %8, %19, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x3xf32>
      %22 = stablehlo.subtract %20, %21 : tensor<?x3xf32>
      shape.assuming_yield %22 : tensor<?x3xf32>
    }
    %12 = stablehlo.exponential %11 : tensor<?x3xf32>
    %13 = stablehlo.reduce(%12 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %dim_1 = tensor.dim %13, %c0 : tensor<?xf32>
    %from_elements_2 = tensor.from_elements %dim_1, %c1 : tensor<2xindex>
    %14 = stablehlo.dynamic_reshape %13, %from_elements_2 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %15 = shape.shape_of %12 : tensor<?x3xf32> -> tensor<2xindex>
    %16 = shape.cstr_broadcastable %15, %from_elements_2 : tensor<2xindex>, tensor<2xindex>
    %17 = shape.assuming %16 -> (tensor<?x3xf32>) {
      %18 = shape.broadcast %15, %from_elements_2 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %19 = stablehlo.dynamic_broadcast_in_dim %14, %18, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x3xf32>
      %20 = stablehlo.divide %12, %19 : tensor<?x3xf32>
      shape.assuming_yield %20 : tensor<?x3xf32>
    }
    return %17 : tensor<?x3xf32>
  }
  ml_program.global public @vars.__sm_node2__b1(dense<"0xBIAS"> : tensor<3xf32>) : tensor<3xf32>
  ml_program.global public @vars.__sm_node1__w1(dense<"0xWEIGHT"> : tensor<4x3xf32>) : tensor<4x3xf32>
}
"""

# A product of stacks, as TensorFlow broadcasts their batches.
STACKS = """
module {
  func.func @f(%arg0: tensor<?x?x2xf32>, %arg1: tensor<?x2x3xf32>) -> tensor<?x?x3xf32> {
    %c1 = arith.constant 1 : index
    %0 = shape.shape_of %arg0 : tensor<?x?x2xf32> -> !shape.shape
    %1 = shape.shape_of %arg1 : tensor<?x2x3xf32> -> !shape.shape
    %head, %tail = "shape.split_at"(%0, %c1) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
    %head_0, %tail_1 = "shape.split_at"(%1, %c1) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
    %2 = shape.cstr_broadcastable %head, %head_0 : !shape.shape, !shape.shape
    %3 = shape.assuming %2 -> (tensor<?x?x3xf32>) {
      %4 = shape.broadcast %head, %head_0 : !shape.shape, !shape.shape -> !shape.shape
      %5 = shape.concat %4, %tail : !shape.shape, !shape.shape -> !shape.shape
      %6 = shape.concat %4, %tail_1 : !shape.shape, !shape.shape -> !shape.shape
      %7 = shape.to_extent_tensor %5 : !shape.shape -> tensor<3xindex>
      %8 = stablehlo.dynamic_broadcast_in_dim %arg0, %7, dims = [0, 1, 2] : (tensor<?x?x2xf32>, tensor<3xindex>) -> tensor<?x?x2xf32>
      %9 = shape.to_extent_tensor %6 : !shape.shape -> tensor<3xindex>
      %10 = stablehlo.dynamic_broadcast_in_dim %arg1, %9, dims = [0, 1, 2] : (tensor<?x2x3xf32>, tensor<3xindex>) -> tensor<?x2x3xf32>
      %11 = stablehlo.dot_general %8, %10, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x?x2xf32>, tensor<?x2x3xf32>) -> tensor<?x?x3xf32>
      shape.assuming_yield %11 : tensor<?x?x3xf32>
    }
    return %3 : tensor<?x?x3xf32>
  }
}
"""
RANDOM = np.random.RandomState(3)


def draw(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def compile_text(text, folder, **data):
    for name, array in data.items():
        text = text.replace(name, array.tobytes().hex())
    (folder / "model.mlir").write_bytes(text if isinstance(text, bytes) else text.encode())
    command = [BUILD / "bin/alula-compile", folder / "model.mlir", "--target=cpu:host"]
    return subprocess.run([*command, "-o", folder / "x.alula"], capture_output=True, text=True)


def load(text, folder, **data):
    compiled = compile_text(text, folder, **data)
    assert not compiled.returncode, compiled.stderr
    (function,) = alula.load(folder / "x.alula").functions.values()
    return function


def test_torch_mlir_layer(tmp_path):
    weight, bias = draw(3, 4), draw(3)
    function = load(DENSE, tmp_path, WEIGHT=weight, BIAS=bias)
    for n in (0, 1, 2, 7, 33):
        x = draw(n, 4)
        np.testing.assert_allclose(function(x), np.maximum(x @ weight.T + bias, 0), atol=1e-5)


def test_torch_mlir_words(tmp_path):
    words, places = draw(7, 4), draw(16, 4)
    function = load(WORDS, tmp_path, WORDS=words, PLACES=places)
    for batch, length in ((1, 1), (1, 5), (2, 2), (3, 16), (5, 7)):
        text = RANDOM.randint(0, 7, (batch, length))
        x = words[text] + places[:length]
        want = np.einsum("bij,bkj->bik", x[..., :2], x[..., 2:])
        np.testing.assert_allclose(function(text), want, atol=1e-5)


def test_tensorflow_saved_model(tmp_path):
    weight, bias = draw(4, 3), draw(3)
    function = load(SOFTMAX, tmp_path, WEIGHT=weight, BIAS=bias)
    for n in (1, 2, 3, 7, 33):
        x = draw(n, 4)
        powers = np.exp(x @ weight + bias)
        want = powers / powers.sum(1, keepdims=True)
        np.testing.assert_allclose(function(x), want, atol=1e-6)


def test_tensorflow_stacks(tmp_path):
    function = load(STACKS, tmp_path)
    for batches, length in (((1, 1), 1), ((4, 4), 3), ((1, 5), 2), ((5, 1), 7), ((3, 3), 33)):
        a, b = draw(batches[0], length, 2), draw(batches[1], 2, 3)
        np.testing.assert_allclose(function(a, b), a @ b, atol=1e-5)
    with pytest.raises(alula.AlulaError) as error:
        function(draw(2, 4, 2), draw(3, 2, 3))
    assert "'shape.cstr_broadcastable': sizes must be equal or 1: dimension 0 is 2 and 3" in str(
        error.value
    )


# Sizes are known, and don't fit.
NEVER = """
func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<?xf32> {
  %0 = shape.shape_of %a : tensor<2xf32> -> tensor<1xindex>
  %1 = shape.shape_of %b : tensor<3xf32> -> tensor<1xindex>
  %2 = shape.cstr_broadcastable %0, %1 : tensor<1xindex>, tensor<1xindex>
  %3 = shape.assuming %2 -> (tensor<?xf32>) {
    %4 = shape.broadcast %0, %1 : tensor<1xindex>, tensor<1xindex> -> tensor<1xindex>
    %5 = stablehlo.dynamic_iota %4, dim = 0 : (tensor<1xindex>) -> tensor<?xf32>
    shape.assuming_yield %5 : tensor<?xf32>
  }
  return %3 : tensor<?xf32>
}
"""


def test_sizes_that_never_fit(tmp_path):
    result = compile_text(NEVER, tmp_path)
    assert result.returncode == 1
    assert "model.mlir:5:8: error" in result.stderr, result.stderr
    assert "sizes must be equal or 1: dimension 0 is 2 and 3" in result.stderr


def test_a_reshape_that_does_not_fit(tmp_path):
    text = """func.func @f(%x: tensor<?xf32>, %n: i64) -> tensor<?xf32> {
  %0 = tensor.from_elements %n : tensor<1xi64>
  %1 = tensor.reshape %x(%0) : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
"""
    function = load(text, tmp_path)
    x = draw(4)
    np.testing.assert_array_equal(function(x, np.int64(4)), x)
    with pytest.raises(alula.AlulaError, match="number of elements must stay the same"):
        function(x, np.int64(5))


def test_torchax(tmp_path):
    """A portable artifact of jax.export: weights are leading arguments, sizes symbols."""
    import jax
    import jax.numpy as jnp

    def model(states, inputs):
        (x,) = inputs
        return jnp.maximum(x @ states[1].T + states[0], 0) / x.shape[0]

    bias, weight = draw(3), draw(3, 4)
    specs = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in (bias, weight)]
    x = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b,4"), np.float32)
    exported = jax.export.export(jax.jit(model), platforms=["cpu"])(specs, (x,))
    function = load(exported.mlir_module_serialized, tmp_path)
    for n in (1, 2, 3, 7, 33):
        x = draw(n, 4)
        want = np.maximum(x @ weight.T + bias, 0) / n
        np.testing.assert_allclose(function(bias, weight, x), want, atol=1e-5)


def test_what_a_converter_left_is_named(tmp_path):
    text = """func.func @f(%a: tensor<?x4xf32>, %s: tensor<2xi32>) -> tensor<?x2xf32> {
  %0 = "tf.Reshape"(%a, %s) {device = ""} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
"""
    result = compile_text(text, tmp_path)
    assert result.returncode == 1
    assert "model.mlir:2:20: error: 'tf.Reshape': is no operation of StableHLO" in result.stderr, (
        result.stderr
    )
