// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=complex --input='4xcomplex<f64>=(1,1),(2,0),(0,-1),(3.5,0)' --expected_output='4xcomplex<f64>=(6.5,0),(1,3.5),(-4.5,0),(1,0.5)' --expected_output='4xcomplex<f64>=(1.625,0),(0.25,0.125),(-1.125,0),(0.25,0.875)' --atol=1e-12
// RUN: alula-run %t.alula --function=real --input=4xf32=1,2,-1,0.5 --expected_output='3xcomplex<f32>=(2.5,0),(2,-1.5),(-2.5,0)' --atol=1e-6
// RUN: alula-run %t.alula --function=inverse --input='3xcomplex<f32>=(2,0),(1,-1),(0.5,0)' --expected_output=4xf32=1.125,0.875,0.125,-0.125 --expected_output=3xf32=1.33333333,0.910683603,-0.244016936 --atol=1e-6
// RUN: alula-run %t.alula --function=plane --input='2x3xcomplex<f32>=(1,0),(2,0),(3,0),(4,0),(5,0),(7,0)' --expected_output='2x3xcomplex<f32>=(22,0),(-3.5,2.59807621),(-3.5,-2.59807621),(-10,0),(0.5,-0.866025404),(0.5,0.866025404)' --atol=1e-5

// The plan is a constant: nothing is computed for it when the program runs. What
// two transforms have in common is there once.
// RUN: rm -rf %t.stages
// RUN: alula-compile --target=cpu:x86-64-v3 %s --dump-executable-configs-to=%t.stages -o %t.other
// RUN: cat %t.stages/* | FileCheck %s
// CHECK-DAG: memref.global "private" constant @fft_plan_0_16_4_of_1 : memref
// CHECK-DAG: memref.global "private" constant @fft_plan_1_16_4_of_1 : memref
// CHECK-DAG: memref.global "private" constant @fft_plan_2_8_4_of_1 : memref
// CHECK-DAG: memref.global "private" constant @fft_plan_0_8_2_3_of_1 : memref

// The numbers are numpy's.
module {
func.func @complex(%x: tensor<4xcomplex<f64>>) -> (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  %1 = stablehlo.fft %x, type = IFFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  return %0, %1 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
}

func.func @real(%x: tensor<4xf32>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// To an even and to an odd length.
func.func @inverse(%x: tensor<3xcomplex<f32>>) -> (tensor<4xf32>, tensor<3xf32>) {
  %0 = stablehlo.fft %x, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  %part = stablehlo.slice %x [0:2] : (tensor<3xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %1 = stablehlo.fft %part, type = IRFFT, length = [3] : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}

func.func @plane(%x: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [2, 3] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  return %0 : tensor<2x3xcomplex<f32>>
}
}
