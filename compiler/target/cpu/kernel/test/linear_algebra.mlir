// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=factor --input=3x3xf64=4,12,-16,12,37,-43,-16,-43,98 --expected_output=3x3xf64=2,12,-16,6,1,-43,-8,5,3
// RUN: alula-run %t.alula --function=factor --input=3x3xf64=1,0,0,0,-1,0,0,0,1 --expected_output=3x3xf64=nan,nan,nan,nan,nan,nan,nan,nan,nan
// RUN: alula-run %t.alula --function=solve --input=3x3xf32=2,7,7,6,1,7,-8,5,3 --input=3x2xf32=1,2,3,4,5,6 --expected_output=3x2xf32=0.5,1,0,-2,3,8 --expected_output=3x2xf32=23.1666667,27,-5.33333333,-6,1.66666667,2 --expected_output=3x2xf32=1,2,-3,-8,28,62 --rtol=1e-6
// RUN: alula-run %t.alula --function=qr --input=2x1xf32=3,4 --expected_output=2x1xf32=-5,0.5 --expected_output=1xf32=1.6 --expected_output=2x1xf32=-0.6,-0.8

// The numbers are numpy's and scipy's.
module {
// The other triangle stays what it was.
func.func @factor(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

func.func @solve(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0, %1, %2 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// As LAPACK says it: r above reflectors, their factors, and their product.
func.func @qr(%x: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>, tensor<2x1xf32>) {
  %0:2 = stablehlo.custom_call @Qr(%x) : (tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>)
  %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<2x1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  return %0#0, %0#1, %1 : tensor<2x1xf32>, tensor<1xf32>, tensor<2x1xf32>
}
}
