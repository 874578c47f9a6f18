// RUN: alula-opt %s -split-input-file -dispatch-pack-weights=min-elements=34 | FileCheck %s
// RUN: alula-opt %s -split-input-file -dispatch-pack-weights=min-elements=34 -dispatch-form-kernels | FileCheck %s --check-prefix=KERNEL

// Panels of 16 f64: columns beyond the last one are zero. The kernel is given
// them and says how they lie.
// CHECK-LABEL: func.func @product
// CHECK: %[[P:.*]] = stablehlo.constant dense<{{\[\[\[}}0.000000e+00, 1.000000e+00, {{.*}}, 1.500000e+01], [1.700000e+01,
// CHECK-SAME: , 3.200000e+01{{\]\], \[\[}}1.600000e+01, 0.000000e+00, {{.*}}], [3.300000e+01, 0.000000e+00,
// CHECK: %[[W:.*]] = dispatch.from_panels %[[P]] rows = [0] columns = [1] : tensor<2x2x16xf64> -> tensor<2x17xf64>
// CHECK: stablehlo.dot_general %arg0, %[[W]]
// KERNEL-LABEL: func.func @product
// KERNEL: %[[P:.*]] = stablehlo.constant
// KERNEL: dispatch.launch @product_0::@product_0(%arg0, %[[P]])
// KERNEL: func.func @product_0({{.*}}%arg1: tensor<2x2x16xf64>
// KERNEL: dispatch.from_panels %arg1
func.func @product(%x: tensor<400x2xf64>) -> tensor<400x17xf64> {
  %w = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0]]> : tensor<2x17xf64>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<400x2xf64>, tensor<2x17xf64>) -> tensor<400x17xf64>
  return %0 : tensor<400x17xf64>
}

// -----

// Does not fire: a left side; another reader; rows that are columns
// elsewhere; batches; little; f16.
// CHECK-LABEL: func.func @others
// CHECK-NOT: dispatch.from_panels
func.func @others(%y: tensor<8x17xf64>, %z: tensor<17x8xf64>, %h: tensor<8x2xf16>) -> (tensor<2x8xf64>, tensor<8x2xf64>, tensor<2x17xf64>, tensor<2x17x17xf64>, tensor<8x17xf16>) {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0]]> : tensor<2x17xf64>
  %0 = stablehlo.dot_general %a, %z, contracting_dims = [1] x [0] : (tensor<2x17xf64>, tensor<17x8xf64>) -> tensor<2x8xf64>
  %b = stablehlo.constant dense<[[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0]]> : tensor<2x17xf64>
  %1 = stablehlo.dot_general %y, %b, contracting_dims = [1] x [1] : (tensor<8x17xf64>, tensor<2x17xf64>) -> tensor<8x2xf64>
  %2 = stablehlo.negate %b : tensor<2x17xf64>
  %c = stablehlo.constant dense<[[3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0]]> : tensor<2x17xf64>
  %3 = stablehlo.dot_general %2, %c, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<2x17xf64>, tensor<2x17xf64>) -> tensor<2x17x17xf64>
  %d = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0]]> : tensor<2x17xf16>
  %4 = stablehlo.dot_general %h, %d, contracting_dims = [1] x [0] : (tensor<8x2xf16>, tensor<2x17xf16>) -> tensor<8x17xf16>
  return %0, %1, %2, %3, %4 : tensor<2x8xf64>, tensor<8x2xf64>, tensor<2x17xf64>, tensor<2x17x17xf64>, tensor<8x17xf16>
}

// -----

// Four rows of bytes together in 32 columns; of the sign that the left side
// lacks: 128 is added to signed ones, and stands for what is spare.
// CHECK-LABEL: func.func @bytes
// CHECK-DAG: %[[P:.*]] = stablehlo.constant dense<"0x8385808083858080{{.*}}7D7B80808080{{.*}}"> : tensor<1x1x32x4xui8>
// CHECK-DAG: dispatch.from_panels %[[P]] rows = [0] columns = [1] : tensor<1x1x32x4xui8> -> tensor<2x17xi8>
// CHECK-DAG: %[[Q:.*]] = stablehlo.constant dense<"0x0406000004060000{{.*}}FCFA00000000{{.*}}"> : tensor<1x1x32x4xi8>
// CHECK-DAG: dispatch.from_panels %[[Q]] rows = [0] columns = [1] : tensor<1x1x32x4xi8> -> tensor<2x17xi8>
func.func @bytes(%x: tensor<400x2xi8>, %y: tensor<400x2xui8>) -> (tensor<400x17xi32>, tensor<400x17xi32>) {
  %w = stablehlo.constant dense<[[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, -3], [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, -5]]> : tensor<2x17xi8>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<400x2xi8>, tensor<2x17xi8>) -> tensor<400x17xi32>
  %v = stablehlo.constant dense<[[4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, -4], [6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, -6]]> : tensor<2x17xi8>
  %1 = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<400x2xui8>, tensor<2x17xi8>) -> tensor<400x17xi32>
  return %0, %1 : tensor<400x17xi32>, tensor<400x17xi32>
}

