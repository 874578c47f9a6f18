// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input='4xcomplex<f32>=(1,2),(1,3),(0,9),(nan,0)' --input='4xcomplex<f32>=(1,2),(1,2),(1,0),(nan,0)' --expected_output=4xi1=false,false,true,false --expected_output=4xi1=true,true,false,false --expected_output=4xi1=false,true,true,true

// LT, GE, NE, in lexicographic order.
func.func @main(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = stablehlo.compare LT, %x, %y : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  %1 = stablehlo.compare GE, %x, %y : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  %2 = stablehlo.compare NE, %x, %y : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
