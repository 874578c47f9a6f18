// RUN: alula-opt --input-lower-composite %s | FileCheck %s
// RUN: alula-opt --input-lower-composite=keep=my.kept %s | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  // KEEP: call @f(%arg0)
  %0 = stablehlo.composite "my.lowered" %x {decomposition = @f}
      : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @f(%0)
  // KEEP: stablehlo.composite "my.kept"
  %1 = stablehlo.composite "my.kept" %0 {decomposition = @f}
      : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
