// RUN: alula-interpret --split-input-file --print=none %s
// RUN: alula-interpret --split-input-file --print=none --passes=input-lower-deprecated,input-lower-quantized %s

// The values come from NumPy and ml_dtypes, which know nothing of quantized
// types: the specification's formulas in the expressed type.

// Half-way cases round to even after the zero point is added.
func.func @ties() {
  %x = stablehlo.constant dense<[0.5, 1.5, 2.5, -0.5]> : tensor<4xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.0:1>>
  %s = stablehlo.bitcast_convert %q : (tensor<4x!quant.uniform<i8:f32, 1.0:1>>) -> tensor<4xi8>
  check.expect_eq_const %s, dense<[2, 2, 4, 0]> : tensor<4xi8>
  return
}

// -----

func.func @narrow_range() {
  %x = stablehlo.constant dense<[1.0e9, 0xFF800000, 0x7FC00000, 3.25, -7.75]> : tensor<5xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<5xf32>) -> tensor<5x!quant.uniform<i8<-100:100>:f32, 0.5:3>>
  %s = stablehlo.bitcast_convert %q : (tensor<5x!quant.uniform<i8<-100:100>:f32, 0.5:3>>) -> tensor<5xi8>
  check.expect_eq_const %s, dense<[100, -100, 0, 10, -12]> : tensor<5xi8>
  return
}

// -----

// A NaN is the nearest to the integer zero that the range has.
func.func @range_without_zero() {
  %x = stablehlo.constant dense<[0x7FC00000, 0.0, 50.0, 1.0e6]> : tensor<4xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8<10:200>:f32, 0.5:20>>
  %s = stablehlo.bitcast_convert %q : (tensor<4x!quant.uniform<u8<10:200>:f32, 0.5:20>>) -> tensor<4xui8>
  check.expect_eq_const %s, dense<[10, 20, 120, 200]> : tensor<4xui8>
  return
}

// -----

func.func @four_bits() {
  %x = stablehlo.constant dense<[-9.0, -1.3, 2.5, 9.0]> : tensor<4xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i4:f32, 1.0:-1>>
  %s = stablehlo.bitcast_convert %q : (tensor<4x!quant.uniform<i4:f32, 1.0:-1>>) -> tensor<4xi4>
  check.expect_eq_const %s, dense<[-8, -2, 2, 7]> : tensor<4xi4>
  return
}

// -----

// f32 can't say the largest value of 32 bits.
func.func @wide_storage() {
  %x = stablehlo.constant dense<[1.0e10, -1.0e10, 1.5]> : tensor<3xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i32:f32, 1.0>>
  %s = stablehlo.bitcast_convert %q : (tensor<3x!quant.uniform<i32:f32, 1.0>>) -> tensor<3xi32>
  check.expect_eq_const %s, dense<[2147483647, -2147483648, 2]> : tensor<3xi32>
  %n = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i32<-2147483647:2147483645>:f32, 1.0>>
  %m = stablehlo.bitcast_convert %n : (tensor<3x!quant.uniform<i32<-2147483647:2147483645>:f32, 1.0>>) -> tensor<3xi32>
  check.expect_eq_const %m, dense<[2147483645, -2147483647, 2]> : tensor<3xi32>
  %y = stablehlo.constant dense<[1.0e10, -5.0, 7.0]> : tensor<3xf32>
  %u = stablehlo.uniform_quantize %y : (tensor<3xf32>) -> tensor<3x!quant.uniform<u32:f32, 1.0:1>>
  %v = stablehlo.bitcast_convert %u : (tensor<3x!quant.uniform<u32:f32, 1.0:1>>) -> tensor<3xui32>
  check.expect_eq_const %v, dense<[4294967295, 0, 8]> : tensor<3xui32>
  return
}

// -----

// The difference to the zero point needs 33 bits.
func.func @wide_difference() {
  %q = stablehlo.constant() <{value = dense<[2147483647, -2147483648, 5]> : tensor<3xi32>}> : () -> tensor<3x!quant.uniform<i32:f32, 1.0:-1>>
  %x = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i32:f32, 1.0:-1>>) -> tensor<3xf32>
  check.expect_eq_const %x, dense<[2147483648.0, -2147483648.0, 6.0]> : tensor<3xf32>
  return
}

