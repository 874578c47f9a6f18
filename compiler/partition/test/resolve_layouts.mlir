// RUN: alula-opt --split-input-file --partition-resolve-layouts %s | FileCheck %s

// Arguments are row-major; a result lies as what the transpose at its end reads.

// CHECK-LABEL: @main
// CHECK-SAME: (%arg0: tensor<4x8x2xf32>)
// CHECK-SAME: -> (tensor<2x8x4xf32> {mhlo.layout_mode = "{0,1,2}"}, tensor<4x8x2xf32>)
func.func @main(%x: tensor<4x8x2xf32> {mhlo.layout_mode = "auto"})
    -> (tensor<2x8x4xf32> {mhlo.layout_mode = "auto"},
        tensor<4x8x2xf32> {mhlo.layout_mode = "auto"}) {
  %0 = stablehlo.transpose %x, dims = [2, 1, 0]
      : (tensor<4x8x2xf32>) -> tensor<2x8x4xf32>
  return %0, %x : tensor<2x8x4xf32>, tensor<4x8x2xf32>
}

// -----

// The transpose of a column-major argument is row-major; "default" says nothing.

// CHECK-LABEL: @main
// CHECK-SAME: tensor<4x8xf32> {mhlo.layout_mode = "{0,1}"}
// CHECK-SAME: tensor<3xi4>)
// CHECK-SAME: -> (tensor<8x4xf32>, tensor<4x8xf32> {mhlo.layout_mode = "{0,1}"}, tensor<3xi4>)
func.func @main(%x: tensor<4x8xf32> {mhlo.layout_mode = "{0,1:S(5)}"},
                %y: tensor<3xi4> {mhlo.layout_mode = "{0:E(4)}"})
    -> (tensor<8x4xf32> {mhlo.layout_mode = "auto"},
        tensor<4x8xf32> {mhlo.layout_mode = "auto"},
        tensor<3xi4> {mhlo.layout_mode = "default"}) {
  %0 = stablehlo.transpose %x, dims = [1, 0]
      : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0, %x, %y : tensor<8x4xf32>, tensor<4x8xf32>, tensor<3xi4>
}

// -----

// It is looked for behind elementwise ops, scalars and calls.

// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<2x4x8xf32> {mhlo.layout_mode = "{1,0,2}"})
func.func @main(%x: tensor<8x2x4xf32>)
    -> (tensor<2x4x8xf32> {mhlo.layout_mode = "auto"}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = []
      : (tensor<f32>) -> tensor<2x4x8xf32>
  %0 = func.call @turn(%x) : (tensor<8x2x4xf32>) -> tensor<2x4x8xf32>
  %1 = stablehlo.add %ones, %0 : tensor<2x4x8xf32>
  return %1 : tensor<2x4x8xf32>
}
func.func private @turn(%x: tensor<8x2x4xf32>) -> tensor<2x4x8xf32> {
  %0 = stablehlo.negate %x : tensor<8x2x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 2, 0]
      : (tensor<8x2x4xf32>) -> tensor<2x4x8xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1]
      : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  %3 = stablehlo.transpose %2, dims = [0, 2, 1]
      : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
  return %3 : tensor<2x4x8xf32>
}

// -----

// Operands that disagree are read in the order of the result.

// CHECK-LABEL: @main
// CHECK-SAME: -> tensor<4x8xf32>
func.func @main(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>)
    -> (tensor<4x8xf32> {mhlo.layout_mode = "auto"}) {
  %0 = stablehlo.transpose %y, dims = [1, 0]
      : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// A value that is asked to lie in some way does.

// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<4x8xf32> {mhlo.layout_mode = "{0,1}"})
func.func @main(%x: tensor<4x8xf32>)
    -> (tensor<4x8xf32> {mhlo.layout_mode = "auto"}) {
  %0 = stablehlo.custom_call @LayoutConstraint(%x)
      {operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
       result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.negate %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
