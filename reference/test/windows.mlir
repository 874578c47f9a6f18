// Windows, gather and sort; numbers from JAX.
// RUN: alula-interpret %s --split-input-file --print=none

func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %y = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, window_dilations = array<i64: 2>, padding = dense<1> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<6xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %y, dense<[6, 12]> : tensor<2xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 5.0, 2.0, 4.0], [3.0, 0.0, 7.0, 1.0]]> : tensor<2x4xf32>
  %s = stablehlo.constant dense<[[10.0, 20.0]]> : tensor<1x2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  check.expect_eq_const %y, dense<[[0.0, 10.0, 0.0, 0.0], [0.0, 0.0, 20.0, 0.0]]> : tensor<2x4xf32>
  return
}

// -----

// Starts outside are moved inside.
func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<12xi64>
  %x = stablehlo.reshape %i : (tensor<12xi64>) -> tensor<3x4xi64>
  %at = stablehlo.constant dense<[[2], [9], [-1]]> : tensor<3x1xi64>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x4xi64>, tensor<3x1xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %y, dense<[[8, 9], [8, 9], [0, 1]]> : tensor<3x2xi64>
  return
}

// -----

// Updates outside are dropped; those inside happen in order, which subtraction
// from the update shows.
func.func @main() {
  %x = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %at = stablehlo.constant dense<[[1], [-1], [1], [3]]> : tensor<4x1xi32>
  %u = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.subtract %b, %a : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<3xi32>
  check.expect_eq_const %y, dense<[10, 22, 30]> : tensor<3xi32>
  return
}

// -----

// A window that is partly outside is left out as a whole.
func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<4xi32>
  %at = stablehlo.constant dense<[[-1], [3], [1], [-9223372036854775808]]> : tensor<4x1xi64>
  %u = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<4xi32>, tensor<4x1xi64>, tensor<4x2xi32>) -> tensor<4xi32>
  check.expect_eq_const %y, dense<[0, 5, 6, 0]> : tensor<4xi32>
  return
}

// -----

func.func @main() {
  %k = stablehlo.constant dense<[3, 1, 3, 1]> : tensor<4xi64>
  %v = stablehlo.iota dim = 0 : tensor<4xi64>
  %s:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>, %d: tensor<i64>):
    %l = stablehlo.compare LT, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
  check.expect_eq_const %s#0, dense<[1, 1, 3, 3]> : tensor<4xi64>
  check.expect_eq_const %s#1, dense<[1, 3, 0, 2]> : tensor<4xi64>
  return
}