// -----

// Two rows of bf16 together, whatever the product is rounded to; with what is
// not, and in convolutions, they stay as they are.
// CHECK-LABEL: func.func @halves
// CHECK: %[[P:.*]] = stablehlo.constant dense<{{\[\[\[\[}}3.000000e+00, 5.000000e+00], [3.000000e+00, {{.*}}[-3.000000e+00, -5.000000e+00], [0.000000e+00, {{.*}}> : tensor<1x1x32x2xbf16>
// CHECK: dispatch.from_panels %[[P]] rows = [0] columns = [1] : tensor<1x1x32x2xbf16> -> tensor<2x17xbf16>
// CHECK-NOT: dispatch.from_panels
// CHECK: return
func.func @halves(%x: tensor<400x2xbf16>, %y: tensor<400x2xf32>) -> (tensor<400x17xf32>, tensor<400x17xbf16>, tensor<400x17xf32>) {
  %w = stablehlo.constant dense<[[3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, -3.0], [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, -5.0]]> : tensor<2x17xbf16>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<400x2xbf16>, tensor<2x17xbf16>) -> tensor<400x17xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<400x2xbf16>, tensor<2x17xbf16>) -> tensor<400x17xbf16>
  %v = stablehlo.constant dense<[[4.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, -3.0], [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, -5.0]]> : tensor<2x17xbf16>
  %2 = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<400x2xf32>, tensor<2x17xbf16>) -> tensor<400x17xf32>
  return %0, %1, %2 : tensor<400x17xf32>, tensor<400x17xbf16>, tensor<400x17xf32>
}

// -----

// Does not fire: left sides of two signs; sums of floats.
// CHECK-LABEL: func.func @other_bytes
// CHECK-NOT: dispatch.from_panels
func.func @other_bytes(%x: tensor<400x2xi8>, %y: tensor<400x2xui8>) -> (tensor<400x17xi32>, tensor<400x17xi32>, tensor<400x17xf32>) {
  %w = stablehlo.constant dense<[[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, -3], [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, -5]]> : tensor<2x17xi8>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<400x2xi8>, tensor<2x17xi8>) -> tensor<400x17xi32>
  %1 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<400x2xui8>, tensor<2x17xi8>) -> tensor<400x17xi32>
  %v = stablehlo.constant dense<[[4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, -4], [6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, -6]]> : tensor<2x17xi8>
  %2 = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<400x2xui8>, tensor<2x17xi8>) -> tensor<400x17xf32>
  return %0, %1, %2 : tensor<400x17xi32>, tensor<400x17xi32>, tensor<400x17xf32>
}

// -----

// Pieces of a convolution's rows begin with a pair where the features are even
// and every output reads all places of the window.
// CHECK-LABEL: func.func @even_features
// CHECK: dispatch.from_panels %{{.*}} rows = [0, 1] columns = [2] : tensor<1x2x32x2xbf16> -> tensor<2x2x9xbf16>
// CHECK-LABEL: func.func @odd_features
// CHECK-NOT: dispatch.from_panels
// CHECK-LABEL: func.func @dilated
// CHECK-NOT: dispatch.from_panels
func.func @even_features(%x: tensor<1x8x2xbf16>) -> tensor<1x7x9xf32> {
  %w = stablehlo.constant dense<"0x003F013F023F033F043F053F063F073F083F073F083F093F0A3F0B3F0C3F0D3F0E3F0F3F0E3F0F3F103F113F123F133F143F153F163F153F163F173F183F193F1A3F1B3F1C3F1D3F"> : tensor<2x2x9xbf16>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x2xbf16>, tensor<2x2x9xbf16>) -> tensor<1x7x9xf32>
  return %0 : tensor<1x7x9xf32>
}
func.func @odd_features(%x: tensor<1x8x3xbf16>) -> tensor<1x7x9xf32> {
  %w = stablehlo.constant dense<"0x003F013F023F033F043F053F063F073F083F073F083F093F0A3F0B3F0C3F0D3F0E3F0F3F0E3F0F3F103F113F123F133F143F153F163F153F163F173F183F193F1A3F1B3F1C3F1D3F1C3F1D3F1E3F1F3F203F213F223F233F243F233F243F253F263F273F283F293F2A3F2B3F"> : tensor<2x3x9xbf16>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xbf16>, tensor<2x3x9xbf16>) -> tensor<1x7x9xf32>
  return %0 : tensor<1x7x9xf32>
}
func.func @dilated(%x: tensor<1x8x2xbf16>) -> tensor<1x14x9xf32> {
  %w = stablehlo.constant dense<"0x003F013F023F033F043F053F063F073F083F073F083F093F0A3F0B3F0C3F0D3F0E3F0F3F0E3F0F3F103F113F123F133F143F153F163F153F163F173F183F193F1A3F1B3F1C3F1D3F"> : tensor<2x2x9xbf16>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x2xbf16>, tensor<2x2x9xbf16>) -> tensor<1x14x9xf32>
  return %0 : tensor<1x14x9xf32>
}
