// RUN: alula-compile --target=cpu:host %s --compile-to=kernel -o - | FileCheck %s
// RUN: alula-compile --target=cpu:host %s -o %t.alula
// The sum of 0 to 1000002 in 32 bits.
// RUN: alula-run %t.alula --function=uneven --threads=2 --input=1000003xi32 --output=%t.npy --output=- | FileCheck %s --check-prefix=SUM
// SUM: i32=1786293667

// Each workgroup computes its rows.
// CHECK-LABEL: dispatch.entry @rows_0 {{.*}} workgroups [64, 1, 1]
// CHECK: func.func @rows_0({{.*}}, %[[GROUP:[^:]*]]: index{{.*}}) attributes {{.*}}kernel.workgroup
// CHECK: arith.muli %[[GROUP]], %c16
func.func @rows(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.exponential %x : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// Not worth waking anybody.
// CHECK-LABEL: dispatch.entry @small_1 {{.*}} workgroups [1, 1, 1]
func.func @small(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.add %x, %x : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Of the innermost dimension whole vectors: 245 times 64 elements.
// CHECK-LABEL: dispatch.entry @uneven_2 {{.*}} workgroups [64, 1, 1]
// CHECK: func.func @uneven_2({{.*}}, %[[GROUP:[^:]*]]: index{{.*}})
// CHECK: arith.muli %[[GROUP]], %c15680
func.func @uneven(%x: tensor<1000003xi32>) -> (tensor<1000003xi32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 0 : tensor<1000003xi32>
  %0 = stablehlo.add %i, %x : tensor<1000003xi32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<1000003xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<1000003xi32>, tensor<i32>
}
