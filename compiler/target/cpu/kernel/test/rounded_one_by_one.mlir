// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input=2xf32=1.00000012,1.00000012 --input=2xf32=0.99999988,1.00000012 --expected_output=2xf32=0,0
// RUN: alula-run %t.alula --function=conjugate --input='3xcomplex<f32>=(0.1,0.3),(0.7,-1.1),(3.3,0.9)' --expected_output='complex<f32>=(13.5,0)'

// x y - y x is 0, however the first product was rounded: no op of a program
// becomes a part of another one.
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<2xf32>
  %1 = stablehlo.multiply %y, %x : tensor<2xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}

// The product of a vector and its conjugate is real.
func.func @conjugate(%x: tensor<3xcomplex<f32>>) -> tensor<complex<f32>> {
  %re = stablehlo.real %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %im = stablehlo.imag %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %minus = stablehlo.negate %im : tensor<3xf32>
  %y = stablehlo.complex %re, %minus : tensor<3xcomplex<f32>>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}
