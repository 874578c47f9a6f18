// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// Shapes are those of numpy.fft.
// CHECK-LABEL: @transforms
// CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
// CHECK: stablehlo.fft %{{.*}}, type = IFFT, length = [3, 9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
// CHECK: stablehlo.fft %{{.*}}, type = RFFT, length = [9] : (tensor<?x9xf64>) -> tensor<?x5xcomplex<f64>>
// CHECK: stablehlo.fft %{{.*}}, type = IRFFT, length = [3, 17] : (tensor<3x9xcomplex<f32>>) -> tensor<3x17xf32>
// CHECK: stablehlo.fft %{{.*}}, type = RFFT, length = [0] : (tensor<0xf32>) -> tensor<0xcomplex<f32>>
func.func @transforms(%x: tensor<3x9xcomplex<f32>>, %y: tensor<?x9xf64>, %z: tensor<0xf32>) {
  %0 = stablehlo.fft %x, type = FFT, length = [9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
  %1 = stablehlo.fft %x, type = IFFT, length = [3, 9] : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
  %2 = stablehlo.fft %y, type = RFFT, length = [9] : (tensor<?x9xf64>) -> tensor<?x5xcomplex<f64>>
  %3 = stablehlo.fft %x, type = IRFFT, length = [3, 17] : (tensor<3x9xcomplex<f32>>) -> tensor<3x17xf32>
  %4 = stablehlo.fft %z, type = RFFT, length = [0] : (tensor<0xf32>) -> tensor<0xcomplex<f32>>
  return
}

// CHECK-LABEL: @factored
// CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<2x4x4xf32>
// CHECK: stablehlo.cholesky %{{.*}} : tensor<?x?xcomplex<f64>>
func.func @factored(%x: tensor<2x4x4xf32>, %y: tensor<?x?xcomplex<f64>>) {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x4x4xf32>
  %1 = stablehlo.cholesky %y : tensor<?x?xcomplex<f64>>
  return
}

// CHECK-LABEL: @solved
// CHECK: "stablehlo.triangular_solve"({{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
// CHECK: "stablehlo.triangular_solve"({{.*}}) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x4x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
func.func @solved(%a: tensor<2x4x4xf32>, %b: tensor<2x4x3xf32>, %c: tensor<?x3x4xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}>
      : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %1 = "stablehlo.triangular_solve"(%a, %c) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}>
      : (tensor<2x4x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  return
}

// CHECK-LABEL: @solved_quantized
// CHECK: "stablehlo.triangular_solve"({{.*}}) -> tensor<2x1x!quant.uniform<i8:f32, 2.500000e-01>>
func.func @solved_quantized(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x1x!quant.uniform<i8:f32, 0.5>>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}>
      : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x1x!quant.uniform<i8:f32, 0.25>>
  return
}
