// RUN: rm -rf %t && mkdir -p %t
// RUN: alula-compile %s --target=cpu:x86-64-v4 -o %t.alula --dump-executable-intermediates-to=%t
// RUN: cat %t/*.opt.ll | FileCheck %s

// Places are compared as the 32 bits that they are, and only the last vectors
// of a row are masked, though each place is a number too.
// CHECK-LABEL: define {{.*}}i32 @one_hot_0(
// CHECK-NOT: <8 x i64>
// CHECK: icmp eq <8 x i32>
// CHECK: store <8 x float>
// CHECK: masked.store.v8f32
// CHECK-NOT: <8 x i64>
// CHECK: ret i32 0
func.func @one_hot(%x: tensor<1000xi32>) -> tensor<1000x101xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<1000x101xi32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1000xi32>) -> tensor<1000x101xi32>
  %2 = stablehlo.compare EQ, %0, %1 : (tensor<1000x101xi32>, tensor<1000x101xi32>) -> tensor<1000x101xi1>
  %3 = stablehlo.convert %2 : (tensor<1000x101xi1>) -> tensor<1000x101xf32>
  return %3 : tensor<1000x101xf32>
}