// -----

// The sum of 1.296875 and -128 rounds to -126.5 in bf16.
func.func @small_float() {
  %x = stablehlo.constant dense<[1.296875, 100.0, -3.0]> : tensor<3xbf16>
  %q = stablehlo.uniform_quantize %x : (tensor<3xbf16>) -> tensor<3x!quant.uniform<i8:bf16, 1.0:-128>>
  %s = stablehlo.bitcast_convert %q : (tensor<3x!quant.uniform<i8:bf16, 1.0:-128>>) -> tensor<3xi8>
  check.expect_eq_const %s, dense<[-126, -28, -128]> : tensor<3xi8>
  %c = stablehlo.constant() <{value = dense<[127, -128, 3]> : tensor<3xi8>}> : () -> tensor<3x!quant.uniform<i8:bf16, 0.3:-128>>
  %y = stablehlo.uniform_dequantize %c : (tensor<3x!quant.uniform<i8:bf16, 0.3:-128>>) -> tensor<3xbf16>
  check.expect_eq_const %y, dense<[76.5, 0.0, 39.5]> : tensor<3xbf16>
  return
}

// -----

func.func @per_axis() {
  %x = stablehlo.constant dense<[[4.0, 15.0, 1.0], [-4.0, 0.3, 100.0]]> : tensor<2x3xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20, 2.0}>>
  %s = stablehlo.bitcast_convert %q : (tensor<2x3x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20, 2.0}>>) -> tensor<2x3xi8>
  check.expect_eq_const %s, dense<[[10, 10, 0], [-70, -19, 50]]> : tensor<2x3xi8>
  return
}

// -----

func.func @sub_channel() {
  %q = stablehlo.constant() <{value = dense<[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [-1, -2, -3, -4, -5, -6], [127, -128, 0, 1, 2, 3]]> : tensor<4x6xi8>}>
      : () -> tensor<4x6x!quant.uniform<i8:f32:{0:2, 1:3}, {{1.0:1, 2.0}, {3.0, 4.0:-7}}>>
  %x = stablehlo.uniform_dequantize %q : (tensor<4x6x!quant.uniform<i8:f32:{0:2, 1:3}, {{1.0:1, 2.0}, {3.0, 4.0:-7}}>>) -> tensor<4x6xf32>
  check.expect_eq_const %x, dense<[[0.0, 1.0, 2.0, 8.0, 10.0, 12.0], [6.0, 7.0, 8.0, 20.0, 22.0, 24.0], [-3.0, -6.0, -9.0, 12.0, 8.0, 4.0], [381.0, -384.0, 0.0, 32.0, 36.0, 40.0]]> : tensor<4x6xf32>
  return
}

// -----

