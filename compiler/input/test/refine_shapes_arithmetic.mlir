// RUN: alula-opt "--input-refine-arguments=types=tensor<7xf32>" --input-refine-shapes %s | FileCheck %s

// Arithmetic as JAX writes it for `n // 2`, `n % 4` and `max(n, 5)`.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: stablehlo.iota dim = 0 : tensor<3xf32>
  %half = stablehlo.divide %n, %two : tensor<i32>
  %half1 = stablehlo.reshape %half : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %half1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  // CHECK: stablehlo.iota dim = 0 : tensor<4xf32>
  %rest = stablehlo.remainder %n, %four : tensor<i32>
  %isNegative = stablehlo.compare LT, %rest, %zero
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %more = stablehlo.add %rest, %four : tensor<i32>
  %least = stablehlo.select %isNegative, %more, %four : tensor<i1>, tensor<i32>
  %least1 = stablehlo.reshape %least : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_iota %least1, dim = 0
      : (tensor<1xi32>) -> tensor<?xf32>
  // CHECK: stablehlo.iota dim = 0 : tensor<7xf32>
  %most = stablehlo.maximum %n, %five : tensor<i32>
  %wide = stablehlo.convert %most : (tensor<i32>) -> tensor<i64>
  %most1 = stablehlo.reshape %wide : (tensor<i64>) -> tensor<1xi64>
  %2 = stablehlo.dynamic_iota %most1, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  // The product of a shape: 7 * 2.
  // CHECK: stablehlo.iota dim = 0 : tensor<14xf32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two1 = stablehlo.broadcast_in_dim %two, dims = []
      : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %two1, %n1, dim = 0
      : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.reduce(%shape init: %one) applies stablehlo.multiply
      across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  %count1 = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.dynamic_iota %count1, dim = 0
      : (tensor<1xi32>) -> tensor<?xf32>
  return %0, %1, %2, %3
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
