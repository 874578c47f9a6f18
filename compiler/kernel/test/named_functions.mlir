// RUN: rm -rf %t && mkdir %t
// RUN: alula-compile --target=cpu:host %s -o %t/a.alula --dump-executable-configs-to=%t
// RUN: cat %t/*.config.mlir | FileCheck %s
// RUN: alula-run %t/a.alula --function=erf --input=6xf32=0.25,-1,3,-0,inf,nan --expected_output=6xf32=0.27632639,-0.84270079,0.99997791,-0,1,nan --rtol=3e-7 --atol=0
// RUN: alula-run %t/a.alula --function=erfc --input=6xf32=0.25,-1,3,9.5,-inf,nan --expected_output=6xf32=0.72367361,1.84270079,2.20904970e-05,3.7692e-41,2,nan --rtol=6e-7 --atol=2e-44
// RUN: alula-run %t/a.alula --function=erf_f64 --input=6xf64=0.25,-2,5.9,-0,-inf,nan --expected_output=6xf64=0.27632639016823690,-0.99532226501895273,0.99999999999999993,-0,-1,nan --rtol=1e-15 --atol=0
// RUN: alula-run %t/a.alula --function=erfc_f64 --input=6xf64=0.25,-1,9,26.5,inf,nan --expected_output=6xf64=0.72367360983176310,1.8427007929497149,4.1370317465138098e-37,2.2109076642637343e-307,0,nan --rtol=2e-15 --atol=0
// RUN: alula-run %t/a.alula --function=narrow --input=2xbf16=0.25,-1 --expected_output=2xbf16=0.27632639,-0.84270079 --rtol=4e-3 --atol=0

// The numbers are mpmath's.
module {
// CHECK-DAG: call @alula_erf_f32(%{{.*}}) : (f32) -> f32
func.func @erf(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = chlo.erf %x : tensor<6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-DAG: call @alula_erfc_f32(%{{.*}}) : (f32) -> f32
func.func @erfc(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = chlo.erfc %x : tensor<6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-DAG: call @alula_erf_f64(%{{.*}}) : (f64) -> f64
func.func @erf_f64(%x: tensor<6xf64>) -> tensor<6xf64> {
  %0 = chlo.erf %x : tensor<6xf64> -> tensor<6xf64>
  return %0 : tensor<6xf64>
}

// CHECK-DAG: call @alula_erfc_f64(%{{.*}}) : (f64) -> f64
func.func @erfc_f64(%x: tensor<6xf64>) -> tensor<6xf64> {
  %0 = chlo.erfc %x : tensor<6xf64> -> tensor<6xf64>
  return %0 : tensor<6xf64>
}

// In f32, rounded once.
func.func @narrow(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = chlo.erf %x : tensor<2xbf16> -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}
}
