// RUN: alula-opt %s --kernel-canonicalize --mlir-print-ir-after-all 2>&1 | FileCheck %s
// Once more in one context, with its patterns:
// RUN: alula-opt %s --kernel-canonicalize --cse --kernel-canonicalize | FileCheck %s

// CHECK-LABEL: func.func @folds
// CHECK-NEXT: return %arg0
func.func @folds(%a: index) -> index {
  %zero = arith.constant 0 : index
  %0 = arith.addi %a, %zero : index
  return %0 : index
}

// Patterns of every dialect that is known, nested ops too.
// CHECK-LABEL: func.func @empty_loop
// CHECK-NOT: scf.for
// CHECK: return
func.func @empty_loop(%a: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %zero step %one iter_args(%x = %a) -> f32 {
    %1 = arith.addf %x, %x : f32
    scf.yield %1 : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @stays
// CHECK: arith.addi
func.func @stays(%a: index, %b: index) -> index {
  %0 = arith.addi %a, %b : index
  return %0 : index
}
