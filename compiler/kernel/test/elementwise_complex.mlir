// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=arithmetic --input='3xcomplex<f64>=(1,2),(-0.5,0.25),(0,-3)' --input='3xcomplex<f64>=(2,-1),(0,1),(-1,1)' --expected_output='3xcomplex<f64>=(4,3),(-0.25,-0.5),(3,3)' --expected_output='3xcomplex<f64>=(0,1),(0.25,0.5),(-1.5,1.5)' --expected_output=3xf64=2.23606798,0.559016994,3 --rtol=1e-8 --atol=1e-12
// RUN: alula-run %t.alula --function=functions --input='3xcomplex<f64>=(1,2),(-0.5,0.25),(0,-3)' --expected_output='3xcomplex<f64>=(-1.13120438,2.47172667),(0.58767509,0.150058087),(-0.989992497,-0.141120008)' --expected_output='3xcomplex<f64>=(0.804718956,1.10714872),(-0.581575405,2.67794504),(1.09861229,-1.57079633)' --expected_output='3xcomplex<f64>=(1.27201965,0.786151378),(0.171780375,0.727673345),(1.22474487,-1.22474487)' --expected_output='3xcomplex<f64>=(1.16673626,-0.243458201),(-0.485487281,0.19805545),(0,0.142546543)' --rtol=1e-7 --atol=1e-12
// RUN: alula-run %t.alula --function=power --input='3xcomplex<f64>=(1,2),(-0.5,0.25),(0,-3)' --input='3xcomplex<f64>=(2,0),(0.5,1),(0,-1)' --expected_output='3xcomplex<f64>=(-3,4),(0.0373256279,0.0352917342),(0.0945503714,-0.185132778)' --rtol=1e-7
// RUN: alula-run %t.alula --function=parts --input=2xf32=1,2 --input=2xf32=3,-4 --expected_output='2xcomplex<f32>=(-1,-3),(-2,4)' --expected_output=2xf32=1,2 --expected_output=2xf32=3,-4

// The numbers are numpy's.
module {
func.func @arithmetic(%x: tensor<3xcomplex<f64>>, %y: tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xf64>) {
  %0 = stablehlo.multiply %x, %y : tensor<3xcomplex<f64>>
  %1 = stablehlo.divide %x, %y : tensor<3xcomplex<f64>>
  %2 = stablehlo.abs %x : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  return %0, %1, %2 : tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xf64>
}

func.func @functions(%x: tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) {
  %0 = stablehlo.exponential %x : tensor<3xcomplex<f64>>
  %1 = stablehlo.log %x : tensor<3xcomplex<f64>>
  %2 = stablehlo.sqrt %x : tensor<3xcomplex<f64>>
  %3 = stablehlo.tanh %x : tensor<3xcomplex<f64>>
  return %0, %1, %2, %3 : tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>
}

func.func @power(%x: tensor<3xcomplex<f64>>, %y: tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>> {
  %0 = stablehlo.power %x, %y : tensor<3xcomplex<f64>>
  return %0 : tensor<3xcomplex<f64>>
}

func.func @parts(%re: tensor<2xf32>, %im: tensor<2xf32>) -> (tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.complex %re, %im : tensor<2xcomplex<f32>>
  %1 = stablehlo.negate %0 : tensor<2xcomplex<f32>>
  %2 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %3 = stablehlo.imag %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %1, %2, %3 : tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2xf32>
}
}
