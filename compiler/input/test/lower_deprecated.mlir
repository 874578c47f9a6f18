// RUN: alula-opt --input-lower-deprecated %s | FileCheck %s

// CHECK-LABEL: func.func @simple
func.func @simple(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>)
    -> (tensor<2x3x4xf32>, tensor<3x5xf32>, !stablehlo.token,
        tensor<3x4xf32>, tensor<2x2xf32>) {
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %0 = stablehlo.broadcast %x, sizes = [2]
      : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT]
  %1 = stablehlo.dot %x, %y, precision = [HIGH, DEFAULT]
      : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  // CHECK: stablehlo.after_all : !stablehlo.token
  %2 = stablehlo.create_token : !stablehlo.token
  // CHECK: "stablehlo.all_reduce"(%arg0)
  // CHECK: stablehlo.add {{.*}} : tensor<f32>
  %3 = "stablehlo.cross-replica-sum"(%x)
      <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %start = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  %limit = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %strides = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  // CHECK: stablehlo.slice %arg0 [0:3:2, 2:4] : (tensor<3x4xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.real_dynamic_slice %x, %start, %limit, %strides
      : (tensor<3x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
      -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3x4xf32>, tensor<3x5xf32>,
      !stablehlo.token, tensor<3x4xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @einsum
func.func @einsum(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) -> tensor<5x3xf32> {
  // CHECK: %[[P:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  // CHECK: stablehlo.transpose %[[P]], dims = [1, 0]
  %0 = stablehlo.einsum %x, %y, config = "ab,bc->ca"
      : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @torch_index_select
func.func @torch_index_select(%x: tensor<2x5x3xf32>, %i: tensor<2x4xi32>)
    -> tensor<2x4x3xf32> {
  // CHECK: "stablehlo.gather"(%arg0, %arg1)
  // CHECK-SAME: offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2
  // CHECK-SAME: slice_sizes = array<i64: 1, 1, 3>
  %0 = "stablehlo.torch_index_select"(%x, %i)
      <{dim = 1 : i64, batch_dims = 1 : i64}>
      : (tensor<2x5x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// Negative numbers count from the end.
// CHECK-LABEL: func.func @torch_index_select_from_the_end
func.func @torch_index_select_from_the_end(%x: tensor<2x5x3xf32>, %i: tensor<2x4xi32>)
    -> tensor<2x4x3xf32> {
  // CHECK: "stablehlo.gather"(%arg0, %arg1)
  // CHECK-SAME: offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2
  // CHECK-SAME: slice_sizes = array<i64: 1, 1, 3>
  %0 = "stablehlo.torch_index_select"(%x, %i)
      <{dim = -2 : i64, batch_dims = -1 : i64}>
      : (tensor<2x5x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// Quantized elements are computed on as real numbers.
// CHECK-LABEL: func.func @quantized_einsum
func.func @quantized_einsum(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5>>,
                            %y: tensor<3x4x!quant.uniform<i8:f32, 0.5>>)
    -> tensor<2x4x!quant.uniform<i8:f32, 2.0>> {
  // CHECK: %[[X:.*]] = stablehlo.uniform_dequantize %arg0
  // CHECK: %[[Y:.*]] = stablehlo.uniform_dequantize %arg1
  // CHECK: %[[P:.*]] = stablehlo.dot_general %[[X]], %[[Y]]
  // CHECK-SAME: -> tensor<2x4xf32>
  // CHECK: stablehlo.uniform_quantize %[[P]]
  %0 = stablehlo.einsum %x, %y, config = "ab,bc->ac"
      : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>,
         tensor<3x4x!quant.uniform<i8:f32, 0.5>>)
      -> tensor<2x4x!quant.uniform<i8:f32, 2.0>>
  return %0 : tensor<2x4x!quant.uniform<i8:f32, 2.0>>
}
