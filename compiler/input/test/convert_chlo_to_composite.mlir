// RUN: alula-opt --input-convert-chlo-to-composite %s | FileCheck %s
// RUN: alula-opt --emit=portable %s -o %t.portable
// RUN: alula-opt --input-raise-functions --symbol-dce %t.portable | FileCheck %s --check-prefix=BACK
// RUN: alula-compile %s --compile-to=input -o %t.input.mlir
// RUN: alula-opt --emit=portable %t.input.mlir -o %t.input.portable
// RUN: alula-opt --input-raise-functions --symbol-dce %t.input.portable | FileCheck %s --check-prefix=BACK
// RUN: alula-interpret %s --passes=input-convert-chlo-to-composite,input-lower-composite --function=erf_f32 --input=4xf32=-0.5,9.999999974752427e-07,1.5,3.0 --expected_output=4xf32=-0.520499878,1.12837916e-6,0.966105146,0.99997791 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-composite,input-lower-composite --function=erfc_f32 --input=4xf32=-2.0,0.5,3.0,9.0 --expected_output=4xf32=1.99532227,0.479500122,2.2090497e-5,4.13703175e-37 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-composite,input-lower-composite --function=erf_f64 --input=4xf64=-0.5,1e-06,1.5,3 --expected_output=4xf64=-0.52049987781304654,1.1283791670951364e-6,0.96610514647531073,0.99997790950300141 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-composite,input-lower-composite --function=erfc_f64 --input=4xf64=-2,0.5,3,9 --expected_output=4xf64=1.9953222650189527,0.47950012218695346,2.2090496998585441e-5,4.1370317465138102e-37 --relative-tolerance=2e-14 --absolute-tolerance=0

// Numbers from mpmath with 200 bits, rounded to the type.

// One formula for each function and type; the names come back.
// CHECK-LABEL: func.func @erf_f32
// CHECK: stablehlo.composite "chlo.erf" %arg0 {decomposition = @[[ERF:.*]]} : (tensor<4xf32>) -> tensor<4xf32>
// BACK-LABEL: func.func @erf_f32
// BACK-NEXT: chlo.erf %arg0 : tensor<4xf32>
func.func @erf_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @erfc_f32
// CHECK: stablehlo.composite "chlo.erfc"
// BACK-LABEL: func.func @erfc_f32
// BACK-NEXT: chlo.erfc %arg0 : tensor<4xf32>
func.func @erfc_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @erf_f64
// CHECK-NOT: decomposition = @[[ERF]]}
// CHECK: stablehlo.composite "chlo.erf" %arg0 {decomposition = @[[ERF64:.*]]} : (tensor<4xf64>) -> tensor<4xf64>
// BACK-LABEL: func.func @erf_f64
// BACK-NEXT: chlo.erf %arg0 : tensor<4xf64>
func.func @erf_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.erf %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @erfc_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.erfc %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// Functions without a name in native code stay calls of their formula.
// CHECK-LABEL: func.func @other
// CHECK: stablehlo.composite "chlo.erf" %arg0 {decomposition = @[[ERF]]}
// CHECK: stablehlo.composite "chlo.zeta"
// CHECK: stablehlo.composite "chlo.tan"
// BACK-LABEL: func.func @other
// BACK: chlo.erf
// BACK: stablehlo.composite "chlo.zeta"
func.func @other(%x: tensor<4xf32>, %q: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.zeta %0, %q : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.tan %1 : tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK: func.func private @[[ERF]](%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT: chlo.
// CHECK: return
