// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=divide --input=6xi8=7,-7,7,-7,-128,5 --input=6xi8=2,2,-2,-2,-1,0 --expected_output=6xi8=3,-3,-3,3,-128,-1 --expected_output=6xi8=1,-1,1,-1,0,5
// RUN: alula-run %t.alula --function=divide_unsigned --input=3xui16=65535,7,9 --input=3xui16=2,8,0 --expected_output=3xui16=32767,0,65535 --expected_output=3xui16=1,7,9
// RUN: alula-run %t.alula --function=shift --input=4xi32=-8,1,-1,3 --input=4xi32=1,31,32,-1 --expected_output=4xi32=-16,-2147483648,0,0 --expected_output=4xi32=-4,0,-1,0 --expected_output=4xi32=2147483644,0,0,0
// RUN: alula-run %t.alula --function=bits --input=4xui32=0,1,255,2147483648 --expected_output=4xui32=32,31,24,0 --expected_output=4xui32=0,1,8,1 --expected_output=4xui32=4294967295,4294967294,4294967040,2147483647
// RUN: alula-run %t.alula --function=power --input=6xi64=3,-2,1,-1,5,0 --input=6xi64=4,63,-9,-3,-2,0 --expected_output=6xi64=81,-9223372036854775808,1,-1,0,1
// RUN: alula-run %t.alula --function=narrow --input=4xi4=7,-8,5,-1 --input=4xi4=1,1,-3,-1 --expected_output=4xi4=-8,-7,2,-2 --expected_output=4xi4=7,-8,1,1 --expected_output=4xi1=false,true,false,false
// RUN: alula-run %t.alula --function=truth --input=4xi1=true,true,false,false --input=4xi1=true,false,true,false --expected_output=4xi1=true,true,true,false --expected_output=4xi1=true,false,false,false --expected_output=4xi1=false,false,true,false

module {
// By zero all bits are set, and the rest is the dividend.
func.func @divide(%x: tensor<6xi8>, %y: tensor<6xi8>) -> (tensor<6xi8>, tensor<6xi8>) {
  %0 = stablehlo.divide %x, %y : tensor<6xi8>
  %1 = stablehlo.remainder %x, %y : tensor<6xi8>
  return %0, %1 : tensor<6xi8>, tensor<6xi8>
}

func.func @divide_unsigned(%x: tensor<3xui16>, %y: tensor<3xui16>) -> (tensor<3xui16>, tensor<3xui16>) {
  %0 = stablehlo.divide %x, %y : tensor<3xui16>
  %1 = stablehlo.remainder %x, %y : tensor<3xui16>
  return %0, %1 : tensor<3xui16>, tensor<3xui16>
}

// By the width or more nothing is left, or the sign.
func.func @shift(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = stablehlo.shift_left %x, %y : tensor<4xi32>
  %1 = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi32>
  %2 = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

func.func @bits(%x: tensor<4xui32>) -> (tensor<4xui32>, tensor<4xui32>, tensor<4xui32>) {
  %0 = stablehlo.count_leading_zeros %x : tensor<4xui32>
  %1 = stablehlo.popcnt %x : tensor<4xui32>
  %2 = stablehlo.not %x : tensor<4xui32>
  return %0, %1, %2 : tensor<4xui32>, tensor<4xui32>, tensor<4xui32>
}

func.func @power(%x: tensor<6xi64>, %y: tensor<6xi64>) -> tensor<6xi64> {
  %0 = stablehlo.power %x, %y : tensor<6xi64>
  return %0 : tensor<6xi64>
}

// They wrap at four bits.
func.func @narrow(%x: tensor<4xi4>, %y: tensor<4xi4>) -> (tensor<4xi4>, tensor<4xi4>, tensor<4xi1>) {
  %0 = stablehlo.add %x, %y : tensor<4xi4>
  %1 = stablehlo.multiply %x, %y : tensor<4xi4>
  %2 = stablehlo.compare LT, %x, %y : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi4>, tensor<4xi4>, tensor<4xi1>
}

// Sums are "or", products "and".
func.func @truth(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = stablehlo.add %x, %y : tensor<4xi1>
  %1 = stablehlo.multiply %x, %y : tensor<4xi1>
  %2 = stablehlo.compare LT, %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
}
