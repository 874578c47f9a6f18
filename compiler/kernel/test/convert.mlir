// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=to_integers --input=6xf32=-1.75,300.5,-3e9,3e9,nan,-inf --expected_output=6xi8=-1,127,-128,127,0,-128 --expected_output=6xui32=0,300,0,3000000000,0,0 --expected_output=6xi1=true,true,true,true,true,true
// RUN: alula-run %t.alula --function=to_floats --input=3xi64=9007199254740993,-3,2147483649 --expected_output=3xf64=9007199254740992,-3,2147483649 --expected_output=3xf32=9007199254740992,-3,2147483648 --expected_output=3xf16=inf,-3,inf
// RUN: alula-run %t.alula --function=once --input=1xf64=1.0039062500000002 --expected_output=1xbf16=1.0078125
// RUN: alula-run %t.alula --function=between --input=4xi32=-1,200,65536,7 --expected_output=4xui8=255,200,0,7 --expected_output=4xi4=-1,-8,0,7 --expected_output=4xi64=-1,200,65536,7

module {
// Towards zero; what is out of range becomes the nearest integer.
func.func @to_integers(%x: tensor<6xf32>) -> (tensor<6xi8>, tensor<6xui32>, tensor<6xi1>) {
  %0 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xi8>
  %1 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xui32>
  %2 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xi1>
  return %0, %1, %2 : tensor<6xi8>, tensor<6xui32>, tensor<6xi1>
}

func.func @to_floats(%x: tensor<3xi64>) -> (tensor<3xf64>, tensor<3xf32>, tensor<3xf16>) {
  %0 = stablehlo.convert %x : (tensor<3xi64>) -> tensor<3xf64>
  %1 = stablehlo.convert %x : (tensor<3xi64>) -> tensor<3xf32>
  %2 = stablehlo.convert %x : (tensor<3xi64>) -> tensor<3xf16>
  return %0, %1, %2 : tensor<3xf64>, tensor<3xf32>, tensor<3xf16>
}

// By way of f32 this would be rounded to a tie first, and then to 1.
func.func @once(%x: tensor<1xf64>) -> tensor<1xbf16> {
  %0 = stablehlo.convert %x : (tensor<1xf64>) -> tensor<1xbf16>
  return %0 : tensor<1xbf16>
}

func.func @between(%x: tensor<4xi32>) -> (tensor<4xui8>, tensor<4xi4>, tensor<4xi64>) {
  %0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui8>
  %1 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi4>
  %2 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi64>
  return %0, %1, %2 : tensor<4xui8>, tensor<4xi4>, tensor<4xi64>
}
}
