// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input=6xf32=1.125,1.375,-1.0e9,1e-9,nan,inf --expected_output=6xf32=1,1.5,-inf,0,nan,inf --expected_output=6xf32=1,1,-inf,0,inf,inf

// e5m2 and e5m0; the latter has no NaN.
func.func @main(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = stablehlo.reduce_precision %x, format = e5m2 : tensor<6xf32>
  %1 = stablehlo.reduce_precision %x, format = e5m0 : tensor<6xf32>
  return %0, %1 : tensor<6xf32>, tensor<6xf32>
}
