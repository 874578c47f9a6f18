// Products with matrices whose elements are listed; numbers from NumPy. S is
//   [[0, 2, 0], [3, 0, 0]] and has 5 at a row, and 7 at a column, that it lacks.
// RUN: alula-interpret %s --split-input-file --print=none

func.func @main() {
  %values = stablehlo.constant dense<[2.0, 1.0, 2.0, 5.0, 7.0]> : tensor<5xf32>
  %indices = stablehlo.constant dense<[[0, 1], [1, 0], [-1, -3], [2, 0], [0, 3]]> : tensor<5x2xi32>
  %b = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %c = stablehlo.custom_call @alula.sparse_product(%values, %indices, %b) {mhlo.backend_config = {transposed = false}} : (tensor<5xf32>, tensor<5x2xi32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %c, dense<[[6.0, 8.0], [3.0, 6.0]]> : tensor<2x2xf32>
  return
}

// -----

// Of S', and a batch; a column that is nowhere times infinity is no number.
func.func @main() {
  %values = stablehlo.constant dense<[[2.0, 3.0], [1.0, 0x7FF0000000000000]]> : tensor<2x2xf64>
  %indices = stablehlo.constant dense<[[[0, 1], [1, 0]], [[0, 0], [2, 1]]]> : tensor<2x2x2xi32>
  %b = stablehlo.constant dense<[[[1.0], [2.0]], [[1.0], [2.0]]]> : tensor<2x2x1xf64>
  %c = stablehlo.custom_call @alula.sparse_product(%values, %indices, %b) {mhlo.backend_config = {transposed = true}} : (tensor<2x2xf64>, tensor<2x2x2xi32>, tensor<2x2x1xf64>) -> tensor<2x3x1xf64>
  check.expect_eq_const %c, dense<[[[6.0], [2.0], [0.0]], [[1.0], [0x7FF8000000000000], [0.0]]]> : tensor<2x3x1xf64>
  return
}

// -----

// The rows of a result whose size only the call knows.
func.func @main() {
  %values = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %indices = stablehlo.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi32>
  %b = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %shape = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %c = stablehlo.custom_call @alula.sparse_product(%values, %indices, %b, %shape) {indices_of_shape_operands = dense<[3]> : tensor<1xi64>, mhlo.backend_config = {transposed = false}} : (tensor<2xf32>, tensor<2x2xi32>, tensor<2x1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
  %static = stablehlo.reshape %c : (tensor<?x1xf32>) -> tensor<3x1xf32>
  check.expect_eq_const %static, dense<[[4.0], [3.0], [0.0]]> : tensor<3x1xf32>
  return
}

// -----

// Places before the first row and after the last one are of none.
func.func @main() {
  %values = stablehlo.constant dense<[9.0, 2.0, 1.0, 3.0, 9.0]> : tensor<5xf32>
  %starts = stablehlo.constant dense<[1, 3, 3, 4]> : tensor<4xi32>
  %columns = stablehlo.constant dense<[0, 1, -1, 0, 0]> : tensor<5xi32>
  %b = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = stablehlo.custom_call @alula.sparse_rows_product(%values, %starts, %columns, %b) : (tensor<5xf32>, tensor<4xi32>, tensor<5xi32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  check.expect_eq_const %c, dense<[[9.0, 12.0], [0.0, 0.0], [3.0, 6.0]]> : tensor<3x2xf32>
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0], [9.0, 1.0]]> : tensor<3x2xf32>
  %indices = stablehlo.constant dense<[[0, 0], [1, 2], [-1, -2], [2, 0], [0, 3]]> : tensor<5x2xi32>
  %c = stablehlo.custom_call @alula.sparse_sampled(%a, %b, %indices) : (tensor<2x2xf32>, tensor<3x2xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  check.expect_eq_const %c, dense<[17.0, 31.0, 53.0, 0.0, 0.0]> : tensor<5xf32>
  return
}
