// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input='complex<f32>=(1,5)' --input='4xcomplex<f32>=(0,9),(1,6),(2,0),(3,1)' --input='complex<f32>=(2,1)' --expected_output='4xcomplex<f32>=(1,5),(1,6),(2,0),(2,1)'

// The order is that of the real parts, then that of the imaginary ones.
func.func @main(%low: tensor<complex<f32>>, %x: tensor<4xcomplex<f32>>, %high: tensor<complex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.clamp %low, %x, %high : (tensor<complex<f32>>, tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
