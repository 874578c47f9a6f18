// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input='3xcomplex<f64>=(0,0),(0,1),(-2,0)' --expected_output=3xi1=false,false,true --expected_output=3xf16=0,0,-2
// RUN: alula-run %t.alula --function=back --input=2xi1=true,false --expected_output='2xcomplex<f32>=(1,0),(0,0)'

// The imaginary part is left out, and put in as zero.
func.func @main(%x: tensor<3xcomplex<f64>>) -> (tensor<3xi1>, tensor<3xf16>) {
  %0 = stablehlo.convert %x : (tensor<3xcomplex<f64>>) -> tensor<3xi1>
  %1 = stablehlo.convert %x : (tensor<3xcomplex<f64>>) -> tensor<3xf16>
  return %0, %1 : tensor<3xi1>, tensor<3xf16>
}

func.func @back(%x: tensor<2xi1>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.convert %x : (tensor<2xi1>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
