// RUN: rm -rf %t && mkdir -p %t/v3
// RUN: alula-compile %s --target=cpu:x86-64-v4 -o %t.alula --dump-executable-intermediates-to=%t
// RUN: cat %t/*sums_0*.opt.ll %t/*scaled_1*.opt.ll %t/*even_2*.opt.ll %t/*shares_3*.opt.ll | FileCheck %s
// RUN: alula-compile %s --target=cpu:x86-64-v3 -o %t.v3.alula --dump-executable-intermediates-to=%t/v3
// RUN: cat %t/v3/*.opt.ll | FileCheck %s --check-prefix=NONE

// 31 steps of four vectors of eight, and 5 numbers: what is no number of the
// row changes nothing in the sum. Rows don't begin with cache lines, so lines
// are asked for before.

// CHECK-LABEL: define {{.*}}i32 @sums_0(
// CHECK: vector.body:
// CHECK: call void @llvm.prefetch.p0(
// CHECK-COUNT-4: fadd reassoc <8 x float>
// CHECK: icmp eq i64 {{.*}}, 992
// CHECK: masked.load.v8f32{{.*}}<i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false
// CHECK-NOT: {{= .*load <}}
// CHECK: vector.reduce.fadd
// CHECK-NOT: {{= .*load <}}
// CHECK: ret i32 0

// Rows of 21 are two vectors and 5 numbers, and not 21 numbers of a column.

// CHECK-LABEL: define {{.*}}i32 @scaled_1(
// CHECK-NOT: {{gather|prefetch}}
// CHECK-COUNT-2: store <8 x float>
// CHECK-NOT: store
// CHECK: masked.store.v8f32{{.*}}<i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false
// CHECK-NOT: store
// CHECK: ret i32 0

// CHECK-LABEL: define {{.*}}i32 @even_2(
// CHECK-NOT: {{masked|prefetch}}
// CHECK: ret i32 0

// Lines that will be written, too.

// CHECK-LABEL: define {{.*}}i32 @shares_3(
// CHECK: vector.body
// CHECK: call void @llvm.prefetch.p0({{.*}}, i32 0, i32 3, i32 1)
// CHECK: vector.reduce.fmax
// CHECK: call void @llvm.prefetch.p0({{.*}}, i32 1, i32 3, i32 1)
// CHECK: ret i32 0

// NONE-NOT: masked.

module {
func.func @sums(%x: tensor<64x997xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.abs %x : tensor<64x997xf32>
  %0 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x997xf32>, tensor<f32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

func.func @scaled(%x: tensor<512x21xf32>, %y: tensor<21xf32>) -> tensor<512x21xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<21xf32>) -> tensor<512x21xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<512x21xf32>
  return %1 : tensor<512x21xf32>
}

func.func @even(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

func.func @shares(%x: tensor<64x997xf32>) -> tensor<64x997xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %most = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x997xf32>, tensor<f32>) -> tensor<64xf32>
  %0 = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<64xf32>) -> tensor<64x997xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<64x997xf32>
  %2 = stablehlo.exponential %1 : tensor<64x997xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x997xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<64xf32>) -> tensor<64x997xf32>
  %5 = stablehlo.divide %2, %4 : tensor<64x997xf32>
  return %5 : tensor<64x997xf32>
}
}
