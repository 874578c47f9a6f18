// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: "stablehlo.gather"({{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
func.func @rows(%x: tensor<4x8xf32>, %i: tensor<3xi32>) -> tensor<3x8xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// Windows come between batch dimensions, whose bound they keep.
// CHECK-LABEL: @batched_windows
// CHECK: operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1]>
// CHECK-SAME: indices_are_sorted = true
// CHECK: -> tensor<?x3x2x4xf32, #stablehlo.bounds<7, ?, ?, ?>>
func.func @batched_windows(%x: tensor<2x8x9xf32>, %i: tensor<2x?x4xi64, #stablehlo.bounds<?, 2, ?>>, %j: tensor<2x?x2x4xi64, #stablehlo.bounds<?, 7, ?, ?>>)
    -> tensor<?x3x2x4xf32, #stablehlo.bounds<7, ?, ?, ?>> {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 0>,
    indices_are_sorted = true, slice_sizes = array<i64: 1, 3, 1>}>
      : (tensor<2x8x9xf32>, tensor<2x?x4xi64, #stablehlo.bounds<?, 2, ?>>) -> tensor<2x3x4xf32>
  %1 = "stablehlo.gather"(%x, %j) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [2, 1], index_vector_dim = 0>,
    indices_are_sorted = true, slice_sizes = array<i64: 1, 3, 1>}>
      : (tensor<2x8x9xf32>, tensor<2x?x2x4xi64, #stablehlo.bounds<?, 7, ?, ?>>) -> tensor<?x3x2x4xf32, #stablehlo.bounds<7, ?, ?, ?>>
  return %1 : tensor<?x3x2x4xf32, #stablehlo.bounds<7, ?, ?, ?>>
}

// CHECK-LABEL: @sizes_as_a_value
// CHECK: "stablehlo.dynamic_gather"({{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x8xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<3x?xf32>
// CHECK: "stablehlo.dynamic_gather"({{.*}} -> tensor<3x5xf32>
func.func @sizes_as_a_value(%x: tensor<4x8xf32>, %i: tensor<3xi32>, %s: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
      : (tensor<4x8xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<3x?xf32>
  %t = stablehlo.constant dense<[1, 5]> : tensor<2xui8>
  %1 = "stablehlo.dynamic_gather"(%x, %i, %t) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
      : (tensor<4x8xf32>, tensor<3xi32>, tensor<2xui8>) -> tensor<3x5xf32>
  return
}

// CHECK-LABEL: @added_rows
// CHECK: "stablehlo.scatter"({{.*}}) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}>
func.func @added_rows(%x: tensor<4x8xf32>, %i: tensor<?xi32>, %u: tensor<3x5xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, unique_indices = true,
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<?xi32>, tensor<3x5xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @two_widened_and_batched
// CHECK: input_batching_dims = [0], scatter_indices_batching_dims = [0]
// CHECK: -> (tensor<2x4xf64>, tensor<2x4xi32>)
func.func @two_widened_and_batched(%x: tensor<2x4xf32>, %y: tensor<2x4xi32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3xf32>, %v: tensor<2x3xi32>)
    -> (tensor<2x4xf64>, tensor<2x4xi32>) {
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f64>, %j: tensor<i32>, %b: tensor<f64>, %k: tensor<i32>):
    stablehlo.return %b, %k : tensor<f64>, tensor<i32>
  }) : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<2x3x1xi32>, tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x4xf64>, tensor<2x4xi32>)
  return %0#0, %0#1 : tensor<2x4xf64>, tensor<2x4xi32>
}

// Shapes are those of jnp.take and, with batch_dims, of a vmap of it.
// CHECK-LABEL: @selected
// CHECK: "stablehlo.torch_index_select"({{.*}}) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x4x8xf32>, tensor<5x6xi32>) -> tensor<2x5x6x8xf32>
// CHECK: "stablehlo.torch_index_select"({{.*}}) <{batch_dims = 1 : i64, dim = -1 : i64}> : (tensor<2x4x8xf32>, tensor<2x3xi32>) -> tensor<2x4x3xf32>
func.func @selected(%x: tensor<2x4x8xf32>, %i: tensor<5x6xi32>, %j: tensor<2x3xi32>) {
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 0 : i64}>
      : (tensor<2x4x8xf32>, tensor<5x6xi32>) -> tensor<2x5x6x8xf32>
  %1 = "stablehlo.torch_index_select"(%x, %j) <{dim = -1 : i64, batch_dims = 1 : i64}>
      : (tensor<2x4x8xf32>, tensor<2x3xi32>) -> tensor<2x4x3xf32>
  return
}
