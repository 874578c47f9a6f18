// RUN: alula-opt --split-input-file --input-materialize-call-layouts %s | FileCheck %s

// Operands and results lie as the call wants them; the orders of dimensions
// stay, the major one first.
// CHECK-LABEL: func.func @turned
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[N:.*]]: tensor<i32>)
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[X]], dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[Y:.*]]:2 = stablehlo.custom_call @f(%[[T]], %[[N]])
// CHECK-NOT: operand_layouts
// CHECK-SAME: alula.orders = [array<i64: 2, 0, 1>, array<i64>, array<i64: 1, 2, 0>, array<i64: 0>]
// CHECK-SAME: -> (tensor<6x7x5xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[R:.*]] = stablehlo.transpose %[[Y]]#0, dims = [2, 0, 1] : (tensor<6x7x5xf32>) -> tensor<5x6x7xf32>
// CHECK-NEXT: return %[[R]], %[[Y]]#1
func.func @turned(%x: tensor<2x3x4xf32>, %n: tensor<i32>) -> (tensor<5x6x7xf32>, tensor<8xf32>) {
  %0:2 = stablehlo.custom_call @f(%x, %n) {api_version = 4 : i32, operand_layouts = [dense<[1, 0, 2]> : tensor<3xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<[0, 2, 1]> : tensor<3xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x3x4xf32>, tensor<i32>) -> (tensor<5x6x7xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<5x6x7xf32>, tensor<8xf32>
}

// -----

// Row-major arrays are what all calls have.
// CHECK-LABEL: func.func @row_major
// CHECK-NEXT: stablehlo.custom_call @f(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return
func.func @row_major(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// This one is a layout and nothing else.
// CHECK-LABEL: func.func @constraint
// CHECK-NEXT: stablehlo.custom_call @LayoutConstraint(%{{.*}}) {operand_layouts
// CHECK-NEXT: return
func.func @constraint(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @LayoutConstraint(%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// The sizes of a dynamic result are those of its memory.
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<2xi32>)
// CHECK-NEXT: %[[B:.*]] = stablehlo.slice %[[S]] [1:2]
// CHECK-NEXT: %[[A:.*]] = stablehlo.slice %[[S]] [0:1]
// CHECK-NEXT: %[[T:.*]] = stablehlo.concatenate %[[B]], %[[A]], dim = 0
// CHECK-NEXT: %[[Y:.*]] = stablehlo.custom_call @f(%[[X]], %[[T]])
// CHECK-SAME: -> tensor<3x?xf32>
// CHECK-NEXT: stablehlo.transpose %[[Y]], dims = [1, 0] : (tensor<3x?xf32>) -> tensor<?x3xf32>
func.func @sizes(%x: tensor<4xf32>, %s: tensor<2xi32>) -> tensor<?x3xf32> {
  %0 = stablehlo.custom_call @f(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>, operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
