// RUN: alula-compile --target=cpu:host %s --compile-to=kernel -o - | FileCheck %s

// Blocks of 128 rows; bias and maximum are computed from each of them.
// CHECK-LABEL: func.func @layer_0(
// CHECK: scf.parallel
// CHECK: call @alula_product_f32
// CHECK: scf.parallel
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: memref.store
// CHECK-NOT: memref.store
// CHECK: return
func.func @layer(%x: tensor<300x784xf32>, %w: tensor<784x512xf32>, %b: tensor<512xf32>) -> tensor<300x512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<300x512xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<300x784xf32>, tensor<784x512xf32>) -> tensor<300x512xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<512xf32>) -> tensor<300x512xf32>
  %2 = stablehlo.add %1, %0 : tensor<300x512xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<300x512xf32>
  return %3 : tensor<300x512xf32>
}

// A transposed operand is read where it lies.
// CHECK-LABEL: func.func @transposed_1(
// CHECK-NOT: memref.store
// CHECK: call @alula_product_f64
// CHECK-NOT: memref.store
// CHECK: return
func.func @transposed(%x: tensor<64x64xf64>, %y: tensor<64x64xf64>) -> tensor<64x64xf64> {
  %0 = stablehlo.transpose %y, dims = [1, 0] : (tensor<64x64xf64>) -> tensor<64x64xf64>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
  return %1 : tensor<64x64xf64>
}

// Pairs of bf16 are multiplied as they are, with sums in f32.
// CHECK-LABEL: func.func @narrow_2(
// CHECK-NOT: arith.extf
// CHECK: call @alula_product_bf16
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @narrow(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// Too small to be worth a call.
// CHECK-LABEL: func.func @small_3(
// CHECK-NOT: call
// CHECK: return
func.func @small(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// What follows may read it several times: it is still computed block by block,
// by several workgroups.
// CHECK: dispatch.entry @{{.*}} workgroups [2, 1, 1]
// CHECK-LABEL: func.func @several_4(
// CHECK: scf.parallel
// CHECK: call @alula_product_f32
// CHECK: scf.parallel
// CHECK: call @alula_logistic_f32
// CHECK: arith.mulf
// CHECK: scf.reduce
// CHECK: scf.reduce
func.func @several(%x: tensor<256xf32>, %w: tensor<256x1024xf32>) -> tensor<1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<256xf32>, tensor<256x1024xf32>) -> tensor<1024xf32>
  %1 = stablehlo.logistic %0 : tensor<1024xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<1024xf32>
  return %2 : tensor<1024xf32>
}

// Others are widened block by block.
// CHECK-LABEL: func.func @widened_{{[0-9]+}}(
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: call @alula_product_f32
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @widened(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// Bytes are summed in i32, of which a result keeps the lower bits.
// CHECK-LABEL: func.func @bytes_{{[0-9]+}}(
// CHECK: call @alula_product_i8
// CHECK-NOT: memref.store
// CHECK: return
func.func @bytes(%x: tensor<64x64xi8>, %y: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}
// CHECK-LABEL: func.func @unsigned_bytes_{{[0-9]+}}(
// CHECK: call @alula_product_ui8
// CHECK: arith.trunci {{.*}} : i32 to i8
func.func @unsigned_bytes(%x: tensor<64x64xui8>, %y: tensor<64x64xui8>) -> tensor<64x64xui8> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xui8>, tensor<64x64xui8>) -> tensor<64x64xui8>
  return %0 : tensor<64x64xui8>
}

// Sums that i32 has no room for.
// CHECK-LABEL: func.func @wide_sums_{{[0-9]+}}(
// CHECK: call @alula_product_f32
// CHECK: arith.fptosi {{.*}} : f32 to i32
// CHECK: arith.extsi {{.*}} : i32 to i64
func.func @wide_sums(%x: tensor<64x64xi8>, %y: tensor<64x64xi8>) -> tensor<64x64xi64> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi64>
  return %0 : tensor<64x64xi64>
}

// A convolution copies its inputs as they are.
// CHECK-LABEL: func.func @bytes_of_images_{{[0-9]+}}(
// CHECK-NOT: arith.sitofp
// CHECK: call @alula_product_i8
// CHECK: return
func.func @bytes_of_images(%x: tensor<1x14x14x16xi8>, %w: tensor<3x3x16x32xi8>) -> tensor<1x14x14x32xi32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x16xi8>, tensor<3x3x16x32xi8>) -> tensor<1x14x14x32xi32>
  return %0 : tensor<1x14x14x32xi32>
}

// Zeros between inputs are not multiplied: a call for each of four phases, with
// tables of the window's elements of both sides; rows of results lie two apart.
// CHECK-LABEL: func.func @phases_{{[0-9]+}}(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2
// CHECK: call @alula_product_f32
// CHECK-NOT: call @alula_product_f32
// CHECK: return
func.func @phases(%x: tensor<1x14x14x16xf32>, %w: tensor<3x3x32x16xf32>) -> tensor<1x28x28x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x16xf32>, tensor<3x3x32x16xf32>) -> tensor<1x28x28x32xf32>
  return %0 : tensor<1x28x28x32xf32>
}
