// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input=2xbf16=1,-2 --expected_output=2xf16=1.875,-2
// RUN: alula-run %t.alula --function=two --input=2xf16=1.875,-2 --expected_output=2xbf16=1,-2

// 0x3F80 and 0xC000 in either format.
func.func @main(%x: tensor<2xbf16>) -> tensor<2xf16> {
  %0 = stablehlo.bitcast_convert %x : (tensor<2xbf16>) -> tensor<2xf16>
  return %0 : tensor<2xf16>
}

func.func @two(%x: tensor<2xf16>) -> tensor<2xbf16> {
  %0 = stablehlo.bitcast_convert %x : (tensor<2xf16>) -> tensor<2xi16>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2xi16>) -> tensor<2xbf16>
  return %1 : tensor<2xbf16>
}
