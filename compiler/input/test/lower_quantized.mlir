// RUN: alula-opt --input-lower-quantized --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<3xi8> {alula.quantized_type = "tensor<3x!quant.uniform<i8<-100:100>:f32, 5.000000e-01:3>>"})
// CHECK-SAME: -> (tensor<3xi8> {alula.quantized_type = "tensor<3x!quant.uniform<i8<-100:100>:f32, 5.000000e-01:3>>", jax.result_info = "r"})
func.func @main(%q: tensor<3x!quant.uniform<i8<-100:100>:f32, 0.5:3>>)
    -> (tensor<3x!quant.uniform<i8<-100:100>:f32, 0.5:3>> {jax.result_info = "r"}) {
  // CHECK: %[[F:.*]] = stablehlo.convert %arg0 : (tensor<3xi8>) -> tensor<3xf32>
  // CHECK: %[[Z:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<3xf32>
  // CHECK: %[[D:.*]] = stablehlo.subtract %[[F]], %[[Z]]
  // CHECK: %[[S:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<3xf32>
  // CHECK: %[[X:.*]] = stablehlo.multiply %[[D]], %[[S]]
  // CHECK: %[[Y:.*]] = stablehlo.tanh %[[X]] : tensor<3xf32>
  // CHECK: %[[Q:.*]] = stablehlo.divide %[[Y]], %{{.*}} : tensor<3xf32>
  // CHECK: %[[P:.*]] = stablehlo.add %[[Q]], %{{.*}} : tensor<3xf32>
  // CHECK: %[[R:.*]] = stablehlo.round_nearest_even %[[P]]
  // CHECK: %[[I:.*]] = stablehlo.convert %[[R]] : (tensor<3xf32>) -> tensor<3xi8>
  // CHECK: %[[C:.*]] = stablehlo.clamp %{{.*}}, %[[I]], %{{.*}} : (tensor<i8>, tensor<3xi8>, tensor<i8>) -> tensor<3xi8>
  // CHECK: return %[[C]]
  %0 = stablehlo.tanh %q : tensor<3x!quant.uniform<i8<-100:100>:f32, 0.5:3>>
  return %0 : tensor<3x!quant.uniform<i8<-100:100>:f32, 0.5:3>>
}

// -----

// Without zero points and over the whole range there is less to do.
// CHECK-LABEL: func.func @symmetric
func.func @symmetric(%q: tensor<3x!quant.uniform<i32:f32, 0.5>>)
    -> tensor<3x!quant.uniform<i32:f32, 0.5>> {
  // CHECK: %[[F:.*]] = stablehlo.convert %arg0 : (tensor<3xi32>) -> tensor<3xf32>
  // CHECK: stablehlo.multiply %[[F]]
  // CHECK: stablehlo.floor
  // CHECK: %[[Q:.*]] = stablehlo.divide
  // CHECK-NEXT: %[[R:.*]] = stablehlo.round_nearest_even %[[Q]]
  // CHECK-NEXT: %[[I:.*]] = stablehlo.convert %[[R]] : (tensor<3xf32>) -> tensor<3xi32>
  // CHECK-NEXT: return %[[I]]
  %0 = stablehlo.floor %q : tensor<3x!quant.uniform<i32:f32, 0.5>>
  return %0 : tensor<3x!quant.uniform<i32:f32, 0.5>>
}

// -----

// The difference of 32-bit integers is exact in f64; small floats are f32
// while they are integers.
// CHECK-LABEL: func.func @exact
func.func @exact(%a: tensor<3x!quant.uniform<i32:f32, 0.5:7>>,
                 %b: tensor<3xf16>)
    -> (tensor<3xf32>, tensor<3x!quant.uniform<u4:f16, 0.5>>) {
  // CHECK: %[[W:.*]] = stablehlo.convert %arg0 : (tensor<3xi32>) -> tensor<3xf64>
  // CHECK: %[[D:.*]] = stablehlo.subtract %[[W]]
  // CHECK: %[[N:.*]] = stablehlo.convert %[[D]] : (tensor<3xf64>) -> tensor<3xf32>
  // CHECK: stablehlo.multiply %[[N]]
  %0 = stablehlo.uniform_dequantize %a : (tensor<3x!quant.uniform<i32:f32, 0.5:7>>) -> tensor<3xf32>
  // CHECK: %[[Q:.*]] = stablehlo.divide %arg1, %{{.*}} : tensor<3xf16>
  // CHECK: %[[F:.*]] = stablehlo.convert %[[Q]] : (tensor<3xf16>) -> tensor<3xf32>
  // CHECK: %[[R:.*]] = stablehlo.round_nearest_even %[[F]] : tensor<3xf32>
  // CHECK: stablehlo.convert %[[R]] : (tensor<3xf32>) -> tensor<3xui4>
  %1 = stablehlo.uniform_quantize %b : (tensor<3xf16>) -> tensor<3x!quant.uniform<u4:f16, 0.5>>
  return %0, %1 : tensor<3xf32>, tensor<3x!quant.uniform<u4:f16, 0.5>>
}

