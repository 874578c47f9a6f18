// RUN: alula-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @convert_to_itself
// CHECK-SAME: (%[[A:.*]]: tensor<2xf32>)
func.func @convert_to_itself(%a: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: return %[[A]]
  %0 = stablehlo.convert %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @convert_stays
func.func @convert_stays(%a: tensor<2xf32>) -> tensor<2xf64> {
  // CHECK-NEXT: stablehlo.convert
  %0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// CHECK-LABEL: @known_size
func.func @known_size(%a: tensor<2x?xf32>) -> tensor<i32> {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2> : tensor<i32>
  // CHECK-NEXT: return %[[C]]
  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<2x?xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @unknown_size
func.func @unknown_size(%a: tensor<2x?xf32>) -> tensor<i32> {
  // CHECK-NEXT: stablehlo.get_dimension_size
  %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// A size that i32 can't hold stays as it is.
// CHECK-LABEL: @large_size
func.func @large_size(%a: tensor<4294967296xf32>) -> tensor<i32> {
  // CHECK-NEXT: stablehlo.get_dimension_size
  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<4294967296xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
