// Lists that don't fit their matrices.
// RUN: not alula-interpret %s --function=pairs 2>&1 | FileCheck %s --check-prefix=PAIRS
// RUN: not alula-interpret %s --function=rows 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not alula-interpret %s --function=sampled 2>&1 | FileCheck %s --check-prefix=SAMPLED

// PAIRS: sparse_invalid.mlir":[[@LINE+5]]:8): error: 'stablehlo.custom_call' op needs values, pairs of indices and a matrix for each of a batch
func.func @pairs() -> tensor<3x2xf32> {
  %values = stablehlo.constant dense<1.0> : tensor<5xf32>
  %indices = stablehlo.constant dense<0> : tensor<5x3xi32>
  %b = stablehlo.constant dense<1.0> : tensor<4x2xf32>
  %c = stablehlo.custom_call @alula.sparse_product(%values, %indices, %b) : (tensor<5xf32>, tensor<5x3xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}

// ROWS: 'stablehlo.custom_call' op needs values, starts of rows and one more, columns and a matrix for each of a batch
func.func @rows() -> tensor<3x2xf32> {
  %values = stablehlo.constant dense<1.0> : tensor<5xf32>
  %starts = stablehlo.constant dense<0> : tensor<3xi32>
  %columns = stablehlo.constant dense<0> : tensor<5xi32>
  %b = stablehlo.constant dense<1.0> : tensor<4x2xf32>
  %c = stablehlo.custom_call @alula.sparse_rows_product(%values, %starts, %columns, %b) : (tensor<5xf32>, tensor<3xi32>, tensor<5xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}

// SAMPLED: 'stablehlo.custom_call' op needs two matrices with as many columns and pairs of indices for each of a batch
func.func @sampled() -> tensor<5xf32> {
  %a = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %b = stablehlo.constant dense<1.0> : tensor<4x2xf32>
  %indices = stablehlo.constant dense<0> : tensor<5x2xi32>
  %c = stablehlo.custom_call @alula.sparse_sampled(%a, %b, %indices) : (tensor<2x3xf32>, tensor<4x2xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  return %c : tensor<5xf32>
}
