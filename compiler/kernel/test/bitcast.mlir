// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=parts --input=2xi32=67305985,-1 --expected_output=2x4xui8=1,2,3,4,255,255,255,255 --expected_output=2x2xf16=3.057718276977539e-05,6.121397018432617e-05,nan,nan --expected_output=2x8xui4=1,0,2,0,3,0,4,0,15,15,15,15,15,15,15,15
// RUN: alula-run %t.alula --function=whole --input=1x2xf32=1,-2 --expected_output=1xf64=-2.000000473111868

module {
// The lowest bits come first.
func.func @parts(%x: tensor<2xi32>) -> (tensor<2x4xui8>, tensor<2x2xf16>, tensor<2x8xui4>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<2xi32>) -> tensor<2x4xui8>
  %1 = stablehlo.bitcast_convert %x : (tensor<2xi32>) -> tensor<2x2xf16>
  %2 = stablehlo.bitcast_convert %x : (tensor<2xi32>) -> tensor<2x8xui4>
  return %0, %1, %2 : tensor<2x4xui8>, tensor<2x2xf16>, tensor<2x8xui4>
}

func.func @whole(%x: tensor<1x2xf32>) -> tensor<1xf64> {
  %0 = stablehlo.bitcast_convert %x : (tensor<1x2xf32>) -> tensor<1xf64>
  return %0 : tensor<1xf64>
}
}
