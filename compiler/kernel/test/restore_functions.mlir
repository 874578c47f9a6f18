// RUN: rm -rf %t && mkdir %t
// RUN: alula-compile --target=cpu:host %s -o %t/a.alula --dump-executable-configs-to=%t
// RUN: cat %t/*.config.mlir | FileCheck %s
// RUN: alula-run %t/a.alula --function=erf --input=6xf32=0.25,-1,3,-0,inf,nan --expected_output=6xf32=0.27632639,-0.84270079,0.99997791,-0,1,nan --rtol=3e-7 --atol=0
// RUN: alula-run %t/a.alula --function=erfc --input=6xf32=0.25,-1,3,9.5,-inf,nan --expected_output=6xf32=0.72367361,1.84270079,2.20904970e-05,3.7692e-41,2,nan --rtol=6e-7 --atol=2e-44
// RUN: alula-run %t/a.alula --function=erf_f64 --input=f64=0.25 --expected_output=f64=0.2763263901682369

// The numbers are scipy's. The library has no erf of f64.
module {
// CHECK-DAG: call @alula_erf_f32(%{{.*}}) : (f32) -> f32
// CHECK-NOT: alula_exp_f32
func.func @erf(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = chlo.erf %x : tensor<6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-DAG: call @alula_erfc_f32(%{{.*}}) : (f32) -> f32
func.func @erfc(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = chlo.erfc %x : tensor<6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

func.func @erf_f64(%x: tensor<f64>) -> tensor<f64> {
  %0 = chlo.erf %x : tensor<f64> -> tensor<f64>
  return %0 : tensor<f64>
}
}
