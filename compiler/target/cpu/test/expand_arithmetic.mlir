// RUN: alula-opt %s --cpu-expand-arithmetic | FileCheck %s

// CHECK-LABEL: @rounded
// CHECK-NOT: arith.ceildivsi
// CHECK: return
func.func @rounded(%a: i32, %b: i32) -> i32 {
  %0 = arith.ceildivsi %a, %b : i32
  return %0 : i32
}

// What the first thread does before a loop and at its end is the same. As one
// block it would lead into the middle of the loop, which then has two entries.
// CHECK-LABEL: @branches_stay_apart
// CHECK-COUNT-2: memref.store
// CHECK: return
func.func @branches_stay_apart(%is_first: i1, %more: i1, %m: memref<i32>, %a: i32) {
  cf.cond_br %is_first, ^before, ^loop
^before:
  memref.store %a, %m[] : memref<i32>
  cf.br ^loop
^loop:
  func.call @wait() : () -> ()
  cf.cond_br %more, ^body, ^done
^body:
  func.call @wait() : () -> ()
  cf.cond_br %is_first, ^after, ^loop
^after:
  memref.store %a, %m[] : memref<i32>
  cf.br ^loop
^done:
  return
}
func.func private @wait()
