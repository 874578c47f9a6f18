// Rows whose reduction is a chain of several ops are reduced side by side, each
// in a lane; those that are left over one by one.
// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | FileCheck %s
// CHECK: stablehlo.reduce
// CHECK-SAME: #plan.stage<rows 0, space = [100, 30], tile = [16]>
// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=kernel -o - | FileCheck %s --check-prefix=LOOPS
// LOOPS: scf.parallel {{.*}} to (%{{.*}})
// LOOPS: scf.for
// LOOPS-NEXT: scf.parallel
// LOOPS: scf.parallel
// LOOPS: scf.for {{.*}} iter_args
// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=plan -o - | sed 's/tile = \[16\]/tile = [500]/' > %t.mlir
// RUN: not alula-compile %t.mlir --compile-from=auto --target=cpu:x86-64-v3 -o %t.alula 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: rows can't be reduced together
func.func @main(%x: tensor<100x30xf32>) -> tensor<100xi32> {
  %i = stablehlo.iota dim = 1 : tensor<100x30xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] : (tensor<100x30xf32>, tensor<100x30xi32>, tensor<f32>, tensor<i32>) -> (tensor<100xf32>, tensor<100xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %gt = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %gt, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %gt, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %r#1 : tensor<100xi32>
}
