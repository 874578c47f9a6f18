// RUN: alula-opt --split-input-file --partition-lower-layouts %s | FileCheck %s
// RUN: alula-opt --split-input-file --partition-lower-layouts=physical=false %s | FileCheck %s --check-prefix=IGNORED

// Dimensions of types are in the order in which they lie, major first.

// CHECK-LABEL: @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x2x3xf32>, %[[Y:.*]]: tensor<2x?xi32>)
// CHECK-SAME: -> (tensor<4x3x2xf32>, tensor<?x2xi32> {jax.result_info = "y"})
// CHECK: %[[LX:.*]] = stablehlo.transpose %[[X]], dims = [1, 2, 0]
// CHECK-SAME: -> tensor<2x3x4xf32>
// CHECK: %[[N:.*]] = stablehlo.negate %[[LX]] : tensor<2x3x4xf32>
// CHECK: %[[R:.*]] = stablehlo.transpose %[[N]], dims = [2, 1, 0]
// CHECK-SAME: -> tensor<4x3x2xf32>
// CHECK: return %[[R]]
// IGNORED-LABEL: @main
// IGNORED-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %{{.*}}: tensor<?x2xi32>)
// IGNORED-SAME: -> (tensor<2x3x4xf32>, tensor<?x2xi32> {jax.result_info = "y"})
// IGNORED-NEXT: negate %[[X]]
func.func @main(%x: tensor<2x3x4xf32> {mhlo.layout_mode = "{1,0,2}"},
                %y: tensor<?x2xi32> {mhlo.layout_mode = "{0,1}"})
    -> (tensor<2x3x4xf32> {mhlo.layout_mode = "{0,1,2}"},
        tensor<?x2xi32> {jax.result_info = "y"}) {
  %0 = stablehlo.negate %x : tensor<2x3x4xf32>
  return %0, %y : tensor<2x3x4xf32>, tensor<?x2xi32>
}

// -----

// Memory is given on only between equal layouts.

// CHECK-LABEL: @main
// CHECK-SAME: (%{{.*}}: tensor<2x2xf32> {jax.buffer_donor = true},
// CHECK-SAME: %{{.*}}: tensor<3x2xf32> {tf.aliasing_output = 1 : i32})
func.func @main(%x: tensor<2x2xf32> {mhlo.layout_mode = "{0,1}",
                                     tf.aliasing_output = 0 : i32},
                %y: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}",
                                     tf.aliasing_output = 1 : i32})
    -> (tensor<2x2xf32>, tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
  return %x, %y : tensor<2x2xf32>, tensor<2x3xf32>
}