// -----

// Data that only moves stays what it is stored as.
// CHECK-LABEL: func.func @movement
// CHECK-NOT: f32
// CHECK: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
// CHECK: stablehlo.concatenate
// CHECK: %[[P:.*]] = stablehlo.select
// CHECK-NEXT: %[[R:.*]] = stablehlo.bitcast_convert %[[P]] : (tensor<6x2xui8>) -> tensor<6x2xi8>
// CHECK-NEXT: return %[[R]] : tensor<6x2xi8>
func.func @movement(%q: tensor<2x3x!quant.uniform<i8:bf16:1, {0.5, 1.0:2, 2.0}>>,
                    %p: tensor<i1>, %s: tensor<6x2x!quant.uniform<u8:bf16, 0.5:3>>)
    -> tensor<6x2xi8> {
  %0 = stablehlo.transpose %q, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:bf16:1, {0.5, 1.0:2, 2.0}>>) -> tensor<3x2x!quant.uniform<i8:bf16:0, {0.5, 1.0:2, 2.0}>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<3x2x!quant.uniform<i8:bf16:0, {0.5, 1.0:2, 2.0}>>) -> tensor<3x2xi8>
  %2 = stablehlo.concatenate %1, %1, dim = 0 : (tensor<3x2xi8>, tensor<3x2xi8>) -> tensor<6x2xi8>
  %3 = stablehlo.select %p, %s, %s : tensor<i1>, tensor<6x2x!quant.uniform<u8:bf16, 0.5:3>>
  %4 = stablehlo.bitcast_convert %3 : (tensor<6x2x!quant.uniform<u8:bf16, 0.5:3>>) -> tensor<6x2xi8>
  return %4 : tensor<6x2xi8>
}

// -----

// Constants get the sign of their storage.
// CHECK-LABEL: func.func @constants
// CHECK: stablehlo.constant dense<[200, 3]> : tensor<2xui8>
// CHECK: stablehlo.constant dense_resource<blob> : tensor<2xui8>
func.func @constants() {
  %0 = stablehlo.constant() <{value = dense<[-56, 3]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<u8:f32, 0.5>>
  %1 = stablehlo.constant() <{value = dense_resource<blob> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<u8:f32, 0.5>>
  return
}
{-# dialect_resources: { builtin: { blob: "0x01000000c803" } } #-}

// -----

// CHECK-LABEL: func.func @per_axis
// CHECK: %[[S:.*]] = stablehlo.constant dense<[5.000000e-01, 1.000000e+00]> : tensor<2xf32>
// CHECK: stablehlo.broadcast_in_dim %[[S]], dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
// Equal zero points are one number.
// CHECK: stablehlo.constant dense<4.000000e+00> : tensor<3x2xf32>
func.func @per_axis(%x: tensor<3x2xf32>)
    -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:4, 1.0:4}>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<3x2xf32>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:4, 1.0:4}>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:4, 1.0:4}>>
}

// -----

// CHECK-LABEL: func.func @blocks
// CHECK-SAME: alula.quantized_type = "tensor<4x3x!quant.uniform<i8:f32:{0:2}, {{[{][{]}}1.000000e+00}, {2.000000e+00}}>>"
// CHECK: %[[S:.*]] = stablehlo.constant dense<{{\[\[}}1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x2x3xf32>
// CHECK: stablehlo.reshape %[[B]] : (tensor<2x2x3xf32>) -> tensor<4x3xf32>
func.func @blocks(%q: tensor<4x3x!quant.uniform<i8:f32:{0:2}, {{1.0}, {2.0}}>>)
    -> tensor<4x3xf32> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<4x3x!quant.uniform<i8:f32:{0:2}, {{1.0}, {2.0}}>>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
