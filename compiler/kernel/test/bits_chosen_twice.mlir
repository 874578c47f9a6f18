// RUN: alula-compile %s --target=cpu:x86-64-v4 --target=cpu:x86-64-v2 -o %t.alula
// RUN: alula-run %t.alula --input=16xi32=1,-2,3,-4,5,-6,7,-8,1,-2,3,-4,5,-6,7,-8 --input=16xi32=256,512,256,512,256,512,256,512,257,513,257,513,257,513,257,513 --expected_output=16xi32=1,766,3,764,5,762,7,760,1,766,3,764,5,762,7,760
// RUN: alula-run %t.alula --function=cbrt --input=16xbf16=8,27,64,1,-1,0.125,1000,0,8,27,64,1,-1,0.125,1000,-0 --expected_output=16xbf16=2,3,4,1,-1,0.5,10,0,2,3,4,1,-1,0.5,10,-0

// A choice between a number and some of its bits: LLVM 19 takes the mask for
// the other number (llvm-project issue 157929).
module {
func.func @main(%x: tensor<16xi32>, %y: tensor<16xi32>) -> tensor<16xi32> {
  %low = stablehlo.constant dense<255> : tensor<16xi32>
  %high = stablehlo.constant dense<-256> : tensor<16xi32>
  %zero = stablehlo.constant dense<0> : tensor<16xi32>
  %0 = stablehlo.and %x, %low : tensor<16xi32>
  %1 = stablehlo.and %y, %high : tensor<16xi32>
  %2 = stablehlo.or %0, %1 : tensor<16xi32>
  %3 = stablehlo.compare LT, %x, %zero : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
  %4 = stablehlo.select %3, %2, %x : tensor<16xi1>, tensor<16xi32>
  return %4 : tensor<16xi32>
}

func.func @cbrt(%x: tensor<16xbf16>) -> tensor<16xbf16> {
  %0 = stablehlo.cbrt %x : tensor<16xbf16>
  return %0 : tensor<16xbf16>
}
}
