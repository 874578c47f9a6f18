// RUN: alula-compile --target=cpu:host %s --compile-from=kernel -o %t.alula
// RUN: alula-run %t.alula --output=- --output=- --output=- --output=- --output=- --output=- --output=- --output=- --output=- --output=- | FileCheck %s

// Every form of a constant is plain elements in the file.
// CHECK: 9xi1=true,false,true,true,false,false,false,true,true
// CHECK-NEXT: 3xi1=true,true,true
// CHECK-NEXT: 3xi4=-8,7,-1
// CHECK-NEXT: 3xui4=8,7,15
// CHECK-NEXT: 2xcomplex<f32>=(1,2),(3,4)
// CHECK-NEXT: 2xf8E4M3FN=1,-2
// CHECK-NEXT: 2xbf16=1.5,1.5
// CHECK-NEXT: 2xf4E2M1FN=1.5,-6
// CHECK-NEXT: 3xi16=1,-2,3
// CHECK-NEXT: 0xf32
func.func @main() -> (tensor<9xi1>, tensor<3xi1>, tensor<3xi4>, tensor<3xui4>, tensor<2xcomplex<f32>>, tensor<2xf8E4M3FN>, tensor<2xbf16>, tensor<2xf4E2M1FN>, tensor<3xi16>, tensor<0xf32>) {
  %0 = stablehlo.constant dense<[true, false, true, true, false, false, false, true, true]> : tensor<9xi1>
  %1 = stablehlo.constant dense<true> : tensor<3xi1>
  %2 = stablehlo.constant dense<[-8, 7, -1]> : tensor<3xi4>
  %3 = stablehlo.constant dense<[8, 7, 15]> : tensor<3xui4>
  %4 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %5 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3FN>
  %6 = stablehlo.constant dense<1.5> : tensor<2xbf16>
  %7 = stablehlo.constant dense<[1.5, -6.0]> : tensor<2xf4E2M1FN>
  %8 = stablehlo.constant dense_resource<numbers> : tensor<3xi16>
  %9 = stablehlo.constant dense<> : tensor<0xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<9xi1>, tensor<3xi1>, tensor<3xi4>, tensor<3xui4>, tensor<2xcomplex<f32>>, tensor<2xf8E4M3FN>, tensor<2xbf16>, tensor<2xf4E2M1FN>, tensor<3xi16>, tensor<0xf32>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x020000000100FEFF0300"
    }
  }
#-}