func.func @dynamic(%q: tensor<?x2x!quant.uniform<i8:f32:1, {0.5, 1.0}>>)
    -> tensor<?x2xf32> {
  %0 = stablehlo.uniform_dequantize %q : (tensor<?x2x!quant.uniform<i8:f32:1, {0.5, 1.0}>>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// Regions, calls and tuples have storage types inside and out.
// CHECK-LABEL: func.func @control
// CHECK: stablehlo.while(%[[V:.*]] = %arg0) : tensor<i8>
// CHECK: stablehlo.compare GT, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK: func.call @half(%[[V]]) : (tensor<i8>) -> tensor<i8>
// CHECK: stablehlo.tuple %{{.*}} : tuple<tensor<i8>>
func.func @control(%q: tensor<!quant.uniform<i8:f32, 0.5>>)
    -> tuple<tensor<!quant.uniform<i8:f32, 0.5>>> {
  %r = stablehlo.while(%v = %q) : tensor<!quant.uniform<i8:f32, 0.5>>
    cond {
      %one = stablehlo.constant() <{value = dense<2> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 0.5>>
      %c = stablehlo.compare GT, %v, %one, SIGNED : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %h = func.call @half(%v) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
      stablehlo.return %h : tensor<!quant.uniform<i8:f32, 0.5>>
    }
  %t = stablehlo.tuple %r : tuple<tensor<!quant.uniform<i8:f32, 0.5>>>
  return %t : tuple<tensor<!quant.uniform<i8:f32, 0.5>>>
}
// CHECK: func.func private @half(tensor<i8> {alula.quantized_type
func.func private @half(tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>

// -----

// Who receives nothing gets the zero point.
// CHECK-LABEL: func.func @permute
// CHECK: %[[Z:.*]] = stablehlo.constant dense<5> : tensor<2xi8>
// CHECK: %[[A:.*]] = stablehlo.subtract %arg0, %[[Z]]
// CHECK: %[[P:.*]] = "stablehlo.collective_permute"(%[[A]])
// CHECK: stablehlo.add %[[P]], %[[Z]]
// CHECK: "stablehlo.collective_permute"(%arg1)
// CHECK-NEXT: return
func.func @permute(%q: tensor<2x!quant.uniform<i8:f32, 0.5:5>>, %s: tensor<2x!quant.uniform<i8:f32, 0.5>>)
    -> (tensor<2x!quant.uniform<i8:f32, 0.5:5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  %0 = "stablehlo.collective_permute"(%q) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!quant.uniform<i8:f32, 0.5:5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:5>>
  %1 = "stablehlo.collective_permute"(%s) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0, %1 : tensor<2x!quant.uniform<i8:f32, 0.5:5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>
}

// -----

// Plain programs stay as they are.
// CHECK-LABEL: func.func @plain(%arg0: tensor<2xi8>) -> tensor<2xi8>
// CHECK-NEXT: stablehlo.bitcast_convert %arg0 : (tensor<2xi8>) -> tensor<2xi8>
// CHECK-NEXT: stablehlo.compare EQ, %{{.*}}, %{{.*}}, SIGNED
func.func @plain(%x: tensor<2xi8>) -> tensor<2xi8> {
  %0 = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> tensor<2xi8>
  %1 = stablehlo.compare EQ, %0, %x, SIGNED : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  return %0 : tensor<2xi8>
}

// -----

// Products of bytes are summed in integers; those whose sums might not fit are
// not.
// CHECK-LABEL: func.func @integer_product
// CHECK: %[[SUM:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xi32>
// CHECK: %[[COLUMNS:.*]] = stablehlo.reduce(
// CHECK: stablehlo.subtract %[[SUM]],
// CHECK: stablehlo.round_nearest_even
func.func @integer_product(%a: tensor<2x4x!quant.uniform<i8:f32, 0.1:-30>>, %b: tensor<4x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 1.0}>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.75:1>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4x!quant.uniform<i8:f32, 0.1:-30>>, tensor<4x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 1.0}>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.75:1>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.75:1>>
}

// CHECK-LABEL: func.func @long_product
// CHECK: stablehlo.dot_general {{.*}} -> tensor<1x1xf32>
func.func @long_product(%a: tensor<1x200000x!quant.uniform<i8:f32, 0.1>>, %b: tensor<200000x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x1x!quant.uniform<i8:f32, 0.75>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x200000x!quant.uniform<i8:f32, 0.1>>, tensor<200000x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x1x!quant.uniform<i8:f32, 0.75>>
  return %0 : tensor<1x1x!quant.uniform<i8:f32, 0.75>>
}

// A zero point of -128 is subtracted on both sides; another one becomes elements
// where there is padding.
// CHECK-LABEL: func.func @padded_convolution
// CHECK: %[[A:.*]] = stablehlo.pad %arg0
// CHECK: stablehlo.convolution(%[[A]], %arg1) {{.*}} (tensor<1x7x1xi8>, tensor<3x1x2xi8>) -> tensor<1x5x2xi32>
// CHECK: stablehlo.convolution({{.*}}pad = {{.*}}(tensor<1x5x1xui8>, tensor<3x1x2xui8>) -> tensor<1x5x2xi32>
func.func @padded_convolution(%x: tensor<1x5x1x!quant.uniform<i8:f32, 0.5:-7>>, %w: tensor<3x1x2x!quant.uniform<i8:f32, 0.25>>, %y: tensor<1x5x1x!quant.uniform<i8:f32, 0.5:-128>>, %v: tensor<3x1x2x!quant.uniform<i8:f32, 0.25:-128>>) -> (tensor<1x5x2x!quant.uniform<i8:f32, 0.75:3>>, tensor<1x5x2x!quant.uniform<i8:f32, 0.75:3>>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x1x!quant.uniform<i8:f32, 0.5:-7>>, tensor<3x1x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<1x5x2x!quant.uniform<i8:f32, 0.75:3>>
  %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x1x!quant.uniform<i8:f32, 0.5:-128>>, tensor<3x1x2x!quant.uniform<i8:f32, 0.25:-128>>) -> tensor<1x5x2x!quant.uniform<i8:f32, 0.75:3>>
  return %0, %1 : tensor<1x5x2x!quant.uniform<i8:f32, 0.75:3>>, tensor<1x5x2x!quant.uniform<i8:f32, 0.75:3>>
}

// -----

// Products of floats that were dequantized just before are products of what is
// stored, times both scales; the axis of scales moves with its dimension.
// CHECK-LABEL: func.func @dequantized_product
// CHECK: %[[W:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3x4xi8>) -> tensor<4x3xi8>
// CHECK: %[[SUM:.*]] = stablehlo.dot_general %arg0, %[[W]], {{.*}} : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xi32>
// CHECK: %[[EXACT:.*]] = stablehlo.subtract %[[SUM]],
// CHECK: %[[REAL:.*]] = stablehlo.convert %[[EXACT]] : (tensor<2x3xi32>) -> tensor<2x3xf32>
// CHECK: %[[SCALES:.*]] = stablehlo.constant dense<[5.000000e-01, 1.000000e+00, 2.000000e+00]>
// CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[SCALES]], dims = [1]
// CHECK: %[[R:.*]] = stablehlo.multiply %[[REAL]], %[[SPREAD]]
// CHECK: return %[[R]]
func.func @dequantized_product(%a: tensor<2x4x!quant.uniform<i8:f32, 0.5:-30>>, %b: tensor<3x4x!quant.uniform<i8<-127:127>:f32:0, {1.0, 2.0, 4.0}>>) -> tensor<2x3xf32> {
  %x = stablehlo.uniform_dequantize %a : (tensor<2x4x!quant.uniform<i8:f32, 0.5:-30>>) -> tensor<2x4xf32>
  %y = stablehlo.uniform_dequantize %b : (tensor<3x4x!quant.uniform<i8<-127:127>:f32:0, {1.0, 2.0, 4.0}>>) -> tensor<3x4xf32>
  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Not one of bytes; scales along the sums; one side that is no quantized tensor.
// CHECK-LABEL: func.func @products_of_floats
// CHECK-COUNT-3: stablehlo.dot_general {{.*}} : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
func.func @products_of_floats(%a: tensor<2x4x!quant.uniform<i16:f32, 0.5>>, %b: tensor<4x2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<4x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 4.0, 8.0}>>, %z: tensor<2x4xf32>, %d: tensor<2x4x!quant.uniform<i8:f32, 0.5>>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = stablehlo.uniform_dequantize %a : (tensor<2x4x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x4xf32>
  %y = stablehlo.uniform_dequantize %b : (tensor<4x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x2xf32>
  %w = stablehlo.uniform_dequantize %c : (tensor<4x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 4.0, 8.0}>>) -> tensor<4x2xf32>
  %v = stablehlo.uniform_dequantize %d : (tensor<2x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x4xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.dot_general %z, %y, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
