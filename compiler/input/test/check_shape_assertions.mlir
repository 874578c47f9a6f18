// RUN: alula-opt --input-check-shape-assertions %s | FileCheck %s

// CHECK-LABEL: func.func @holds
func.func @holds() {
  // CHECK-NOT: custom_call @shape_assertion
  %true = stablehlo.constant dense<true> : tensor<i1>
  %n = stablehlo.constant dense<3> : tensor<i32>
  stablehlo.custom_call @shape_assertion(%true, %n)
      {error_message = "n is {0}", has_side_effect = true}
      : (tensor<i1>, tensor<i32>) -> ()
  // CHECK: custom_call @another
  stablehlo.custom_call @another(%n) {has_side_effect = true}
      : (tensor<i32>) -> ()
  return
}
