// RUN: rm -rf %t && mkdir %t
// RUN: alula-compile --target=cpu:host %s -o %t.alula --dump-executable-configs-to=%t
// RUN: cat %t/*.config.mlir | FileCheck %s
// RUN: alula-run %t.alula --function=sums --input=2x2500xf32=0.5 --expected_output=2xf32=1250,1250

// No sum has more than 1024 terms: 2500 are twice 896, which is round, and 708.

// CHECK-DAG: %[[PART:.+]] = arith.constant 896 : index
// CHECK-DAG: %[[REST:.+]] = arith.constant 708 : index
// CHECK: scf.for
// CHECK: scf.for {{.*}} to %[[PART]]
// CHECK: scf.for {{.*}} to %[[REST]]

module {
func.func @sums(%x: tensor<2x2500xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // What is computed is summed by loops.
  %y = stablehlo.abs %x : tensor<2x2500xf32>
  %0 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2500xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
}