func.func @add_and_select() {
  %a = stablehlo.constant() <{value = dense<[10, -100, 50]> : tensor<3xi8>}> : () -> tensor<3x!quant.uniform<i8:f32, 0.1:-30>>
  %b = stablehlo.constant() <{value = dense<[5, 7, -20]> : tensor<3xi8>}> : () -> tensor<3x!quant.uniform<i8:f32, 0.5:-20>>
  %sum = stablehlo.add %a, %b : (tensor<3x!quant.uniform<i8:f32, 0.1:-30>>, tensor<3x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<3x!quant.uniform<i8:f32, 0.25:-40>>
  %s = stablehlo.bitcast_convert %sum : (tensor<3x!quant.uniform<i8:f32, 0.25:-40>>) -> tensor<3xi8>
  check.expect_eq_const %s, dense<[26, -14, -8]> : tensor<3xi8>
  %p = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %one = "stablehlo.select"(%p, %a, %b) : (tensor<3xi1>, tensor<3x!quant.uniform<i8:f32, 0.1:-30>>, tensor<3x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<3x!quant.uniform<i8:f32, 0.25>>
  %t = stablehlo.bitcast_convert %one : (tensor<3x!quant.uniform<i8:f32, 0.25>>) -> tensor<3xi8>
  check.expect_eq_const %t, dense<[16, 54, 32]> : tensor<3xi8>
  return
}

// -----

func.func @iota() {
  %i = stablehlo.iota dim = 0 : tensor<5x!quant.uniform<i8:f32, 0.5:-3>>
  %s = stablehlo.bitcast_convert %i : (tensor<5x!quant.uniform<i8:f32, 0.5:-3>>) -> tensor<5xi8>
  check.expect_eq_const %s, dense<[-3, -1, 1, 3, 5]> : tensor<5xi8>
  return
}

// -----

func.func @dot() {
  %a = stablehlo.constant() <{value = dense<[[10, -100], [50, 3]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 0.1:-30>>
  %b = stablehlo.constant() <{value = dense<[[5, 7], [-20, 9]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.1:-30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.75:1>>
  %s = stablehlo.bitcast_convert %p : (tensor<2x2x!quant.uniform<i8:f32, 0.75:1>>) -> tensor<2x2xi8>
  check.expect_eq_const %s, dense<[[108, -22], [-16, 58]]> : tensor<2x2xi8>
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32>
  %h = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf32>
  check.expect_eq_const %h, dense<[[-17.5, 12.5], [47.5, -7.5]]> : tensor<2x2xf32>
  return
}

// -----

// Each step of the region is quantized.
func.func @reduce() {
  %a = stablehlo.constant() <{value = dense<[10, 100, 90, -128]> : tensor<4xi8>}> : () -> tensor<4x!quant.uniform<i8:f32, 0.1:5>>
  %z = stablehlo.constant() <{value = dense<5> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 0.1:5>>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
      : (tensor<4x!quant.uniform<i8:f32, 0.1:5>>, tensor<!quant.uniform<i8:f32, 0.1:5>>) -> tensor<!quant.uniform<i8:f32, 0.1:5>>
  %s = stablehlo.bitcast_convert %r : (tensor<!quant.uniform<i8:f32, 0.1:5>>) -> tensor<i8>
  check.expect_eq_const %s, dense<-6> : tensor<i8>
  return
}

// -----

func.func @requantize() {
  %a = stablehlo.constant() <{value = dense<[10, -128, 127, 3]> : tensor<4xi8>}> : () -> tensor<4x!quant.uniform<i8:f32, 0.1:-30>>
  %b = stablehlo.uniform_quantize %a : (tensor<4x!quant.uniform<i8:f32, 0.1:-30>>) -> tensor<4x!quant.uniform<u8:f32, 0.25:7>>
  %s = stablehlo.bitcast_convert %b : (tensor<4x!quant.uniform<u8:f32, 0.25:7>>) -> tensor<4xui8>
  check.expect_eq_const %s, dense<[23, 0, 70, 20]> : tensor<4xui8>
  return
}

// -----

// [[2, 0], [1, 4]] x = [4, 10].
func.func @triangular_solve() {
  %a = stablehlo.constant() <{value = dense<[[4, 0], [2, 8]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %b = stablehlo.constant() <{value = dense<[[9], [21]]> : tensor<2x1xi8>}> : () -> tensor<2x1x!quant.uniform<i8:f32, 0.5:1>>
  %x = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>
      : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x1x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x1x!quant.uniform<i8:f32, 0.25:-3>>
  %s = stablehlo.bitcast_convert %x : (tensor<2x1x!quant.uniform<i8:f32, 0.25:-3>>) -> tensor<2x1xi8>
  check.expect_eq_const %s, dense<[[5], [5]]> : tensor<2x1xi8>
  return
}

// -----

// 1 * 3 + 2 * 5 = 13, which is 6.5 scales.
func.func @einsum() {
  %a = stablehlo.constant() <{value = dense<[[2, 4]]> : tensor<1x2xi8>}> : () -> tensor<1x2x!quant.uniform<i8:f32, 0.5>>
  %b = stablehlo.constant() <{value = dense<[[4], [6]]> : tensor<2x1xi8>}> : () -> tensor<2x1x!quant.uniform<i8:f32, 1.0:1>>
  %p = stablehlo.einsum %a, %b, config = "ab,bc->ac"
      : (tensor<1x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x1x!quant.uniform<i8:f32, 1.0:1>>) -> tensor<1x1x!quant.uniform<i8:f32, 2.0>>
  %s = stablehlo.bitcast_convert %p : (tensor<1x1x!quant.uniform<i8:f32, 2.0>>) -> tensor<1x1xi8>
  check.expect_eq_const %s, dense<6> : tensor<1x1xi8>
  return
}
