// Every operation of StableHLO, in parts by the lowest version that can say
// them. `needs` is checked: one version below, writing fails.

// needs 0.9.0
// Elementwise, one operand.
func.func @unary(%a: tensor<2x3xi32>) {
  %0 = "stablehlo.abs"(%a) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = "stablehlo.negate"(%a) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = "stablehlo.not"(%a) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %3 = "stablehlo.popcnt"(%a) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = "stablehlo.count_leading_zeros"(%a) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = "stablehlo.sign"(%a) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}
func.func @unary_float(%a: tensor<?x3xf32>) {
  %0 = "stablehlo.cbrt"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = "stablehlo.ceil"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = "stablehlo.cosine"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %3 = "stablehlo.exponential"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %4 = "stablehlo.exponential_minus_one"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %5 = "stablehlo.floor"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %6 = "stablehlo.log"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %7 = "stablehlo.log_plus_one"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %8 = "stablehlo.logistic"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %9 = "stablehlo.round_nearest_afz"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %10 = "stablehlo.round_nearest_even"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %11 = "stablehlo.rsqrt"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %12 = "stablehlo.sine"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %13 = "stablehlo.sqrt"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %14 = "stablehlo.tanh"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %15 = "stablehlo.optimization_barrier"(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %p = "stablehlo.is_finite"(%a) : (tensor<?x3xf32>) -> tensor<?x3xi1>
  %q = "stablehlo.reduce_precision"(%a) {exponent_bits = 5 : i32, mantissa_bits = 10 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}
func.func @complex(%a: tensor<2xf32>, %b: tensor<2xcomplex<f64>>) {
  %0 = "stablehlo.complex"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %1 = "stablehlo.real"(%b) : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  %2 = "stablehlo.imag"(%b) : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  return
}

// -----

// needs 0.9.0
// Elementwise, several operands.
func.func @binary(%a: tensor<4xui8>, %b: tensor<4xui8>) {
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1 = "stablehlo.and"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %2 = "stablehlo.divide"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %3 = "stablehlo.maximum"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %4 = "stablehlo.minimum"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %5 = "stablehlo.multiply"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %6 = "stablehlo.or"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %7 = "stablehlo.power"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %8 = "stablehlo.remainder"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %9 = "stablehlo.shift_left"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %10 = "stablehlo.shift_right_arithmetic"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %11 = "stablehlo.shift_right_logical"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %12 = "stablehlo.subtract"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %13 = "stablehlo.xor"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return
}
func.func @select(%p: tensor<4xi1>, %a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {
  %0 = "stablehlo.atan2"(%a, %b) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %1 = "stablehlo.clamp"(%a, %0, %b) : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %2 = "stablehlo.select"(%p, %0, %1) : (tensor<4xi1>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %3 = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  %4 = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  %5 = "stablehlo.map"(%a, %b) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "stablehlo.return"(%z) : (tensor<f64>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return %2 : tensor<4xf64>
}

// -----

// needs 0.9.0
// Constants of many types, splats and single elements.
func.func @constants() {
  %0 = "stablehlo.constant"() {value = dense<[true, false, true]> : tensor<3xi1>} : () -> tensor<3xi1>
  %1 = "stablehlo.constant"() {value = dense<true> : tensor<20xi1>} : () -> tensor<20xi1>
  %2 = "stablehlo.constant"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %3 = "stablehlo.constant"() {value = dense<[-8, 7, -1]> : tensor<3xi4>} : () -> tensor<3xi4>
  %4 = "stablehlo.constant"() {value = dense<[0, 15]> : tensor<2xui4>} : () -> tensor<2xui4>
  %5 = "stablehlo.constant"() {value = dense<[-128, 127]> : tensor<2xi8>} : () -> tensor<2xi8>
  %6 = "stablehlo.constant"() {value = dense<65535> : tensor<2x2xui16>} : () -> tensor<2x2xui16>
  %7 = "stablehlo.constant"() {value = dense<[18446744073709551615, 0]> : tensor<2xui64>} : () -> tensor<2xui64>
  %8 = "stablehlo.constant"() {value = dense<[1.5, -0.0, 0x7FC0]> : tensor<3xbf16>} : () -> tensor<3xbf16>
  %9 = "stablehlo.constant"() {value = dense<[0x7C00, 0x0001]> : tensor<2xf16>} : () -> tensor<2xf16>
  %10 = "stablehlo.constant"() {value = dense<[[1.0e-45, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %11 = "stablehlo.constant"() {value = dense<4.9e-324> : tensor<f64>} : () -> tensor<f64>
  %12 = "stablehlo.constant"() {value = dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>} : () -> tensor<2xcomplex<f32>>
  %13 = "stablehlo.constant"() {value = dense<(1.0, -2.0)> : tensor<2xcomplex<f64>>} : () -> tensor<2xcomplex<f64>>
  %14 = "stablehlo.constant"() {value = dense<> : tensor<0x3xf32>} : () -> tensor<0x3xf32>
  %15 = "stablehlo.constant"() {value = dense<[0x3C, 0x7B]> : tensor<2xf8E5M2>} : () -> tensor<2xf8E5M2>
  %16 = "stablehlo.constant"() {value = dense<1.0> : tensor<f8E4M3FN>} : () -> tensor<f8E4M3FN>
  return
}

// -----

// needs 0.10.0
func.func @f8_fnuz(%a: tensor<f8E4M3FNUZ>, %b: tensor<f8E5M2FNUZ>) {
  return
}

// -----

// needs 0.11.0
func.func @f8_b11(%a: tensor<f8E4M3B11FNUZ>) {
  return
}

// -----

// needs 1.7.0
func.func @f8_1_7(%a: tensor<f8E4M3>, %b: tensor<f8E3M4>) {
  %0 = "stablehlo.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf8E3M4>} : () -> tensor<2xf8E3M4>
  return
}

// -----

// needs 1.8.0
func.func @narrow_floats(%a: tensor<f8E8M0FNU>, %b: tensor<f6E2M3FN>, %c: tensor<f6E3M2FN>) -> tensor<3xf4E2M1FN> {
  %0 = "stablehlo.constant"() {value = dense<[1.0, 6.0, -0.5]> : tensor<3xf4E2M1FN>} : () -> tensor<3xf4E2M1FN>
  return %0 : tensor<3xf4E2M1FN>
}

// -----

// needs 1.2.0
func.func @two_bits(%a: tensor<ui2>) -> tensor<2xi2> {
  %0 = "stablehlo.constant"() {value = dense<[-2, 1]> : tensor<2xi2>} : () -> tensor<2xi2>
  return %0 : tensor<2xi2>
}

// -----

// needs 0.9.0
// Shapes.
func.func @shape(%a: tensor<2x3xf32>, %f: tensor<f32>) {
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %1 = "stablehlo.broadcast"(%a) {broadcast_sizes = array<i64: 4>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %2 = "stablehlo.broadcast_in_dim"(%a) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x5x3xf32>
  %3 = "stablehlo.concatenate"(%a, %a) {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %4 = "stablehlo.convert"(%a) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %5 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi32>
  %6 = "stablehlo.pad"(%a, %f) {edge_padding_low = array<i64: 0, -1>, edge_padding_high = array<i64: 1, 2>, interior_padding = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  %7 = "stablehlo.reshape"(%a) : (tensor<2x3xf32>) -> tensor<6xf32>
  %8 = "stablehlo.reverse"(%a) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
func.func @dynamic(%a: tensor<?x3xf32>, %s: tensor<2xi64>, %f: tensor<f32>, %i: tensor<i32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %s) {broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = "stablehlo.dynamic_iota"(%s) {iota_dimension = 0 : i64} : (tensor<2xi64>) -> tensor<?x?xi32>
  %2 = "stablehlo.dynamic_pad"(%a, %f, %s, %s, %s) : (tensor<?x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %3 = "stablehlo.dynamic_reshape"(%a, %s) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %4 = "stablehlo.get_dimension_size"(%a) {dimension = 0 : i64} : (tensor<?x3xf32>) -> tensor<i32>
  %5 = "stablehlo.real_dynamic_slice"(%a, %s, %s, %s) : (tensor<?x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}
func.func @bounded(%a: tensor<?x3xf32, #stablehlo.bounds<8, ?>>, %i: tensor<i32>) {
  %0 = "stablehlo.set_dimension_size"(%a, %i) {dimension = 0 : i64} : (tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<8, ?>>
  return
}

// -----

// needs 0.9.0
// Slices, gather and scatter without batching dimensions.
func.func @slices(%a: tensor<4x5xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>, %n: tensor<2x1xi32>, %v: tensor<2x5xf32>, %w: tensor<2xi64>) {
  %0 = "stablehlo.slice"(%a) {start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 5>, strides = array<i64: 2, 1>} : (tensor<4x5xf32>) -> tensor<2x4xf32>
  %1 = "stablehlo.dynamic_slice"(%a, %i, %i) {slice_sizes = array<i64: 2, 2>} : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %2 = "stablehlo.dynamic_update_slice"(%a, %u, %i, %i) : (tensor<4x5xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  %3 = "stablehlo.gather"(%a, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = true} : (tensor<4x5xf32>, tensor<2x1xi32>) -> tensor<2x5xf32>
  %4 = "stablehlo.dynamic_gather"(%a, %n, %w) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x5xf32>, tensor<2x1xi32>, tensor<2xi64>) -> tensor<2x?xf32>
  %5 = "stablehlo.scatter"(%a, %n, %v) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "stablehlo.return"(%y) : (tensor<f32>) -> ()
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true} : (tensor<4x5xf32>, tensor<2x1xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %6 = "stablehlo.torch_index_select"(%a, %w) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<4x5xf32>, tensor<2xi64>) -> tensor<2x5xf32>
  return
}

// -----

// needs 1.1.0
func.func @batched_gather(%a: tensor<3x4x5xf32>, %n: tensor<3x2x1xi32>) -> tensor<3x2x5xf32> {
  %0 = "stablehlo.gather"(%a, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>} : (tensor<3x4x5xf32>, tensor<3x2x1xi32>) -> tensor<3x2x5xf32>
  return %0 : tensor<3x2x5xf32>
}

// -----

// needs 1.1.0
func.func @batched_scatter(%a: tensor<3x4xf32>, %n: tensor<3x2x1xi32>, %u: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.scatter"(%a, %n, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>} : (tensor<3x4xf32>, tensor<3x2x1xi32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// needs 0.9.0
// Reductions and windows.
func.func @reduce(%a: tensor<4x6xf32>, %f: tensor<f32>, %u: tensor<2x3xf32>, %i: tensor<4x6xi32>) {
  %0 = "stablehlo.reduce"(%a, %f) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce_window"(%a, %f) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = "stablehlo.select_and_scatter"(%a, %u, %f) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%z) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %3:2 = "stablehlo.sort"(%a, %i) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %v: tensor<i32>, %w: tensor<i32>):
    %z = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%z) : (tensor<i1>) -> ()
  }) {dimension = 0 : i64, is_stable = true} : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  return
}
func.func @batch_norm(%a: tensor<2x3xf32>, %s: tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a, %s, %s, %s, %a) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %1 = "stablehlo.batch_norm_inference"(%a, %s, %s, %s, %s) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2:3 = "stablehlo.batch_norm_training"(%a, %s, %s) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

// needs 0.17.0
func.func @promoting_reduce(%a: tensor<4xf32>, %f: tensor<f32>) -> tensor<f64> {
  %0 = "stablehlo.reduce"(%a, %f) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "stablehlo.return"(%z) : (tensor<f64>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f64>
  return %0 : tensor<f64>
}

// -----

// needs 0.9.0
// Products, convolutions, linear algebra.
func.func @dots(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %m: tensor<3x4xf32>, %n: tensor<4x5xf32>) {
  %0 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = "stablehlo.dot"(%m, %n) {precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %2 = "stablehlo.einsum"(%m, %n) {einsum_config = "ab,bc->ac"} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %3 = "stablehlo.unary_einsum"(%m) {einsum_config = "ab->a"} : (tensor<3x4xf32>) -> tensor<3xf32>
  return
}
func.func @convolutions(%a: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x8xf32>, %p: tensor<2x2xi32>) {
  %0 = "stablehlo.convolution"(%a, %k) {window_strides = array<i64: 2, 1>, padding = dense<1> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 2>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, true>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x8xf32>) -> tensor<1x4x15x8xf32>
  %1 = "stablehlo.dynamic_conv"(%a, %k, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x8xf32>, tensor<2x2xi32>) -> tensor<1x?x?x8xf32>
  return
}
func.func @linear_algebra(%a: tensor<4x4xf32>, %b: tensor<4x2xf32>, %c: tensor<3x9xcomplex<f32>>) {
  %0 = "stablehlo.cholesky"(%a) {lower = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = "stablehlo.fft"(%c) {fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 16>} : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
  return
}

// -----

// needs 1.6.0
func.func @dot_algorithm(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// needs 0.9.0
// Control flow, tuples, tokens, infeed and outfeed.
func.func private @callee(%a: tensor<f32> {some.fact = "x"}) -> (tensor<f32> {some.number = 3 : i64})
func.func @control(%p: tensor<i1>, %i: tensor<i32>, %a: tensor<f32>) -> tensor<f32> attributes {some.list = [1 : i8, 2.5 : f64, true, "text", f32, {k = dense<1> : tensor<2xindex>}]} {
  %0 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }, {
    %b = "stablehlo.negate"(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<i1>) -> tensor<f32>
  %1 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%0) : (tensor<f32>) -> ()
  }, {
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }, {
    "stablehlo.return"(%0) : (tensor<f32>) -> ()
  }) : (tensor<i32>) -> tensor<f32>
  %2:2 = "stablehlo.while"(%i, %1) ({
  ^bb0(%x: tensor<i32>, %y: tensor<f32>):
    %c = "stablehlo.compare"(%x, %i) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<i32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%y, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%x, %z) : (tensor<i32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %3 = func.call @callee(%2#1) : (tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
func.func @tuples(%a: tensor<f32>, %t: tuple<tensor<f32>, tuple<tensor<i1>>>) -> tensor<f32> {
  %0 = "stablehlo.tuple"(%a, %a) : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %1 = "stablehlo.get_tuple_element"(%t) {index = 0 : i32} : (tuple<tensor<f32>, tuple<tensor<i1>>>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @tokens(%a: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.create_token"() : () -> !stablehlo.token
  %1 = "stablehlo.after_all"(%0, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  %2:2 = "stablehlo.infeed"(%1) {infeed_config = "in", layout = [[1, 0]]} : (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
  %3 = "stablehlo.outfeed"(%a, %2#1) {outfeed_config = "out"} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %4 = "stablehlo.send"(%a, %3) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %5:2 = "stablehlo.recv"(%4) {channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %5#1 : !stablehlo.token
}

// -----

// needs 1.12.0
func.func @transfer_pairs(%a: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %1:2 = "stablehlo.recv"(%0) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %1#1 : !stablehlo.token
}

// -----

// needs 0.9.0
// Random numbers.
func.func @random(%a: tensor<f32>, %s: tensor<2xi64>, %k: tensor<2xui64>) {
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1:2 = "stablehlo.rng_bit_generator"(%k) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  return
}

// -----

// needs 0.9.0
// Collectives with one operand.
func.func @collectives(%a: tensor<4x4xf32>) {
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 0>, use_global_device_ids} : (tensor<4x4xf32>) -> tensor<4x8xf32>
  %1 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.all_to_all"(%a) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<8x2xf32>
  %3 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "stablehlo.reduce_scatter"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %5 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = "stablehlo.partition_id"() : () -> tensor<ui32>
  %7 = "stablehlo.replica_id"() : () -> tensor<ui32>
  return
}

// -----

// needs 0.16.0
func.func @collective_broadcast(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_broadcast"(%a) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// needs 1.5.0
func.func @all_reduce_two(%a: tensor<4xf32>) {
  %0:2 = "stablehlo.all_reduce"(%a, %a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// needs 1.5.0
func.func @all_gather_two(%a: tensor<4xf32>) {
  %0:2 = "stablehlo.all_gather"(%a, %a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// needs 1.5.0
func.func @all_to_all_two(%a: tensor<4xf32>) {
  %0:2 = "stablehlo.all_to_all"(%a, %a) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// needs 1.19.0
func.func @collective_reduce(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// needs 1.16.0
func.func @mesh_groups(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// needs 0.9.0
// Custom calls and quantized types.
func.func private @f(tensor<f32>) -> tensor<f32>
func.func @custom(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "t", has_side_effect = true, backend_config = "opaque", api_version = 2 : i32, called_computations = [@f], operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], some.extra = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.custom_call"(%a) {call_target_name = "plain"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func @quantized(%a: tensor<2x!quant.uniform<i8:f32, 0.5:-3>>, %f: tensor<2xf32>) {
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5:-3>>) -> tensor<2xf32>
  %1 = "stablehlo.uniform_quantize"(%f) : (tensor<2xf32>) -> tensor<2x!quant.uniform<u8<1:254>:f32, 2.0:5>>
  return
}

// -----

// needs 0.18.0
func.func @per_axis(%a: tensor<2x!quant.uniform<i8<-127:127>:f32:0, {0.5:1, 0.25:-2}>>) -> tensor<2xf32> {
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2x!quant.uniform<i8<-127:127>:f32:0, {0.5:1, 0.25:-2}>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// needs 1.3.0
func.func @typed_call(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "ffi", api_version = 4 : i32, backend_config = {flag = true, n = 3 : i64}} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// needs 1.18.0
func.func @tilings(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "tiled", operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], result_tilings = [[dense<[4, 4]> : tensor<2xindex>]]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// needs 1.13.0
func.func @buffers(%a: memref<2xf32>) -> memref<2xf32> {
  return %a : memref<2xf32>
}

// -----

// needs 1.15.0
func.func @async(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %1 = "stablehlo.all_reduce"(%b) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%z) : (tensor<f32>) -> ()
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// needs 0.19.0
func.func private @decomposition(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
func.func @composite(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.composite"(%a) {name = "my.op", composite_attributes = {n = 1 : i64}, decomposition = @decomposition, version = 3 : i32} : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.composite"(%a) {name = "my.op", decomposition = @decomposition} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// needs 1.4.0
func.func @tan(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.tan"(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// needs 1.9.0
func.func @exact_exponential(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.exponential"(%a) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-3, rtol = 0.0, ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// needs 1.10.0
func.func @exact_others(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.cbrt"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.cosine"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.exponential_minus_one"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.log"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %4 = "stablehlo.log_plus_one"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %5 = "stablehlo.logistic"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %6 = "stablehlo.rsqrt"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %7 = "stablehlo.sine"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %8 = "stablehlo.sqrt"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %9 = "stablehlo.tan"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  %10 = "stablehlo.tanh"(%a) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// needs 1.20.0
func.func @dynamic_root(%a: tensor<4xf32>, %r: tensor<1xi32>) -> tensor<4xf32> {
  %0:2 = "stablehlo.collective_broadcast"(%a, %a) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}
