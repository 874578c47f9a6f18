// RUN: alula-compile --physical-layouts --compile-to=dispatch %s -o - | FileCheck %s
// RUN: alula-compile --compile-to=dispatch %s -o - | FileCheck %s --check-prefix=IGNORED
// RUN: alula-compile --physical-layouts --compile-to=partition %s -o %t.mlir
// RUN: FileCheck %s --check-prefix=CHOSEN < %t.mlir
// RUN: alula-compile %t.mlir -o - | alula-inspect - | FileCheck %s --check-prefix=ARTIFACT

// Arguments and results are arrays as they lie in memory, read and written by
// one kernel.

// CHECK: func.func @main(%{{[^ ]*}}: tensor<3x2xf32>{{.*}}) -> tensor<2x3xf32> {
// CHECK-COUNT-1: dispatch.executable
// IGNORED: func.func @main(%{{[^ ]*}}: tensor<2x3xf32>{{.*}}) -> tensor<3x2xf32> {
// CHOSEN: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}
// CHOSEN-SAME: tensor<3x2xf32> {mhlo.layout_mode = "{0,1}"}
// ARTIFACT: exported function @main({{.*}}: 3x2xf32) -> ({{.*}}: 2x3xf32)
func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})
    -> (tensor<3x2xf32> {mhlo.layout_mode = "{0,1}"}) {
  %0 = stablehlo.add %x, %x : tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0]
      : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}
