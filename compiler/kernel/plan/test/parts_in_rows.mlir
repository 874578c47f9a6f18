// A reduction whose body is several ops goes over a row in parts, side by side,
// also in a loop that other ops share.
// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | FileCheck %s
// CHECK: stablehlo.reduce
// CHECK-SAME: #plan.stage<rows 0, {{.*}}parts = 
// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | sed 's/parts = [0-9]*/parts = 500/' > %t.mlir
// RUN: not alula-compile %t.mlir --compile-from=auto --target=cpu:x86-64-v3 -o %t.alula 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: 500 parts are not possible
func.func @main(%x: tensor<8x1000xf32>) -> tensor<8x1000xi1> {
  %i = stablehlo.iota dim = 1 : tensor<8x1000xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] : (tensor<8x1000xf32>, tensor<8x1000xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %first = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %keep = stablehlo.or %first, %tie : tensor<i1>
    %v = stablehlo.select %first, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %keep, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  %best = stablehlo.broadcast_in_dim %r#1, dims = [0] : (tensor<8xi32>) -> tensor<8x1000xi32>
  %is = stablehlo.compare EQ, %i, %best : (tensor<8x1000xi32>, tensor<8x1000xi32>) -> tensor<8x1000xi1>
  return %is : tensor<8x1000xi1>
}
