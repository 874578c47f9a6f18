// RUN: rm -rf %t
// RUN: alula-compile %s --target=cpu:x86-64-v3 -o %t.alula --dump-executable-intermediates-to=%t
// RUN: cat %t/*rows_0*.opt.ll %t/*negated_1*.opt.ll | FileCheck %s

// The loops around a long row, of six and five steps, stay: there is one loop
// over the row.

// CHECK-LABEL: define {{.*}}i32 @rows_0(
// CHECK: vector.body:
// CHECK: middle.block:
// CHECK-NOT: vector.body{{.*}}:
// CHECK: icmp eq i64 {{.*}}, 5
// CHECK-NOT: vector.body{{.*}}:
// CHECK: icmp eq i64 {{.*}}, 6
// CHECK-NOT: vector.body{{.*}}:
// CHECK: ret i32 0

// Four vectors in each step, which are not written out again.

// CHECK-LABEL: define {{.*}}i32 @negated_1(
// CHECK: vector.body:
// CHECK-COUNT-4: store <8 x float>
// CHECK-NOT: store
// CHECK: br i1

module {
func.func @rows(%x: tensor<3000xf32>) -> tensor<6x5x3000xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2] : (tensor<3000xf32>) -> tensor<6x5x3000xf32>
  return %0 : tensor<6x5x3000xf32>
}

func.func @negated(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = stablehlo.negate %x : tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
}
