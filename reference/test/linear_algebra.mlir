// Products, transforms and factorizations; numbers from NumPy, LAPACK and JAX.
// RUN: alula-interpret %s --split-input-file --print=none

func.func @main() {
  %a = stablehlo.constant dense<[[4.0, 2.0, 0.0], [2.0, 5.0, 3.0], [0.0, 3.0, 6.0]]> : tensor<3x3xf64>
  %l = stablehlo.cholesky %a, lower = true : tensor<3x3xf64>
  check.expect_almost_eq_const %l, dense<[[2.0, 2.0, 0.0], [1.0, 2.0, 3.0], [0.0, 1.5, 1.9364916731037085]]> : tensor<3x3xf64>, tolerance = 1.0e-15
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[2.0, 4.0], [9.0, 10.0]]> : tensor<2x2xf32>
  %x = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %x, dense<[[1.0, 2.0], [2.0, 2.0]]> : tensor<2x2xf32>
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0)]> : tensor<5xcomplex<f64>>
  %f = stablehlo.fft %a, type = FFT, length = [5] : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  check.expect_almost_eq_const %f, dense<[(15.0, 0.0), (-2.5, 3.4409548011779334), (-2.5, 0.81229924058226588), (-2.5, -0.81229924058226588), (-2.5, -3.4409548011779334)]> : tensor<5xcomplex<f64>>, tolerance = 1.0e-15
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %f = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  check.expect_eq_const %f, dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.fft %f, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  check.expect_eq %b, %a : tensor<4xf32>
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<[[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]]> : tensor<3x2xf64>
  %qr:2 = stablehlo.custom_call @Qr(%a) : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %qr#0, dense<[[-5.0, -2.2], [0.5, -2.0396078054371138], [0.0, 0.81980390271855696]]> : tensor<3x2xf64>, tolerance = 1.0e-14
  check.expect_almost_eq_const %qr#1, dense<[1.6, 1.1961161351381841]> : tensor<2xf64>, tolerance = 1.0e-14
  return
}

// -----

func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<16xf32>
  %x = stablehlo.reshape %i : (tensor<16xf32>) -> tensor<1x1x4x4xf32>
  %k = stablehlo.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %y = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {stride = [2, 1], pad = [[1, 0], [0, 1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x7xf32>
  check.expect_eq_const %y, dense<[[[[12.0, 20.0, 15.0, 24.0, 18.0, 28.0, 21.0], [40.0, 62.0, 44.0, 68.0, 48.0, 74.0, 52.0]]]]> : tensor<1x1x2x7xf32>
  return
}
