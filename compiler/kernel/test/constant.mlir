// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --expected_output=3xi4=-8,7,0 --expected_output=3xi1=true,false,true --expected_output=2xf8E5M2=1.5,-inf --expected_output='2xcomplex<f32>=(1,2),(3,4)' --expected_output=2xf64=0.1,nan --expected_output=2x2xbf16=3,3,3,3

// Constants inside of kernels, and beside them.
func.func @main() -> (tensor<3xi4>, tensor<3xi1>, tensor<2xf8E5M2>, tensor<2xcomplex<f32>>, tensor<2xf64>, tensor<2x2xbf16>) {
  %a = stablehlo.constant dense<[-8, 7, 0]> : tensor<3xi4>
  %b = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %c = stablehlo.constant dense<[1.5, 0xFC]> : tensor<2xf8E5M2>
  %d = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %e = stablehlo.constant dense<[0.1, 0x7FF8000000000000]> : tensor<2xf64>
  %f = stablehlo.constant dense<3.0> : tensor<2x2xbf16>
  %0 = stablehlo.reverse %a, dims = [] : tensor<3xi4>
  %1 = stablehlo.reverse %b, dims = [] : tensor<3xi1>
  %2 = stablehlo.negate %c : tensor<2xf8E5M2>
  %3 = stablehlo.negate %2 : tensor<2xf8E5M2>
  %4 = stablehlo.negate %d : tensor<2xcomplex<f32>>
  %5 = stablehlo.negate %4 : tensor<2xcomplex<f32>>
  %6 = stablehlo.negate %e : tensor<2xf64>
  %7 = stablehlo.negate %6 : tensor<2xf64>
  %8 = stablehlo.abs %f : tensor<2x2xbf16>
  return %0, %1, %3, %5, %7, %8 : tensor<3xi4>, tensor<3xi1>, tensor<2xf8E5M2>, tensor<2xcomplex<f32>>, tensor<2xf64>, tensor<2x2xbf16>
}
